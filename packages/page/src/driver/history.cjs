'use strict';

/** How many entries are kept, and how many characters they have together, but for the current one. */
const MAX_ENTRIES = 100;
const MAX_CHARACTERS = 1 << 20;

/** The session history of a window: the URLs of its documents. */
class History {
  /** @type {string[]} */
  #entries = [];
  #current = -1;

  /** Adds an entry after the current one, in place of those that followed. @param {string} url */
  push(url) {
    this.#entries.length = this.#current + 1;
    this.#entries.push(url);
    let characters = this.#entries.reduce((sum, { length }) => sum + length, 0);
    while (this.#entries.length > 1 && (this.#entries.length > MAX_ENTRIES || characters > MAX_CHARACTERS))
      characters -= this.#entries.shift()?.length ?? 0;
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
