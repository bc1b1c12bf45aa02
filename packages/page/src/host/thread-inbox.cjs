'use strict';

// The messages of a page thread.
//
// They are handled in turns: a page can send messages faster than they are handled, and a port of Node's passes on whatever waits in it before
// anything else runs, such as the timeout that ends the page.

const { closePorts } = require('./message-ports.cjs');

/** How long messages of a thread are handled before all else has its turn, in milliseconds. */
const TURN = 10;

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
  #sent;
  #onMessage;
  /** Messages that were received and not handled. @type {Fifo<FromMainRealm>} */
  #received = new Fifo();
  /** How many were handled. */
  #handled = 0;
  /** What waits for messages. @type {Fifo<{ after: number, resolve: () => void }>} */
  #waiting = new Fifo();
  #isHandling = false;
  /** When this turn ends; 0 before the first message in it. */
  #turnEnds = 0;
  #hasEnded = false;

  /**
   * @param {MessagePort} port
   * @param {() => number} sent how many messages the thread has sent, as a 32-bit integer that wraps around
   * @param {(message: FromMainRealm) => void} onMessage
   */
  constructor(port, sent, onMessage) {
    this.#sent = sent;
    this.#onMessage = onMessage;
    port.on('message', (message) => {
      if (this.#hasEnded) {
        closePorts(message);
        return;
      }
      this.#received.push(message);
      this.#handle();
    });
  }

  #handle() {
    if (this.#isHandling || this.#hasEnded) return;
    if (this.#turnEnds === 0) {
      this.#turnEnds = performance.now() + TURN;
      setImmediate(() => {
        this.#turnEnds = 0;
        if (this.#received.peek() !== undefined) this.#handle();
      });
    }
    this.#isHandling = true;
    try {
      while (performance.now() < this.#turnEnds && this.#handleNext());
    } finally {
      this.#isHandling = false;
    }
  }

  /** @returns {boolean} whether there was a message */
  #handleNext() {
    const message = this.#received.shift();
    if (message === undefined || this.#hasEnded) return false;
    this.#handled = (this.#handled + 1) | 0;
    this.#onMessage(message);
    for (let first = this.#waiting.peek(); first !== undefined && this.#isDue(first); first = this.#waiting.peek()) {
      this.#waiting.shift();
      first.resolve();
    }
    return true;
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

  /** No more messages are handled. */
  end() {
    this.#hasEnded = true;
    for (let message = this.#received.shift(); message !== undefined; message = this.#received.shift())
      closePorts(message);
    for (let first = this.#waiting.shift(); first !== undefined; first = this.#waiting.shift()) first.resolve();
  }
}

module.exports = { ThreadInbox };
