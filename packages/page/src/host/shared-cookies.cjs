'use strict';

// The cookies of a page, or of all pages of a host: the authoritative jar, and the threads that have a copy.

const { Cookies } = require('../fetch/cookies.cjs');
const { CookieFeed } = require('./cookie-feed.cjs');

/** @typedef {import('../fetch/cookies.cjs').CookieChange} CookieChange */
/** @typedef {import('./thread-handle.cjs').ThreadHandle} ThreadHandle */

class SharedCookies {
  /** @type {Map<ThreadHandle, CookieFeed>} */
  #threads = new Map();
  jar = new Cookies(undefined, (change) => this.#post(change));

  /** @param {ThreadHandle} thread that was started with a copy */
  add(thread) {
    this.#threads.set(thread, new CookieFeed(thread));
    thread.on('exit', () => this.#threads.delete(thread));
  }

  /**
   * A cookie was stored: this jar and the threads store it, too. In the end, all have the change that arrived here last.
   *
   * @param {CookieChange} change
   * @param {ThreadHandle} [from] the thread that has it
   * @returns {boolean} whether it is valid
   */
  share(change, from) {
    const isValid = this.jar.apply(change);
    this.#post(change, from);
    return isValid;
  }

  /** @param {CookieChange} change @param {ThreadHandle} [from] */
  #post(change, from) {
    for (const [thread, feed] of this.#threads) {
      // The thread that made the change needs it again where an earlier one of another thread will replace it there.
      if (thread !== from || feed.isBehind(change)) feed.add(change);
    }
  }
}

module.exports = { SharedCookies };
