'use strict';

const { isOpaque, isTrustworthy, originOfUrl } = require('./origin.cjs');
const { parseUrl } = require('./request.cjs');

/** How long a referrer may be, in characters: that of a longer one is its origin. */
const MAX_REFERRER = 4_096;

/**
 * The value of `Referer` under the policy `strict-origin-when-cross-origin`, the default; empty for none.
 * https://w3c.github.io/webappsec-referrer-policy/#determine-requests-referrer
 *
 * @param {string | undefined} referrer
 * @param {URL} url
 */
function referrerFor(referrer, url) {
  if (!referrer) return '';
  const source = parseUrl(referrer);
  if (source.protocol !== 'http:' && source.protocol !== 'https:') return '';
  if (isTrustworthy(source.origin) && !isTrustworthy(url.origin)) return '';
  source.hash = source.username = source.password = '';
  return source.origin !== url.origin || source.href.length > MAX_REFERRER ? `${source.origin}/` : source.href;
}

/**
 * What a document knows of the page that led to it: what its request said. An empty document that a page makes itself
 * knows its maker. `srcdoc` and `data:` know no more than a document of another origin, as in Chromium.
 * https://html.spec.whatwg.org/multipage/dom.html#the-document%27s-referrer
 *
 * @param {string} referrer
 * @param {string} url of the document, after redirects
 */
function documentReferrer(referrer, url) {
  const target = parseUrl(url);
  switch (target.protocol) {
    case 'about:':
      return target.pathname === 'blank' ? referrer : originAlone(referrer);
    case 'data:':
      return originAlone(referrer);
    default:
      return referrerFor(referrer, target);
  }
}

/** @param {string} referrer */
function originAlone(referrer) {
  if (referrer === '') return '';
  const { protocol, origin } = parseUrl(referrer);
  return protocol === 'http:' || protocol === 'https:' ? `${origin}/` : '';
}

/**
 * The URL that a document's requests come from. A document may name each URL of its origin, because it can move there
 * without a request (`history.pushState`), or none. For any other URL, its own takes the place.
 * https://w3c.github.io/webappsec-referrer-policy/#determine-requests-referrer
 *
 * @param {string} claimed by jsdom
 * @param {{ url: string, origin: import('./origin.cjs').Origin }} document
 */
function referrerOf(claimed, { url, origin }) {
  if (claimed === '' || isOpaque(origin)) return '';
  const from = URL.parse(claimed);
  if (from === null) return url;
  // A frame without a document of the network sends no referrer.
  if (from.protocol === 'about:') return '';
  return originOfUrl(from) === origin ? claimed : url;
}

module.exports = { documentReferrer, referrerFor, referrerOf };
