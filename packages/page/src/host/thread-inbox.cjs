'use strict';

// The messages of a page thread.
//
// A port of Node's that has a listener reads whatever waits in it before anything else runs, such as the timeout that ends the page. So this one has none,
// and the thread rings when it has sent something.

const { AsyncResource } = require('node:async_hooks');
const { setImmediate } = require('node:timers');
const { receiveMessageOnPort } = require('node:worker_threads');

/** How many messages are handled before other things are done. */
const BATCH = 100;

/** Stands for a message that cannot be read. */
const UNREADABLE = Symbol('unreadable');

/** @typedef {import('node:worker_threads').MessagePort} MessagePort */
/** @typedef {import('../any-realm/thread-messages.js').FromMainRealm} FromMainRealm */

/**
 * First in, first out. `Array.prototype.shift` alone would move all that follow.
 *
 * @template Item
 */
class Fifo {
  /** @type {(Item | undefined)[]} */
  #items = [];
  #at = 0;

  /** @param {Item} item */
  push(item) {
    this.#items.push(item);
  }

  peek() {
    return this.#items[this.#at];
  }

  shift() {
    const item = this.#items[this.#at];
    if (item === undefined) return undefined;
    this.#items[this.#at] = undefined;
    this.#at += 1;
    if (this.#at * 2 > this.#items.length) {
      this.#items.splice(0, this.#at);
      this.#at = 0;
    }
    return item;
  }
}

class ThreadInbox {
  #port;
  #sent;
  #onMessage;
  /** How many were handled. */
  #handled = 0;
  /** What waits for messages. @type {Fifo<{ after: number, resolve: () => void }>} */
  #waiting = new Fifo();
  #hasEnded = false;

  /**
   * @param {MessagePort} port
   * @param {() => number} sent how many messages the thread has sent, as a 32-bit integer that wraps around
   * @param {(message: FromMainRealm) => void} onMessage
   */
  constructor(port, sent, onMessage) {
    this.#port = port;
    this.#sent = sent;
    this.#onMessage = onMessage;
  }

  /** The thread says that it has sent messages. */
  ring() {
    let hasMore = true;
    try {
      for (let count = 0; count < BATCH && hasMore; count += 1) hasMore = this.#handleNext();
    } finally {
      // A listener of the user may throw, too.
      if (hasMore) setImmediate(() => this.ring());
    }
  }

  /**
   * Handles the message that has waited longest, in the async context of the program that has opened the page.
   *
   * @returns {boolean} whether there was one
   */
  #handleNext = AsyncResource.bind(() => {
    if (this.#hasEnded) return false;
    const message = this.#receive();
    if (message === undefined) return false;
    this.#handled = (this.#handled + 1) | 0;
    try {
      if (message !== UNREADABLE) this.#onMessage(message);
    } finally {
      for (let first = this.#waiting.peek(); first !== undefined && this.#isDue(first); first = this.#waiting.peek()) {
        this.#waiting.shift();
        first.resolve();
      }
    }
    return true;
  });

  /** @returns {FromMainRealm | typeof UNREADABLE | undefined} */
  #receive() {
    try {
      return receiveMessageOnPort(this.#port)?.message;
    } catch {
      // There is no memory for it.
      return UNREADABLE;
    }
  }

  /** @param {{ after: number }} entry */
  #isDue({ after }) {
    return ((after - this.#handled) | 0) <= 0;
  }

  /** Resolves when the messages that the thread has sent so far are handled, or will not be. @returns {Promise<void>} */
  async caughtUp() {
    const after = this.#sent();
    if (this.#hasEnded || this.#isDue({ after })) return;
    await new Promise((resolve) => this.#waiting.push({ after, resolve: () => resolve(undefined) }));
  }

  /** No more messages are handled, and the port is closed, with the ports in the messages that are in it. */
  end() {
    this.#hasEnded = true;
    this.#port.close();
    for (let first = this.#waiting.shift(); first !== undefined; first = this.#waiting.shift()) first.resolve();
  }
}

module.exports = { ThreadInbox };
