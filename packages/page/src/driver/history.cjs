'use strict';

/** How many entries are kept. */
const MAX_ENTRIES = 100;

/** The session history of a window: the URLs of its documents. */
class History {
  /** @type {string[]} */
  #entries = [];
  #current = -1;

  /** Adds an entry after the current one, in place of those that followed. @param {string} url */
  push(url) {
    this.#entries.length = this.#current + 1;
    this.#entries.push(url);
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
    this.#current = this.#entries.length - 1;
  }

  /** The URL at a distance from the current entry. @param {number} delta @returns {string | undefined} */
  peek(delta) {
    return this.#entries[this.#current + delta];
  }

  /** @param {number} delta */
  step(delta) {
    this.#current += delta;
  }
}

module.exports = { History };
