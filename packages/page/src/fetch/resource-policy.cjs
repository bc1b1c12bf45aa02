'use strict';

// Cross-Origin-Resource-Policy. https://fetch.spec.whatwg.org/#cross-origin-resource-policy-header

const { getHeader } = require('./headers.cjs');
const { isSameOrigin } = require('./origin.cjs');
const { isSameSite } = require('./site.cjs');

/**
 * Whether a response may be embedded without CORS. https://fetch.spec.whatwg.org/#cross-origin-resource-policy-check
 *
 * @param {{ headers: import('./headers.cjs').HeaderList }} response
 * @param {URL} url
 * @param {import('./request.cjs').Client} client
 */
function resourcePolicyCheck({ headers }, url, client) {
  if (isSameOrigin(url, client.origin)) return true;
  const policy = getHeader(headers, 'cross-origin-resource-policy');
  if (policy === 'same-origin') return false;
  if (policy === 'same-site') return isSameSite(url, client.origin);
  return policy === 'cross-origin' || client.embedderPolicy !== 'require-corp';
}

module.exports = { resourcePolicyCheck };
