'use strict';

// Cookies, kept by tough-cookie, which jsdom brings. The user's thread has the authoritative jar of each page. Each thread of the page has a
// copy, and every change is sent to the other threads.

const { CookieCounts, isTooLarge } = require('./cookie-limits.cjs');
const { toughCookie } = require('./jsdom-packages.cjs');
const { isSameSite } = require('./site.cjs');

/** @typedef {{ url: string, cookie: string, isHttp: boolean }} CookieChange `isHttp` is whether a response set it, not a script */

/** @type {Record<string, 'Lax' | 'Strict' | 'None' | undefined>} as WebDriver names them */
const SAME_SITE = { lax: 'Lax', strict: 'Strict', none: 'None' };

/** A cookie with one of them is ignored, because a request could not carry it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;

class Cookies {
  /** @type {import('tough-cookie').CookieJar | undefined} */
  #opened;
  #saved;
  #onChange;
  #counts = new CookieCounts();

  /**
   * @param {import('tough-cookie').SerializedCookieJar} [saved] by `save`
   * @param {(change: CookieChange) => void} [onChange] called with each cookie that this copy stored by itself
   */
  constructor(saved, onChange = () => {}) {
    this.#saved = saved;
    this.#onChange = onChange;
  }

  /** Loading tough-cookie and its list of public suffixes takes a tenth of the time in which a page opens, and most pages have no cookie. */
  get #jar() {
    if (this.#opened === undefined) {
      const { CookieJar } = toughCookie();
      this.#opened =
        this.#saved === undefined
          ? new CookieJar(undefined, { looseMode: true })
          : CookieJar.deserializeSync(this.#saved);
      this.#opened.store.getAllCookies((_error, cookies) => {
        for (const cookie of cookies ?? []) this.#counts.add(cookie);
      });
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
    if (isTooLarge(cookie) || CONTROL.test(cookie)) return false;
    const jar = this.#jar;
    const stored = jar.setCookieSync(cookie, url, { ignoreError: true, http: isHttp });
    if (stored === undefined) return false;
    const remove = (/** @type {import('./cookie-limits.cjs').StoredCookie} */ { domain, path, key }) =>
      jar.store.removeCookie(domain, path, key, () => {});
    const expiry = stored.expiryTime();
    if (expiry !== undefined && expiry <= Date.now()) {
      this.#counts.remove(stored);
      remove({ domain: stored.domain ?? '', path: stored.path ?? '/', key: stored.key });
    } else {
      for (const evicted of this.#counts.add(stored)) remove(evicted);
    }
    return true;
  }

  /** @param {CookieChange} change */
  #set(change) {
    if (this.apply(change)) this.#onChange(change);
  }

  /** Stores the cookies that a response sets. @param {URL} url @param {import('./headers.cjs').HeaderList} headers */
  store(url, headers) {
    for (const [name, value] of headers) {
      // Headers are read as Latin-1; in cookies, browsers take them for UTF-8.
      if (name === 'set-cookie')
        this.#set({ url: url.href, cookie: Buffer.from(value, 'latin1').toString(), isHttp: true });
    }
  }

  /**
   * The value of the header `Cookie` for a request; empty for none.
   * https://httpwg.org/http-extensions/draft-ietf-httpbis-rfc6265bis.html#name-retrieval-algorithm
   *
   * @param {URL} url
   * @param {{ isTopLevel: boolean, method: string, client: import('./request.cjs').Client }} request
   */
  headerFor(url, { isTopLevel, method, client }) {
    if (this.#isUnused) return '';
    /** @type {'strict' | 'lax' | 'none'} */
    let sameSiteContext = 'strict';
    if (!client.isUser && !isSameSite(url, client.origin))
      sameSiteContext = isTopLevel && method === 'GET' ? 'lax' : 'none';
    return Buffer.from(this.#jar.getCookieStringSync(url.href, { sameSiteContext })).toString('latin1');
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
      // In seconds; undefined for a session cookie.
      expiry: cookie.expires instanceof Date ? Math.floor(cookie.expires.getTime() / 1_000) : undefined,
    }));
  }

  /** The value of `document.cookie`. @param {string} url */
  forScript(url) {
    if (this.#isUnused) return '';
    return this.#jar.getCookieStringSync(url, { http: false });
  }

  /** Performs `document.cookie = text`. @param {string} url @param {string} text */
  setByScript(url, text) {
    this.#set({ url, cookie: text, isHttp: false });
  }
}

module.exports = { Cookies };
