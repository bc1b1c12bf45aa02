'use strict';

// Cookies, kept by tough-cookie, which jsdom brings. The host has the authoritative jar of each page. Each thread of
// the page has a copy: see cookie-copy.cjs.

const { toughCookie } = require('./jsdom-packages.cjs');
const { isTrustworthy } = require('./origin.cjs');
const { isSameSite, registrableDomain } = require('./site.cjs');

/** @typedef {import('tough-cookie').Cookie} Cookie */
/** @typedef {'strict' | 'lax' | 'none'} SameSiteContext */
/** @typedef {{ isTopLevel: boolean, method: string, client: import('./request.cjs').Client }} CookieRequest */
/** @typedef {Pick<import('./request.cjs').Client, 'hasCrossSiteAncestor'> | undefined} DocumentClient */
/** @typedef {{ url: string, cookie: string, isHttp: boolean }} CookieChange `isHttp` is whether a response set it, not a script */

/** @type {Record<string, 'Lax' | 'Strict' | 'None' | undefined>} as WebDriver names them */
const SAME_SITE = { lax: 'Lax', strict: 'Strict', none: 'None' };

/** A cookie with one of them is ignored, because a request could not carry it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;

/**
 * What names of cookies promise about who has set them.
 * https://httpwg.org/http-extensions/draft-ietf-httpbis-rfc6265bis.html#name-cookie-name-prefixes
 */
const PREFIX = /^__(secure|host-http|host|http)-/i;

/**
 * Bytes of a name with its value.
 * https://httpwg.org/http-extensions/draft-ietf-httpbis-rfc6265bis.html#name-storage-model
 */
const MAX_SIZE = 4_096;

/** The last time that `Date` can say, in milliseconds. */
const MAX_TIME = 8.64e15;

/**
 * How long a cookie without `SameSite` is sent with a POST that navigates from another site, as in Chromium, in
 * milliseconds: logging in may depend on it.
 */
const LAX_ALLOWS_UNSAFE = 120_000;

class Cookies {
  /** @type {import('tough-cookie').CookieJar | undefined} */
  #opened;
  #saved;
  #onChange;

  /**
   * @param {import('tough-cookie').SerializedCookieJar} [saved] by `save`
   * @param {(change: CookieChange) => void} [onChange] called with each cookie that this copy stored by itself
   */
  constructor(saved, onChange = () => {}) {
    this.#saved = saved;
    this.#onChange = onChange;
  }

  /**
   * Loading tough-cookie and its list of public suffixes takes a tenth of the time in which a page opens, and most
   * pages have no cookie.
   */
  get #jar() {
    if (this.#opened === undefined) {
      const { CookieJar } = toughCookie();
      this.#opened =
        this.#saved === undefined
          ? new CookieJar(newStore(), { looseMode: true })
          : CookieJar.deserializeSync(this.#saved, newStore());
    }
    return this.#opened;
  }

