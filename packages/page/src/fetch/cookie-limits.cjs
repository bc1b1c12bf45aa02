'use strict';

// How many cookies are kept, and how large they may be.
// https://httpwg.org/http-extensions/draft-ietf-httpbis-rfc6265bis.html#name-storage-model

/** Bytes of a name with its value, and of a whole cookie with its attributes. */
const MAX_SIZE = 4_096;
const MAX_TEXT = 8_192;
const MAX_PER_DOMAIN = 50;
const MAX_COOKIES = 3_000;

/** Characters of all cookies of a jar, with their domains and paths. Each thread of a page gets a copy when it starts. */
const MAX_JAR = 4 << 20;

/** @typedef {import('tough-cookie').Cookie} Cookie */
/** @typedef {{ domain: string, path: string, key: string }} StoredCookie */
/** @typedef {StoredCookie & { secure: boolean, size: number }} CountedCookie */

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
  /** @type {Map<string, CountedCookie>} */
  #cookies = new Map();
  /** By domain. @type {Map<string, number>} */
  #counts = new Map();
  #size = 0;

  /**
   * Adds a cookie that was stored. Returns those that have to go: of the ones without `Secure`, the oldest, so that who has no TLS deletes none
   * that has it. When there are too many of all domains, those with the most lose some, so that no page deletes the few of another site.
   *
   * @param {Cookie} cookie
   * @returns {StoredCookie[]}
   */
  add(cookie) {
    const place = placeOf(cookie);
    const size = place.domain.length + place.path.length + place.key.length + cookie.value.length;
    const added = { ...place, secure: cookie.secure === true, size };
    const name = nameOf(added);
    const known = this.#cookies.get(name);
    this.#cookies.set(name, added);
    this.#size += size - (known?.size ?? 0);
    if (known === undefined) this.#counts.set(added.domain, (this.#counts.get(added.domain) ?? 0) + 1);
    const evicted = [];
    if ((this.#counts.get(added.domain) ?? 0) > MAX_PER_DOMAIN)
      evicted.push(...this.#evict(({ domain }) => domain === added.domain));
    if (this.#cookies.size > MAX_COOKIES) evicted.push(...this.#evictOfLargest(() => 1));
    while (this.#size > MAX_JAR) evicted.push(...this.#evictOfLargest(({ size }) => size));
    return evicted;
  }

  /** A cookie was deleted. @param {Cookie | StoredCookie} cookie */
  remove(cookie) {
    const { domain, path, key } = placeOf(cookie);
    const name = nameOf({ domain, path, key });
    const removed = this.#cookies.get(name);
    if (removed === undefined) return;
    this.#cookies.delete(name);
    this.#size -= removed.size;
    const count = (this.#counts.get(domain) ?? 1) - 1;
    if (count > 0) this.#counts.set(domain, count);
    else this.#counts.delete(domain);
  }

  /**
   * Of the domain that has the most without `Secure`, or of any when there are none.
   *
   * @param {(cookie: CountedCookie) => number} weigh
   */
  #evictOfLargest(weigh) {
    /** @type {Map<string, number>} */
    const weights = new Map();
    let most = 0;
    /** @type {string | undefined} */
    let largest;
    for (const cookie of this.#cookies.values()) {
      if (cookie.secure) continue;
      const weight = (weights.get(cookie.domain) ?? 0) + weigh(cookie);
      weights.set(cookie.domain, weight);
      if (weight <= most) continue;
      most = weight;
      largest = cookie.domain;
    }
    return this.#evict(({ domain }) => largest === undefined || domain === largest);
  }

  /** @param {(cookie: CountedCookie) => boolean} may */
  #evict(may) {
    /** @type {CountedCookie | undefined} */
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
