'use strict';

// The messages of a page thread, which come over one port from its main realm and over another from its DOM realm.
//
// They are handled in turns: a page can send messages faster than they are handled, and a port of Node's passes on whatever waits in it before
// anything else runs, such as the timeout that ends the page.

const { receiveMessageOnPort } = require('node:worker_threads');

const { messageSize } = require('./message-size.cjs');

/** How long messages of a thread are handled before all else has its turn, in milliseconds. */
const TURN = 10;

/** How much a DOM realm may have sent that is not handled, in bytes: twice what it sends by its own count, see dom-realm/host-port.cjs. */
const MAX_UNHANDLED = 128 << 20;

/** How many messages of a DOM realm an answer may have to wait for: no honest page has so many unread. */
const MAX_EARLIER = 64 << 10;

/** @typedef {import('node:worker_threads').MessagePort} MessagePort */
/** @typedef {import('../any-realm/thread-messages.js').FromMainRealm} FromMainRealm */
/** @typedef {import('../any-realm/thread-messages.js').MainRealmAnswer} MainRealmAnswer */
/** @typedef {{ message: unknown, size: number, after: number } | { answer: MainRealmAnswer, after: number }} DomEntry `after` is how many messages of the main realm come first */

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
  #ports;
  #sent;
  #handlers;
  /** Messages of the main realm that were received and not handled. @type {Fifo<FromMainRealm>} */
  #main = new Fifo();
  /** The same of the DOM realm, and answers of the main realm between them. @type {Fifo<DomEntry>} */
  #dom = new Fifo();
  /** How many messages of the main realm were handled. */
  #handled = 0;
  /** What waits for messages of the main realm. @type {Fifo<{ after: number, resolve: () => void }>} */
  #waiting = new Fifo();
  /** The size of the messages in #dom. */
  #unhandled = 0;
  #isHandling = false;
  /** When this turn ends; 0 before the first message in it. */
  #turnEnds = 0;
  /** Whether the last turn ended before all messages were handled. */
  #isTurnOver = false;
  #hasEnded = false;

  /**
   * @param {{ main: MessagePort, dom: MessagePort }} ports
   * @param {() => number} sent how many messages the main realm has sent, as a 32-bit integer that wraps around
   * @param {{ onMain: (message: Exclude<FromMainRealm, MainRealmAnswer>) => void, onDom: (message: unknown) => void, onAnswer: (answer: MainRealmAnswer) => void, isAwaited: (message: unknown) => boolean }} handlers
   */
  constructor(ports, sent, handlers) {
    this.#ports = ports;
    this.#sent = sent;
    this.#handlers = handlers;
    ports.main.on('message', (message) => {
      this.#main.push(message);
      this.#handle();
    });
    ports.dom.on('message', (message) => {
      this.#addDom(message);
      this.#handle();
    });
  }

  /**
   * Messages that the main realm sent earlier are handled first, though they come over another port. A message for which there is no room is
   * lost: a page that has taken over its DOM realm does not count what it sends.
   *
   * @param {unknown} message
   */
  #addDom(message) {
    if (this.#hasEnded) return;
    const size = this.#handlers.isAwaited(message) ? 0 : messageSize(message);
    if (this.#unhandled + size > MAX_UNHANDLED) return;
    this.#unhandled += size;
    this.#dom.push({ message, size, after: this.#sent() });
  }

  #handle() {
    if (this.#isHandling || this.#hasEnded) return;
    if (this.#turnEnds === 0) {
      this.#turnEnds = performance.now() + TURN;
      setImmediate(() => {
        this.#turnEnds = 0;
        if (this.#isTurnOver) this.#handle();
      });
    }
    this.#isHandling = true;
    try {
      // What cannot be handled yet waits for a message of the main realm, which comes as an event.
      do this.#isTurnOver = performance.now() >= this.#turnEnds;
      while (!this.#isTurnOver && this.#handleNext());
    } finally {
      this.#isHandling = false;
    }
  }

  /** @returns {boolean} whether there was a message */
  #handleNext() {
    if (this.#hasEnded) return false;
    const next = this.#dom.peek();
    if (next !== undefined && this.#isDue(next)) {
      this.#dom.shift();
      if ('answer' in next) {
        this.#handlers.onAnswer(next.answer);
      } else {
        this.#unhandled -= next.size;
        this.#handlers.onDom(next.message);
      }
      return true;
    }
    let message = this.#main.shift();
    if (message === undefined && next !== undefined) message = receiveMessageOnPort(this.#ports.main)?.message;
    if (message === undefined) return false;
    this.#handled = (this.#handled + 1) | 0;
    if (message.type === 'done') this.#addAnswer(message);
    else this.#handlers.onMain(message);
    for (let first = this.#waiting.peek(); first !== undefined && this.#isDue(first); first = this.#waiting.peek()) {
      this.#waiting.shift();
      first.resolve();
    }
    return true;
  }

  /** An answer comes after the messages that the DOM realm sent before. @param {MainRealmAnswer} answer */
  #addAnswer(answer) {
    for (let count = 0; count < MAX_EARLIER; count++) {
      const received = receiveMessageOnPort(this.#ports.dom);
      if (received === undefined) break;
      this.#addDom(received.message);
    }
    this.#dom.push({ answer, after: this.#handled });
  }

  /** @param {{ after: number }} entry */
  #isDue({ after }) {
    return ((after - this.#handled) | 0) <= 0;
  }

  /** Resolves when the messages that the main realm has sent so far are handled, or will not be. @returns {Promise<void>} */
  async caughtUp() {
    const after = this.#sent();
    if (this.#hasEnded || this.#isDue({ after })) return;
    await new Promise((resolve) => this.#waiting.push({ after, resolve: () => resolve(undefined) }));
  }

  /** No more messages are handled. */
  end() {
    this.#hasEnded = true;
    this.#main = new Fifo();
    this.#dom = new Fifo();
    for (let first = this.#waiting.shift(); first !== undefined; first = this.#waiting.shift()) first.resolve();
  }
}

module.exports = { ThreadInbox };
