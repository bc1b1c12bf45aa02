'use strict';

// How many cookies are kept, and how large they may be.
// https://httpwg.org/http-extensions/draft-ietf-httpbis-rfc6265bis.html#name-storage-model

/** Bytes of a name with its value, and of a whole cookie with its attributes. */
const MAX_SIZE = 4_096;
const MAX_TEXT = 8_192;
const MAX_PER_DOMAIN = 50;
const MAX_COOKIES = 3_000;

/** @typedef {import('tough-cookie').Cookie} Cookie */
/** @typedef {{ domain: string, path: string, key: string }} StoredCookie */

/** The part of a URL that a cookie depends on. @param {string} url of HTTP */
function withoutQuery(url) {
  return /^[^?#]*/.exec(url)?.[0] ?? '';
}

/** Whether the text of a cookie is too long, or the URL, whose path can become the cookie's. @param {string} text @param {string} url */
function isTooLarge(text, url) {
  if (text.length > MAX_TEXT || url.length > MAX_TEXT) return true;
  return Buffer.byteLength(text.split(';', 1)[0]) > MAX_SIZE;
}

/** The cookies of a jar, in the order in which they were first set. */
class CookieCounts {
  /** @type {Map<string, StoredCookie>} */
  #cookies = new Map();
  /** By domain. @type {Map<string, number>} */
  #counts = new Map();

  /** Adds a cookie that was stored. Returns the oldest cookies, which have to go. @param {Cookie} cookie @returns {StoredCookie[]} */
  add(cookie) {
    const added = placeOf(cookie);
    const name = nameOf(added);
    if (this.#cookies.has(name)) return [];
    this.#cookies.set(name, added);
    const count = (this.#counts.get(added.domain) ?? 0) + 1;
    this.#counts.set(added.domain, count);
    if (count > MAX_PER_DOMAIN) return this.#evict((cookie) => cookie.domain === added.domain);
    return this.#cookies.size > MAX_COOKIES ? this.#evict(() => true) : [];
  }

  /** A cookie was deleted. @param {Cookie | StoredCookie} cookie */
  remove(cookie) {
    const removed = placeOf(cookie);
    if (!this.#cookies.delete(nameOf(removed))) return;
    const count = (this.#counts.get(removed.domain) ?? 1) - 1;
    if (count > 0) this.#counts.set(removed.domain, count);
    else this.#counts.delete(removed.domain);
  }

  /** @param {(cookie: StoredCookie) => boolean} may */
  #evict(may) {
    for (const cookie of this.#cookies.values()) {
      if (!may(cookie)) continue;
      this.remove(cookie);
      return [cookie];
    }
    return [];
  }
}

/** Where a jar keeps a cookie. @param {Cookie | StoredCookie} cookie @returns {StoredCookie} */
function placeOf({ domain, path, key }) {
  return { domain: domain ?? '', path: path ?? '/', key };
}

/** @param {StoredCookie} cookie */
function nameOf({ domain, path, key }) {
  return JSON.stringify([domain, path, key]);
}

module.exports = { CookieCounts, isTooLarge, placeOf, withoutQuery };
