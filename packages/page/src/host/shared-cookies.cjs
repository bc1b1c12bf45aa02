'use strict';

// The cookies of a page, or of all pages of a host: the authoritative jar, and the threads that have a copy.

const { Cookies } = require('../fetch/cookies.cjs');

/** @typedef {import('../fetch/cookies.cjs').CookieChange} CookieChange */
/** @typedef {import('./thread-handle.cjs').ThreadHandle} ThreadHandle */

class SharedCookies {
  /** @type {Set<ThreadHandle>} */
  #threads = new Set();
  jar = new Cookies(undefined, (change) => this.#post(change));

  /** @param {ThreadHandle} thread that was started with a copy */
  add(thread) {
    this.#threads.add(thread);
    thread.on('exit', () => this.#threads.delete(thread));
  }

  /**
   * A cookie was stored: this jar and the threads store it, too. See fetch/cookie-copy.cjs for the thread that it comes
   * from.
   *
   * @param {CookieChange} change
   * @param {ThreadHandle} [from]
   * @returns {boolean} whether it is valid
   */
  share(change, from) {
    const isValid = this.jar.apply(change);
    this.#post(change, from);
    return isValid;
  }

  /** @param {CookieChange} change @param {ThreadHandle} [from] */
  #post(change, from) {
    for (const thread of this.#threads) thread.post({ type: 'cookie', change, isOwn: thread === from });
  }
}

module.exports = { SharedCookies };
