'use strict';

// How many cookies are kept, and how large they may be.
// https://httpwg.org/http-extensions/draft-ietf-httpbis-rfc6265bis.html#name-storage-model

const { registrableDomain } = require('./site.cjs');

/** Bytes of a name with its value, and of a whole cookie with its attributes. */
const MAX_SIZE = 4_096;
const MAX_TEXT = 8_192;
const MAX_PER_DOMAIN = 50;
const MAX_COOKIES = 3_000;

/** Characters of all cookies of a jar, with their domains and paths. Each thread of a page gets a copy when it starts. */
const MAX_JAR = 4 << 20;

/** The part of a jar that a site may have when the jar is full, whether or not its cookies have `Secure`. */
const MAX_SHARE = 1 / 8;

/** @typedef {import('tough-cookie').Cookie} Cookie */
/** @typedef {{ domain: string, path: string, key: string }} StoredCookie */
/** @typedef {StoredCookie & { secure: boolean, size: number, site: string, end: number }} CountedCookie `end` is when it expires */

/** A copy of a text that may be a part of a longer one, which V8 keeps as a whole as long as the part. @param {string} text */
function textOfItsOwn(text) {
  // UTF-8 has no lone surrogates.
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

/** The part of a URL that a cookie depends on. @param {string} url of HTTP, which may be long */
function withoutQuery(url) {
  return textOfItsOwn(/^[^?#]*/.exec(url)?.[0] ?? '');
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
   * that has it. When there are too many of all domains, the site with the most loses some, so that no page deletes the few of another site.
   *
   * @param {Cookie} cookie
   * @returns {StoredCookie[]}
   */
  add(cookie) {
    const place = placeOf(cookie);
    const { domain, path, key } = place;
    const name = nameOf(place);
    const known = this.#cookies.get(name);
    const size = domain.length + path.length + key.length + cookie.value.length;
    this.#cookies.set(name, {
      ...place,
      secure: cookie.secure === true,
      size,
      end: cookie.expiryTime() ?? Number.POSITIVE_INFINITY,
      site: known?.site ?? registrableDomain(domain),
    });
    this.#size += size - (known?.size ?? 0);
    if (known === undefined) this.#counts.set(domain, (this.#counts.get(domain) ?? 0) + 1);
    return [
      ...this.#evict(
        (cookie) => cookie.domain === domain,
        () => (this.#counts.get(domain) ?? 0) > MAX_PER_DOMAIN,
      ),
      ...this.#shrink(
        () => 1,
        () => this.#cookies.size > MAX_COOKIES,
        MAX_COOKIES * MAX_SHARE,
      ),
      ...this.#shrink(
        ({ size }) => size,
        () => this.#size > MAX_JAR,
        MAX_JAR * MAX_SHARE,
      ),
    ];
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
   * Removes cookies while the jar has too much: those of the site with the most if it has more than its share, else of the site with the most that
   * have no `Secure`.
   *
   * @param {(cookie: CountedCookie) => number} weigh
   * @param {() => boolean} hasTo
   * @param {number} share
   * @returns {CountedCookie[]}
   */
  #shrink(weigh, hasTo, share) {
    /** @type {CountedCookie[]} */
    const evicted = [];
    while (hasTo()) {
      /** @type {Map<string, number>} */
      const all = new Map();
      /** @type {Map<string, number>} */
      const insecure = new Map();
      for (const cookie of this.#cookies.values()) {
        const weight = weigh(cookie);
        all.set(cookie.site, (all.get(cookie.site) ?? 0) + weight);
        if (!cookie.secure) insecure.set(cookie.site, (insecure.get(cookie.site) ?? 0) + weight);
      }
      const [most, weight] = heaviest(all);
      const site = weight > share || insecure.size === 0 ? most : heaviest(insecure)[0];
      evicted.push(...this.#evict((cookie) => cookie.site === site, hasTo));
    }
    return evicted;
  }

  /**
   * Removes the oldest of some cookies while it has to, those without `Secure` first.
   *
   * @param {(cookie: CountedCookie) => boolean} may
   * @param {() => boolean} hasTo
   * @returns {CountedCookie[]}
   */
  #evict(may, hasTo) {
    /** @type {CountedCookie[]} */
    const evicted = [];
    if (!hasTo()) return evicted;
    const now = Date.now();
    const chosen = [...this.#cookies.values()].filter(may).map((cookie) => ({ cookie, rank: rankOf(cookie, now) }));
    for (const { cookie } of chosen.sort((one, other) => one.rank - other.rank)) {
      if (!hasTo()) break;
      this.remove(cookie);
      evicted.push(cookie);
    }
    return evicted;
  }
}

/** @param {Map<string, number>} weights @returns {[site: string, weight: number]} */
function heaviest(weights) {
  return [...weights].reduce((most, one) => (one[1] > most[1] ? one : most), ['', 0]);
}

/** Those that have expired go first, then those without `Secure`. @param {CountedCookie} cookie @param {number} now */
function rankOf({ end, secure }, now) {
  if (end <= now) return 0;
  return secure ? 2 : 1;
}

/** Where a jar keeps a cookie. @param {Cookie | StoredCookie} cookie @returns {StoredCookie} */
function placeOf({ domain, path, key }) {
  return { domain: domain ?? '', path: path ?? '/', key };
}

/** @param {StoredCookie} cookie */
function nameOf({ domain, path, key }) {
  return JSON.stringify([domain, path, key]);
}

module.exports = { CookieCounts, isTooLarge, MAX_PER_DOMAIN, placeOf, textOfItsOwn, withoutQuery };
