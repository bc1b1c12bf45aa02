'use strict';

// HTTP redirects. https://fetch.spec.whatwg.org/#http-redirect-fetch

const { getHeader } = require('./headers.cjs');
const { isSameOrigin } = require('./origin.cjs');
const { NetworkError, parseUrl } = require('./request.cjs');

/** @typedef {import('./headers.cjs').HeaderList} HeaderList */

/** https://fetch.spec.whatwg.org/#redirect-status */
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 20;

/**
 * The parts of a request that redirects change.
 *
 * @typedef {object} Hop
 * @property {URL} url
 * @property {string} method
 * @property {HeaderList} headers set by the author
 * @property {Uint8Array | null} body
 * @property {boolean} isTainted whether `Origin` is `null` from here on, because a server of another origin chose where
 *   to go
 * @property {number} redirectCount
 */

/** @param {{ status: number, headers: HeaderList }} response @returns {string | null} where it leads, `null` when it is no redirect */
function redirectLocation({ status, headers }) {
  return REDIRECT_STATUSES.has(status) ? getHeader(headers, 'location') : null;
}

/**
 * The request that follows a redirect.
 *
 * @param {Hop} hop
 * @param {{ status: number, location: string }} response
 * @param {{ mode: string, origin: import('./origin.cjs').Origin, isForeign: boolean, isCors: boolean }} request
 *   `isForeign` is whether the hop's URL is of another origin than the client, `isCors` whether CORS applied so far
 * @returns {Hop}
 * @throws {NetworkError}
 */
function followRedirect(hop, { status, location }, { mode, origin, isForeign, isCors }) {
  if (hop.redirectCount === MAX_REDIRECTS)
    throw new NetworkError(`more than ${MAX_REDIRECTS} redirects, up to ${hop.url}`);
  const url = parseUrl(location, hop.url);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new NetworkError(`${hop.url} redirects to the scheme ${url.protocol}`);
  if (url.hash === '') url.hash = hop.url.hash;
  const hasCredentials = url.username !== '' || url.password !== '';
  if (mode === 'cors' && hasCredentials && (isCors || !isSameOrigin(url, origin))) {
    throw new NetworkError(`${hop.url} redirects to a URL with credentials`);
  }
  const leavesOrigin = url.origin !== hop.url.origin;
  let { method, body, headers } = hop;
  if (
    ((status === 301 || status === 302) && method === 'POST') ||
    (status === 303 && method !== 'GET' && method !== 'HEAD')
  ) {
    method = 'GET';
    body = null;
    headers = headers.filter(([name]) => !/^content-/i.test(name));
  }
  if (leavesOrigin) headers = headers.filter(([name]) => name.toLowerCase() !== 'authorization');
  const isTainted = hop.isTainted || (leavesOrigin && mode !== 'navigate' && isForeign);
  return { url, method, headers, body, isTainted, redirectCount: hop.redirectCount + 1 };
}

module.exports = { followRedirect, redirectLocation };
