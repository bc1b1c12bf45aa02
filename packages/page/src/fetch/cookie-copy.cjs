'use strict';

const { Cookies } = require('./cookies.cjs');

/** @typedef {import('./cookies.cjs').CookieChange} CookieChange */

/**
 * The copy of a jar that a thread has. It stores the thread's own changes at once, because `document.cookie` is
 * synchronous. The jar has all changes in one order and sends each of them to all copies, so they become equal: those
 * of the thread that the jar has not sent back yet are later than what it sends.
 */
class CookieCopy extends Cookies {
  /** Own changes that the jar has not sent back. @type {CookieChange[]} */
  #pending;

  /**
   * @param {import('tough-cookie').SerializedCookieJar | undefined} saved by the jar
   * @param {(change: CookieChange) => void} send to the jar
   */
  constructor(saved, send) {
    /** @type {CookieChange[]} */
    const pending = [];
    super(saved, (change) => {
      pending.push(change);
      send(change);
    });
    this.#pending = pending;
  }

  /** The jar has stored a cookie. @param {CookieChange} change @param {boolean} isOwn whether this copy had sent it */
  receive(change, isOwn) {
    if (isOwn) {
      this.#pending.shift();
      return;
    }
    this.apply(change);
    for (const later of this.#pending) this.apply(later);
  }
}

module.exports = { CookieCopy };
