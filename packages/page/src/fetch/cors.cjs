'use strict';

// CORS: which requests need a preflight, whether a server allows a response to be read, and which headers of it.
// https://fetch.spec.whatwg.org/#http-cors-protocol

const { getHeader, listOf } = require('./headers.cjs');
const { NetworkError } = require('./request.cjs');

/** @typedef {import('./headers.cjs').HeaderList} HeaderList */

/** https://fetch.spec.whatwg.org/#cors-safelisted-method */
const SAFELISTED_METHODS = new Set(['GET', 'HEAD', 'POST']);

/** https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name */
const SAFELISTED_RESPONSE_HEADERS = new Set([
  'cache-control',
  'content-language',
  'content-length',
  'content-type',
  'expires',
  'last-modified',
  'pragma',
]);

/** The longest value of a safelisted request header, in characters. */
const MAX_SAFELISTED_VALUE = 128;

/** https://fetch.spec.whatwg.org/#cors-unsafe-request-header-byte */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are unsafe
const UNSAFE = /[\0-\x08\x0a-\x1f"():<>?@[\\\]{}\x7f]/;

/** @param {string} name in lower case @param {string} value */
function isSafelisted(name, value) {
  if (value.length > MAX_SAFELISTED_VALUE) return false;
  switch (name) {
    case 'accept':
      return !UNSAFE.test(value);
    case 'accept-language':
    case 'content-language':
      return /^[0-9A-Za-z *,\-.;=]*$/.test(value);
    case 'content-type':
      return (
        !UNSAFE.test(value) &&
        /^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\s*(;|$)/i.test(value)
      );
    case 'range': {
      const [, start, end] = /^bytes=(\d+)-(\d*)$/.exec(value) ?? [];
      return start !== undefined && (end === '' || Number(start) <= Number(end));
    }
    default:
      return false;
  }
}

/**
 * The names of the author's headers that a server has to allow, sorted.
 * https://fetch.spec.whatwg.org/#cors-unsafe-request-header-names
 *
 * @param {HeaderList} headers
 */
function unsafeHeaderNames(headers) {
  const names = [];
  // Values of the same name are sent as one.
  for (const [key, entries] of Map.groupBy(headers, ([name]) => name.toLowerCase())) {
    const values = entries.map(([, value]) => value);
    // Each by itself, too: together, a part of one can become a part of another.
    if (![...values, values.join(', ')].every((value) => isSafelisted(key, value))) names.push(key);
  }
  // There are five safelisted names, so that their values are never longer together than the standard allows.
  return names.sort();
}

/**
 * Whether the server lets an origin read a response. https://fetch.spec.whatwg.org/#concept-cors-check
 *
 * @param {{ headers: HeaderList }} response
 * @param {string} origin serialized
 * @param {string} credentials the request's credentials mode
 */
function corsCheck({ headers }, origin, credentials) {
  const allowed = getHeader(headers, 'access-control-allow-origin');
  if (allowed === '*' && credentials !== 'include') return true;
  if (allowed !== origin) return false;
  return credentials !== 'include' || getHeader(headers, 'access-control-allow-credentials') === 'true';
}

/**
 * The headers of a preflight request. https://fetch.spec.whatwg.org/#cors-preflight-fetch
 *
 * @param {{ method: string, origin: string, unsafeHeaders: string[] }} request
 * @returns {HeaderList}
 */
function preflightHeaders({ method, origin, unsafeHeaders }) {
  /** @type {HeaderList} */
  const headers = [
    ['Accept', '*/*'],
    ['Access-Control-Request-Method', method],
    ['Origin', origin],
  ];
  if (unsafeHeaders.length > 0) headers.push(['Access-Control-Request-Headers', unsafeHeaders.join(',')]);
  return headers;
}

/**
 * Checks that the answer to a preflight request allows the request.
 *
 * @param {{ status: number, headers: HeaderList }} response
 * @param {{ url: URL, method: string, origin: string, credentials: string, unsafeHeaders: string[] }} request
 * @throws {NetworkError}
 */
function checkPreflight(response, { url, method, origin, credentials, unsafeHeaders }) {
  const refused = (/** @type {string} */ what) =>
    new NetworkError(`${url.origin} does not let ${origin} send ${what} to ${url.pathname} (CORS preflight)`);
  if (response.status < 200 || response.status > 299 || !corsCheck(response, origin, credentials))
    throw refused(method);
  const hasWildcard = (/** @type {string[]} */ items) => items.includes('*') && credentials !== 'include';
  const methods = (getHeader(response.headers, 'access-control-allow-methods') ?? '').split(/[\t ]*,[\t ]*/);
  if (!SAFELISTED_METHODS.has(method) && !methods.includes(method) && !hasWildcard(methods)) throw refused(method);
  const names = listOf(response.headers, 'access-control-allow-headers');
  for (const name of unsafeHeaders) {
    // The wildcard does not cover `Authorization`.
    if (!names.includes(name) && !(hasWildcard(names) && name !== 'authorization')) throw refused(`the header ${name}`);
  }
}

/**
 * The headers of a response that scripts of the client may see.
 * https://fetch.spec.whatwg.org/#concept-filtered-response
 *
 * @param {Pick<import('./request.cjs').Response, 'type' | 'headers'>} response
 * @param {string} [credentials] the request's credentials mode
 * @returns {HeaderList}
 */
function visibleHeaders({ type, headers }, credentials) {
  const readable = headers.filter(([name]) => name !== 'set-cookie' && name !== 'set-cookie2');
  if (type === 'basic') return readable;
  if (type !== 'cors') return [];
  const exposed = listOf(headers, 'access-control-expose-headers');
  if (exposed.includes('*') && credentials !== 'include') return readable;
  return readable.filter(([name]) => SAFELISTED_RESPONSE_HEADERS.has(name) || exposed.includes(name));
}

module.exports = {
  SAFELISTED_METHODS,
  checkPreflight,
  corsCheck,
  preflightHeaders,
  unsafeHeaderNames,
  visibleHeaders,
};
