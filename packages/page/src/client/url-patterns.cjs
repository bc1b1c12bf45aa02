'use strict';

// Which URLs a route or `waitForURL` means: all that a glob, a regular expression or a predicate matches.

const { types } = require('node:util');

/** @typedef {string | RegExp | ((url: URL) => boolean)} UrlPattern */

/** What parts of a glob stand for. @type {Record<string, string>} */
const GLOB = { '**': '.*', '*': '[^/]*', '?': '\\?' };

/** `*` is a part of a path, `**` any text, and `{a,b}` one of several. @param {string} glob */
function toRegExp(glob) {
  let isInBraces = false;
  const source = glob.replace(/\*\*|\\.|[\s\S]/g, (part) => {
    if (GLOB[part] !== undefined) return GLOB[part];
    if (part.length === 2) return /\w/.test(part[1]) ? part[1] : part;
    if (part === '{' || part === '}') {
      isInBraces = part === '{';
      return isInBraces ? '(?:' : ')';
    }
    if (part === ',' && isInBraces) return '|';
    return /[$()+./[\]^|]/.test(part) ? `\\${part}` : part;
  });
  return new RegExp(`^${source}$`);
}

/** @param {UrlPattern} pattern @throws {TypeError} */
function checkPattern(pattern) {
  if (typeof pattern !== 'string' && typeof pattern !== 'function' && !types.isRegExp(pattern))
    throw new TypeError('a URL is given as a string, a regular expression or a function');
}

/**
 * @param {UrlPattern} pattern
 * @param {string} url
 * @param {string} base what a glob that begins with a path is relative to
 */
function matchesUrl(pattern, url, base) {
  if (typeof pattern === 'function') return pattern(new URL(url)) === true;
  if (types.isRegExp(pattern)) {
    pattern.lastIndex = 0;
    return pattern.test(url);
  }
  if (pattern === url) return true;
  const glob = pattern.startsWith('/') && URL.canParse(pattern, base) ? new URL(base).origin + pattern : pattern;
  // As the URL is written when it is parsed.
  return toRegExp(glob).test(url) || (URL.canParse(glob) && new URL(glob).href === url);
}

module.exports = { checkPattern, matchesUrl };
