'use strict';

// The URL of a document, as its page says it. Scripts change the URL of their document, but not its origin.
// https://html.spec.whatwg.org/multipage/nav-history-apis.html#can-have-its-url-rewritten

const { urlOf } = require('../fetch/url-text.cjs');

/**
 * @param {string} claimed by the page
 * @param {string} loaded which URL the document of its thread was loaded from
 * @returns {string} what the page says if that can be, or else where its document is from
 */
function credibleUrl(claimed, loaded) {
  // Frames of the thread may have documents that were not loaded.
  if (/^about:(?:blank|srcdoc)(?:[?#]|$)/.test(claimed)) return claimed;
  const [url, known] = [urlOf(claimed), urlOf(loaded)];
  if (url === undefined || known === undefined || url.protocol !== known.protocol) return loaded;
  const hasOrigin = url.protocol === 'http:' || url.protocol === 'https:';
  // All files of a folder have one thread.
  const canBe = hasOrigin
    ? url.host === known.host
    : url.protocol === 'file:' || withoutHash(url) === withoutHash(known);
  return canBe ? claimed : loaded;
}

/** @param {URL} url */
function withoutHash({ href, hash }) {
  return hash === '' ? href.replace(/#$/, '') : href.slice(0, -hash.length);
}

/** Whether two URLs differ by their fragments alone. @param {string} a @param {string} b */
function isSameDocument(a, b) {
  const [first, second] = [urlOf(a), urlOf(b)];
  return first !== undefined && second !== undefined && withoutHash(first) === withoutHash(second);
}

module.exports = { credibleUrl, isSameDocument };
