'use strict';

const { isTrustworthy } = require('./origin.cjs');
const { parseUrl } = require('./request.cjs');

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
  if (source.origin !== url.origin) return `${source.origin}/`;
  source.hash = source.username = source.password = '';
  return source.href;
}

module.exports = { referrerFor };
