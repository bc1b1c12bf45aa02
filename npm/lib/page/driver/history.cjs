'use strict';

// The documents that a window has shown, for going back and forward.

/** How many are remembered. */
const LIMIT = 100;

class History {
  #entries = [];
  #current = -1;

  /** A document came that was not gone back or forward to. */
  push(url) {
    this.#entries.length = this.#current + 1;
    this.#entries.push(url);
    if (this.#entries.length > LIMIT) this.#entries.shift();
    this.#current = this.#entries.length - 1;
  }

  /** @returns {string | undefined} where a step leads */
  peek(delta) {
    return this.#entries[this.#current + delta];
  }

  step(delta) {
    this.#current += delta;
  }
}

module.exports = { History };
