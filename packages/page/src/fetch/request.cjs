'use strict';

// Requests, responses and the clients that make requests. https://fetch.spec.whatwg.org/#concept-request

/** How long the URL of a document may be, in characters: as in Chromium. */
const MAX_URL = 2 << 20;

/** @typedef {{ type: string, bytes: Uint8Array }} BlobContent the MIME type and the bytes of a blob */

/**
 * The client that a request is made for.
 *
 * @typedef {object} Client
 * @property {import('./origin.cjs').Origin} origin
 * @property {'unsafe-none' | 'require-corp' | 'credentialless'} embedderPolicy
 * @property {boolean} [isUser] the user of the page host rather than a document; `origin` is then an opaque one
 * @property {boolean} [isIsolated] cross-origin isolated
 * @property {boolean} [isSecure] a secure context
 * @property {boolean} [hasCrossSiteAncestor] whether a document around it is of another site
 * @property {(url: string) => BlobContent | undefined | Promise<BlobContent | undefined>} [blobAt] looks up a blob: URL
 */

/**
 * @typedef {object} Request
 * @property {string} url
 * @property {string} [method]
 * @property {import('./headers.cjs').HeaderList} [headers] set by the author
 * @property {Uint8Array | null} [body]
 * @property {'navigate' | 'same-origin' | 'no-cors' | 'cors'} mode
 * @property {'omit' | 'same-origin' | 'include'} [credentials]
 * @property {'follow' | 'error' | 'manual'} [redirect]
 * @property {string} [destination] as named by Fetch; `module` for a module script
 * @property {string} [referrer] the client's URL, or empty for none
 * @property {boolean} [usesPreflight] whether a CORS preflight is sent in any case, as with listeners on an upload
 * @property {boolean} [isTopLevel] whether this is a navigation of the page itself
 */

/**
 * An unfiltered response: before it is given to a page, it must be filtered according to `type`.
 *
 * @typedef {object} Response
 * @property {'basic' | 'cors' | 'opaque' | 'opaqueredirect'} type
 * @property {string} url after redirects
 * @property {boolean} redirected
 * @property {number} status
 * @property {string} statusText
 * @property {import('./headers.cjs').HeaderList} headers
 * @property {Uint8Array} body in memory that nothing else uses
 * @property {import('./fetch-timing.cjs').FetchTiming} [timing] of a response over HTTP
 */

/** A network error. Its message goes to the page's user; a page is not told why a request failed. */
class NetworkError extends Error {
  name = 'NetworkError';
  /** @type {import('./fetch-timing.cjs').FetchTiming | undefined} of a request over HTTP */
  timing;
}

/**
 * @param {string} text
 * @param {URL} [base]
 * @throws {NetworkError}
 */
function parseUrl(text, base) {
  const url = URL.parse(text, base);
  if (url === null) throw new NetworkError(`${text} is not a URL`);
  return url;
}

/** @param {string} url of a document that a page asks for @throws {NetworkError} when it is too long */
function checkLength(url) {
  if (url.length > MAX_URL) throw new NetworkError(`the URL of a document may have no more than ${MAX_URL} characters`);
}

module.exports = { NetworkError, checkLength, parseUrl };
