'use strict';

/**
 * A document, and who asked for it if it was not the user.
 *
 * @typedef {{ url: string, initiator: import('../fetch/origin.cjs').Origin | undefined }} Entry
 */

/** The session history of a window: its documents. */
class History {
  /** @type {Entry[]} */
  #entries = [];
  #current = -1;

  /** Adds an entry after the current one, in place of those that followed. @param {Entry} entry */
  push(entry) {
    this.#entries.length = this.#current + 1;
    this.#entries.push(entry);
    this.#current = this.#entries.length - 1;
  }

  /** The current entry is another one. @param {Entry} entry */
  replace(entry) {
    if (this.#current >= 0) this.#entries[this.#current] = entry;
  }

  /** The entry at a distance from the current one. @param {number} delta @returns {Entry | undefined} */
  peek(delta) {
    return this.#entries[this.#current + delta];
  }

  /** @param {number} delta */
  step(delta) {
    this.#current += delta;
  }
}

module.exports = { History };
