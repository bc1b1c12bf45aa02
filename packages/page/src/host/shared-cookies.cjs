'use strict';

// The cookies of a page, or of all pages of a host: the authoritative jar, and the threads that have a copy.

const { Cookies } = require('../fetch/cookies.cjs');

/** @typedef {import('../fetch/cookies.cjs').CookieChange} CookieChange */
/** @typedef {import('./thread-handle.cjs').ThreadHandle} ThreadHandle */

class SharedCookies {
  /** @type {Set<ThreadHandle>} */
  #threads = new Set();
  jar = new Cookies(undefined, (change) => this.#post(change));

  /** @param {ThreadHandle} thread that begins with a copy */
  add(thread) {
    this.#threads.add(thread);
    thread.on('exit', () => this.#threads.delete(thread));
  }

  /** A cookie was stored: this jar and the threads store it, too. @param {CookieChange} change @param {ThreadHandle} [from] the thread that has it */
  share(change, from) {
    this.jar.apply(change);
    this.#post(change, from);
  }

  /** @param {CookieChange} change @param {ThreadHandle} [from] */
  #post(change, from) {
    for (const thread of this.#threads) if (thread !== from) thread.post({ type: 'cookie', change });
  }
}

module.exports = { SharedCookies };