  /** Whether no cookie was ever stored. */
  get #isUnused() {
    return this.#opened === undefined && (this.#saved === undefined || this.#saved.cookies.length === 0);
  }

  /** The jar as plain data, for another thread; undefined when it is empty. */
  save() {
    if (this.#isUnused) return undefined;
    const saved = this.#jar.serializeSync();
    if (saved === undefined) throw new Error('the cookie jar cannot be saved');
    return saved;
  }

  /** Stores a cookie, such as one of another copy. Returns whether it was acceptable. @param {CookieChange} change */
  apply({ url, cookie, isHttp }) {
    if (Buffer.byteLength(cookie.split(';', 1)[0]) > MAX_SIZE || CONTROL.test(cookie)) return false;
    const parsed = toughCookie().Cookie.parse(cookie, { loose: true });
    if (parsed === undefined || !isForHost(parsed, url) || hasFalsePrefix(parsed, url)) return false;
    // It would be sent by other sites, for anybody on the network to read.
    if (parsed.sameSite === 'none' && !parsed.secure) return false;
    if (this.#replacesSecure(parsed, url)) return false;
    const jar = this.#jar;
    const stored = jar.setCookieSync(parsed, url, { ignoreError: true, http: isHttp });
    if (stored === undefined) return false;
    fixExpiry(stored);
    if (stored.TTL() <= 0) jar.store.removeCookie(stored.domain ?? '', stored.path ?? '/', stored.key, () => {});
    return true;
  }

  /**
   * Whether a cookie would take the place of one with `Secure`, or be sent beside it under what servers take for the
   * same name, though its URL has no TLS: who controls the network could answer there.
   * https://httpwg.org/http-extensions/draft-ietf-httpbis-rfc6265bis.html#name-storage-model
   *
   * @param {Cookie} added
   * @param {string} url
   */
  #replacesSecure(added, url) {
    const { hostname, origin, pathname } = new URL(url);
    if (this.#isUnused || isTrustworthy(origin)) return false;
    const { canonicalDomain, defaultPath, pathMatch } = toughCookie();
    const path = added.path ?? defaultPath(pathname);
    const name = sentName(added);
    const domain = added.cdomain() ?? canonicalDomain(hostname) ?? hostname;
    let isFound = false;
    // The store calls back at once.
    this.#jar.store.getAllCookies((_error, cookies) => {
      isFound = (cookies ?? []).some(
        (other) =>
          other.secure &&
          (isWithin(domain, other.domain ?? '') || isWithin(other.domain ?? '', domain)) &&
          sentName(other) === name &&
          pathMatch(path, other.path ?? '/'),
      );
    });
    return isFound;
  }

  /** @param {CookieChange} change @param {SameSiteContext} sameSiteContext */
  #set(change, sameSiteContext) {
    // Cookies with `SameSite` come from requests of their own site, and from navigations of the page.
    if (sameSiteContext === 'none' && this.#isOfSameSite(change)) return;
    if (this.apply(change)) this.#onChange(change);
  }

  /** Whether a cookie is for its own site. Without `SameSite` it is, as in Chromium. @param {CookieChange} change */
  #isOfSameSite({ cookie }) {
    return toughCookie().Cookie.parse(cookie, { loose: true })?.sameSite !== 'none';
  }

  /**
   * The cookies that are sent to a URL, or read at it.
   *
   * @param {string} url
   * @param {{ sameSiteContext: SameSiteContext, http?: boolean, isLogin?: boolean }} options
   */
  #cookiesFor(url, { sameSiteContext, http = true, isLogin = false }) {
    const oldest = isLogin ? Date.now() - LAX_ALLOWS_UNSAFE : Number.POSITIVE_INFINITY;
    const isSent = (/** @type {Cookie} */ { sameSite, creation }) =>
      sameSite !== undefined || sameSiteContext !== 'none' || Number(creation) > oldest;
    return this.#jar.getCookiesSync(url, { http, sameSiteContext, sort: true }).filter(isSent);
  }

  /**
   * Stores the cookies that a response sets.
   *
   * @param {URL} url
   * @param {import('./headers.cjs').HeaderList} headers
   * @param {CookieRequest} request
   */
  store(url, headers, request) {
    const sameSiteContext = request.isTopLevel ? 'lax' : contextOf(url, request);
    for (const [name, value] of headers) {
      if (name !== 'set-cookie') continue;
      // Headers are read as Latin-1; in cookies, browsers take them for UTF-8.
      this.#set({ url: url.href, cookie: Buffer.from(value, 'latin1').toString(), isHttp: true }, sameSiteContext);
    }
  }

  /**
   * The value of the header `Cookie` for a request; empty for none.
   * https://httpwg.org/http-extensions/draft-ietf-httpbis-rfc6265bis.html#name-retrieval-algorithm
   *
   * @param {URL} url
   * @param {CookieRequest} request
   */
  headerFor(url, request) {
    if (this.#isUnused) return '';
    const isLogin = request.isTopLevel && request.method === 'POST';
    const cookies = this.#cookiesFor(url.href, { sameSiteContext: contextOf(url, request), isLogin });
    return Buffer.from(textOf(cookies)).toString('latin1');
  }

  /** The cookies that a request of the user would carry, in the form that WebDriver gives them. @param {string} url */
  list(url) {
    if (this.#isUnused) return [];
    return this.#jar.getCookiesSync(url, { http: true, sameSiteContext: 'strict' }).map((cookie) => ({
      name: cookie.key,
      value: cookie.value,
      domain: cookie.hostOnly ? cookie.domain : `.${cookie.domain}`,
      path: cookie.path,
      secure: cookie.secure,
      httpOnly: cookie.httpOnly,
      sameSite: SAME_SITE[cookie.sameSite ?? ''],
      expiry: expiryOf(cookie),
    }));
  }

  /** The value of `document.cookie`. @param {string} url @param {DocumentClient} client */
  forScript(url, client) {
    if (this.#isUnused) return '';
    return textOf(this.#cookiesFor(url, { sameSiteContext: contextOfDocument(client), http: false }));
  }

  /** Performs `document.cookie = text`. @param {string} url @param {string} text @param {DocumentClient} client */
  setByScript(url, text, client) {
    this.#set({ url, cookie: text, isHttp: false }, contextOfDocument(client));
  }
}

function newStore() {
  const store = new (toughCookie().MemoryCookieStore)();
  // Its own throws for hosts such as `test`. The jar selects by domain and path from what it gets.
  store.findCookies = /** @type {any} */ (
    (/** @type {unknown[]} */ ...args) => store.getAllCookies(/** @type {any} */ (args.at(-1)))
  );
  return store;
}

/** Whether a host is in a domain, or is the domain. @param {string} host @param {string} domain */
function isWithin(host, domain) {
  return host === domain || host.endsWith(`.${domain}`);
}

/**
 * Whether a cookie is for no more hosts than its URL may set. A name without a dot is no domain but a host, such as
 * localhost.
 *
 * @param {Cookie} cookie
 * @param {string} url
 */
function isForHost(cookie, url) {
  let domain;
  try {
    domain = cookie.cdomain();
  } catch {
    // It is no host.
    return false;
  }
  if (!domain || domain.includes(':')) return true;
  const { hostname } = new URL(url);
  // A domain is within one site: for tough-cookie, amazonaws.com is that of all its customers.
  if (domain.includes('.')) return domain === hostname || registrableDomain(domain) === registrableDomain(hostname);
  if (hostname !== domain) return false;
  cookie.domain = null;
  return true;
}

/**
 * What servers take for a cookie's name. One without a name is sent as its value alone, which may look like a name with
 * a value.
 *
 * @param {Cookie} cookie
 */
function sentName(cookie) {
  const [, name = ''] = /^[\s=]*([^=]*)/.exec(cookie.cookieString()) ?? [];
  return name.trimEnd();
}

/** Whether a cookie's name promises what is not true of it. @param {Cookie} cookie @param {string} url */
function hasFalsePrefix(cookie, url) {
  const { key, secure, httpOnly, domain, path } = cookie;
  if (key === '') return PREFIX.test(sentName(cookie));
  const prefix = PREFIX.exec(key)?.[1]?.toLowerCase();
  if (prefix === undefined) return false;
  if (!secure || !isTrustworthy(new URL(url).origin)) return true;
  if (prefix.endsWith('http') && !httpOnly) return true;
  return prefix.startsWith('host') && (domain !== null || path !== '/');
}

/** @param {Cookie[]} cookies */
function textOf(cookies) {
  return cookies.map((cookie) => cookie.cookieString()).join('; ');
}

/** For tough-cookie, `Max-Age` counts from when the cookie was last read. @param {Cookie} cookie */
function fixExpiry(cookie) {
  if (cookie.maxAge === null) return;
  const end = Date.now() + Number(cookie.maxAge) * 1_000;
  cookie.expires = end < MAX_TIME ? new Date(Math.max(end, 0)) : 'Infinity';
  cookie.maxAge = null;
}

/** When a cookie ends, in seconds; undefined for one of the session, and one that never ends. @param {Cookie} cookie */
function expiryOf(cookie) {
  const seconds = Math.floor((cookie.expiryTime() ?? Number.POSITIVE_INFINITY) / 1_000);
  return Number.isSafeInteger(seconds) ? Math.max(seconds, 0) : undefined;
}

/** @param {DocumentClient} client @returns {SameSiteContext} */
function contextOfDocument(client) {
  return client?.hasCrossSiteAncestor === true ? 'none' : 'strict';
}

/**
 * https://httpwg.org/http-extensions/draft-ietf-httpbis-rfc6265bis.html#name-same-site-and-cross-site-re
 *
 * @param {URL} url
 * @param {CookieRequest} request
 * @returns {SameSiteContext}
 */
function contextOf(url, { isTopLevel, method, client }) {
  if (client.isUser) return 'strict';
  if (client.hasCrossSiteAncestor !== true && isSameSite(url, client.origin)) return 'strict';
  return isTopLevel && method === 'GET' ? 'lax' : 'none';
}

module.exports = { Cookies };
