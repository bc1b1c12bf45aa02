'use strict';

// How many cookies are kept, and how large they may be.
// https://httpwg.org/http-extensions/draft-ietf-httpbis-rfc6265bis.html#name-storage-model

/** Bytes of a name with its value, and of a whole cookie with its attributes. */
const MAX_SIZE = 4_096;
const MAX_TEXT = 8_192;
const MAX_PER_DOMAIN = 50;
const MAX_COOKIES = 3_000;

/** @typedef {import('tough-cookie').Cookie} Cookie */
/** @typedef {{ domain: string, path: string, key: string, secure?: boolean }} StoredCookie */

/**
 * The part of a URL that a cookie depends on. As a text of its own: V8 keeps the whole URL, which may be long, for a part of it.
 *
 * @param {string} url of HTTP
 */
function withoutQuery(url) {
  return Buffer.from(/^[^?#]*/.exec(url)?.[0] ?? '').toString();
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

  /**
   * Adds a cookie that was stored. Returns those that have to go: of the ones without `Secure`, the oldest, so that who has no TLS deletes none
   * that has it. When there are too many of all domains, those with the most lose some, so that no page deletes the few of another site.
   *
   * @param {Cookie} cookie
   * @returns {StoredCookie[]}
   */
  add(cookie) {
    const added = { ...placeOf(cookie), secure: cookie.secure === true };
    const name = nameOf(added);
    const isKnown = this.#cookies.has(name);
    this.#cookies.set(name, added);
    if (isKnown) return [];
    const count = (this.#counts.get(added.domain) ?? 0) + 1;
    this.#counts.set(added.domain, count);
    if (count > MAX_PER_DOMAIN) return this.#evict((cookie) => cookie.domain === added.domain);
    if (this.#cookies.size <= MAX_COOKIES) return [];
    const largest = this.#largestDomain();
    return this.#evict(({ domain }) => largest === undefined || domain === largest);
  }

  /** A cookie was deleted. @param {Cookie | StoredCookie} cookie */
  remove(cookie) {
    const removed = placeOf(cookie);
    if (!this.#cookies.delete(nameOf(removed))) return;
    const count = (this.#counts.get(removed.domain) ?? 1) - 1;
    if (count > 0) this.#counts.set(removed.domain, count);
    else this.#counts.delete(removed.domain);
  }

  /** The domain with the most cookies without `Secure`; undefined when there are none. */
  #largestDomain() {
    /** @type {Map<string, number>} */
    const counts = new Map();
    let most = 0;
    let largest;
    for (const { domain, secure } of this.#cookies.values()) {
      if (secure) continue;
      const count = (counts.get(domain) ?? 0) + 1;
      counts.set(domain, count);
      if (count <= most) continue;
      most = count;
      largest = domain;
    }
    return largest;
  }

  /** @param {(cookie: StoredCookie) => boolean} may */
  #evict(may) {
    /** @type {StoredCookie | undefined} */
    let oldest;
    for (const cookie of this.#cookies.values()) {
      if (!may(cookie)) continue;
      oldest ??= cookie;
      if (cookie.secure) continue;
      oldest = cookie;
      break;
    }
    if (oldest === undefined) return [];
    this.remove(oldest);
    return [oldest];
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

module.exports = { CookieCounts, isTooLarge, MAX_PER_DOMAIN, placeOf, withoutQuery };
