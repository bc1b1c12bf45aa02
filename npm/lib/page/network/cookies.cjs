'use strict';

// The cookies of a browsing session, on tough-cookie, which jsdom brings along. The page's user thread has the jar that
// counts; each page thread works on a copy and both tell each other of every change.

const { createRequire } = require('node:module');
const path = require('node:path');

class Cookies {
  #jar;
  #changed;

  /**
   * @param {{ folder: string }} library jsdom
   * @param {object} [saved] what `save` gave
   * @param {(change: { url: string, cookie: string, isHttp: boolean }) => void} [changed] is told what this copy stored
   */
  constructor(library, saved, changed = () => {}) {
    const { CookieJar } = createRequire(path.join(library.folder, 'lib', 'api.js'))('tough-cookie');
    this.#jar = saved === undefined ? new CookieJar(undefined, { looseMode: true }) : CookieJar.deserializeSync(saved);
    this.#changed = changed;
  }

  /** Plain data, for another thread. */
  save() {
    return this.#jar.serializeSync();
  }

  /** Takes over what another copy stored. */
  apply({ url, cookie, isHttp }) {
    this.#jar.setCookieSync(cookie, url, { ignoreError: true, http: isHttp });
  }

  #set(change) {
    this.apply(change);
    this.#changed(change);
  }

  /** Stores what a response sets. */
  store(url, headers) {
    for (const [name, value] of headers) {
      if (name === 'set-cookie') this.#set({ url: url.href, cookie: value, isHttp: true });
    }
  }

  /**
   * The value of the Cookie header for a request.
   *
   * @param {URL} url
   * @param {{ isTopLevel: boolean, method: string, origin?: string }} request without an origin, its user asks
   */
  headerFor(url, { isTopLevel, method, origin }) {
    let sameSiteContext = 'strict';
    if (origin !== undefined && !isSameSite(url, origin)) sameSiteContext = isTopLevel && method === 'GET' ? 'lax' : 'none';
    return this.#jar.getCookieStringSync(url.href, { sameSiteContext });
  }

  /** The cookies that a request of the user's own would carry, those that no script sees too. */
  list(url) {
    return this.#jar.getCookiesSync(url, { http: true, sameSiteContext: 'strict' }).map((cookie) => ({
      name: cookie.key,
      value: cookie.value,
      domain: cookie.hostOnly ? cookie.domain : `.${cookie.domain}`,
      path: cookie.path,
      secure: cookie.secure,
      httpOnly: cookie.httpOnly,
      sameSite: { lax: 'Lax', strict: 'Strict', none: 'None' }[cookie.sameSite],
      // In seconds, as WebDriver has it; a session's cookie has none.
      expiry: cookie.expires instanceof Date ? Math.floor(cookie.expires.getTime() / 1_000) : undefined,
    }));
  }

  /** `document.cookie`. */
  forScript(url) {
    return this.#jar.getCookieStringSync(url, { http: false });
  }

  /** `document.cookie = text`. */
  setByScript(url, text) {
    this.#set({ url, cookie: text, isHttp: false });
  }
}

function isSameSite(url, origin) {
  if (origin.startsWith('null')) return false;
  const here = new URL(origin).hostname;
  const there = url.hostname;
  return here === there || there.endsWith(`.${here}`) || here.endsWith(`.${there}`);
}

module.exports = { Cookies };
