'use strict';

// Cookies in the form that Playwright has them, and as servers write them.

/** @typedef {import('../../index.js').Cookie} Cookie */
/** @typedef {import('../../index.js').CookieInit} CookieInit */

/** @param {any} cookie in the form that WebDriver has it @returns {Cookie} */
function toCookie({ expiry = -1, sameSite = 'Lax', ...cookie }) {
  return { ...cookie, expires: expiry, sameSite };
}

/**
 * @param {CookieInit} cookie
 * @param {string} base the page's URL
 * @returns {{ url: string, text: string }} a value of `Set-Cookie`, and the URL that has set it
 * @throws {TypeError}
 */
function cookieTextOf({ name, value, url, domain, path, expires, httpOnly, secure, sameSite }, base) {
  if (url === undefined && (domain === undefined) !== (path === undefined))
    throw new TypeError('a cookie has a `url`, or a `domain` and a `path`');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant
  if (/[;\0-\x1f\x7f]/.test(`${name}${value}`))
    throw new TypeError(`the cookie ${name} has characters that no cookie can have`);
  const host = domain?.replace(/^\./, '');
  const from = url ?? (host === undefined ? base : `${secure === true ? 'https' : 'http'}://${host}${path}`);
  if (!/^https?:/.test(from)) throw new TypeError(`${from} cannot have cookies`);
  const parts = [`${name}=${value}`];
  if (domain?.startsWith('.')) parts.push(`Domain=${domain}`);
  if (path !== undefined) parts.push(`Path=${path}`);
  if (expires !== undefined && expires !== -1) parts.push(`Expires=${new Date(expires * 1_000).toUTCString()}`);
  if (httpOnly === true) parts.push('HttpOnly');
  if (secure === true) parts.push('Secure');
  if (sameSite !== undefined) parts.push(`SameSite=${sameSite}`);
  return { url: from, text: parts.join('; ') };
}

module.exports = { cookieTextOf, toCookie };
