'use strict';

// Where a jar keeps its cookies. That of tough-cookie makes a text for each label of a host, which takes gigabytes for a host of many labels;
// it knows some hosts as reserved and throws for them; and it keeps each domain and path that ever had a cookie.

const { toughCookie } = require('./jsdom-packages.cjs');

/** @typedef {import('tough-cookie').Cookie} Cookie */
/** @typedef {(error: any, cookies: Cookie[]) => void} OnFound */

/** Whether a host is in a domain, or is the domain. @param {string} host @param {string} domain */
function isWithin(host, domain) {
  return host === domain || (host.endsWith(domain) && host[host.length - domain.length - 1] === '.');
}

/** @param {object} table */
function isEmpty(table) {
  for (const _name in table) return false;
  return true;
}

function newCookieStore() {
  const { MemoryCookieStore, pathMatch } = toughCookie();

  class CookieStore extends MemoryCookieStore {
    /**
     * The cookies of a host, of those around it, and for a path. There are never many domains: see cookie-limits.cjs.
     *
     * @param {string | null} host
     * @param {string | null} path null for all paths
     * @param {boolean | OnFound} [allowSpecialUseDomain]
     * @param {OnFound} [callback]
     */
    findCookies(host, path, allowSpecialUseDomain, callback) {
      const onFound = typeof allowSpecialUseDomain === 'function' ? allowSpecialUseDomain : callback;
      /** @type {Cookie[]} */
      const found = [];
      for (const [domain, byPath] of Object.entries(this.idx)) {
        if (host === null || !isWithin(host, domain)) continue;
        for (const [place, byKey] of Object.entries(byPath)) {
          if (path === null || pathMatch(path, place)) found.push(...Object.values(byKey));
        }
      }
      onFound?.(null, found);
      return Promise.resolve(found);
    }

    /**
     * @param {string} domain
     * @param {string} path
     * @param {string} key
     * @param {(error: Error | null) => void} [callback]
     */
    removeCookie(domain, path, key, callback) {
      const byPath = this.idx[domain];
      const byKey = byPath?.[path];
      if (byPath !== undefined && byKey !== undefined) {
        delete byKey[key];
        if (isEmpty(byKey)) delete byPath[path];
        if (isEmpty(byPath)) delete this.idx[domain];
      }
      callback?.(null);
      return Promise.resolve();
    }
  }

  return new CookieStore();
}

/**
 * Whether a condition holds for a cookie of a domain, of those around it, and of those in it, for all paths. All cookies of a jar would be too many
 * to look at for each new one, and lists of these would take most of the time.
 *
 * @param {import('tough-cookie').Store} store by `newCookieStore`
 * @param {string} domain
 * @param {(cookie: Cookie) => boolean} condition
 */
function someRelated(store, domain, condition) {
  const { idx } = /** @type {import('tough-cookie').MemoryCookieStore} */ (store);
  for (const other in idx) {
    if (!isWithin(domain, other) && !isWithin(other, domain)) continue;
    const byPath = idx[other];
    for (const path in byPath) {
      const byKey = byPath[path];
      for (const key in byKey) if (condition(byKey[key])) return true;
    }
  }
  return false;
}

module.exports = { newCookieStore, someRelated };
