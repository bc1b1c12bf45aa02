'use strict';

// The changes of cookies that a thread is told. A frame of another origin can set cookies without end while the thread is in a long task and
// reads none, so few are sent ahead. Of those that wait, the last one of each cookie counts.

/** How much may be sent and not be read, and how much may wait here, in characters. */
const MAX_UNREAD = 1 << 20;
const MAX_WAITING = 16 << 20;

/** What a change takes beside its texts. */
const OVERHEAD = 300;

/** @typedef {import('../fetch/cookies.cjs').CookieChange} CookieChange */

class CookieFeed {
  #thread;
  #unread = 0;
  /** How many changes of each name the thread has not received. @type {Map<string, number>} */
  #pending = new Map();
  /** By cookie, the oldest first. @type {Map<string, CookieChange>} */
  #waiting = new Map();
  #size = 0;

  /** @param {Pick<import('./thread-handle.cjs').ThreadHandle, 'deliver' | 'hasEnded'>} thread */
  constructor(thread) {
    this.#thread = thread;
  }

  /**
   * Whether the thread may have made a change before it received an earlier one of the same cookie.
   *
   * @param {CookieChange} change of the thread
   */
  isBehind(change) {
    return this.#pending.has(nameOf(change));
  }

  /** @param {CookieChange} change */
  add(change) {
    if (this.#unread < MAX_UNREAD) {
      this.#send(change);
      return;
    }
    const key = keyOf(change);
    this.#forget(key);
    this.#waiting.set(key, change);
    this.#count(change, 1);
    this.#size += sizeOf(change);
    while (this.#size > MAX_WAITING) {
      const [oldest] = this.#waiting.keys();
      this.#forget(oldest);
    }
  }

  /** @param {CookieChange} change @param {1 | -1} difference */
  #count(change, difference) {
    const name = nameOf(change);
    const count = (this.#pending.get(name) ?? 0) + difference;
    if (count > 0) this.#pending.set(name, count);
    else this.#pending.delete(name);
  }

  /** @param {string} key */
  #forget(key) {
    const change = this.#waiting.get(key);
    if (change === undefined) return;
    this.#waiting.delete(key);
    this.#size -= sizeOf(change);
    this.#count(change, -1);
  }

  /** @param {CookieChange} change */
  #send(change) {
    const size = sizeOf(change);
    this.#unread += size;
    this.#count(change, 1);
    const release = () => {
      this.#unread -= size;
      this.#count(change, -1);
      this.#sendWaiting();
    };
    this.#thread.deliver({ type: 'cookie', change }, { release });
  }

  #sendWaiting() {
    for (const [key, change] of this.#waiting) {
      if (this.#unread >= MAX_UNREAD || this.#thread.hasEnded) break;
      this.#forget(key);
      this.#send(change);
    }
  }
}

/** What comes before `=`; what has none is the value of a cookie without a name. As tough-cookie finds it. @param {CookieChange} change */
function nameOf({ cookie }) {
  const [pair] = cookie.trim().split(';', 1);
  const named = pair.startsWith('=') ? pair.slice(1) : pair;
  return named.slice(0, Math.max(named.indexOf('='), 0)).trim();
}

/** What tells a cookie from others that a thread has not received. @param {CookieChange} change */
function keyOf(change) {
  const place = change.cookie.match(/;\s*(?:path|domain)\s*=[^;]*/gi) ?? [];
  return JSON.stringify([change.url, change.isHttp, nameOf(change), ...place]);
}

/** @param {CookieChange} change */
function sizeOf({ url, cookie }) {
  return url.length + cookie.length + OVERHEAD;
}

module.exports = { CookieFeed };
