'use strict';

// Reads the requests that the DOM realm makes for a page. They come as JSON from a realm that the page may have taken over, so each member
// is converted and checked.

const { normalizedMethod } = require('../any-realm/request-methods.cjs');
const { noCorsHeaders } = require('../fetch/cors.cjs');

const MODES = /** @type {const} */ (['same-origin', 'no-cors', 'cors']);
const CREDENTIALS = /** @type {const} */ (['omit', 'same-origin', 'include']);
const REDIRECTS = /** @type {const} */ (['follow', 'error', 'manual']);
/** What pages load as more than data; the main realm fetches all else, and servers trust `Sec-Fetch-Dest`. */
const DESTINATIONS = /** @type {const} */ (['', 'image', 'style']);

/** https://httpwg.org/specs/rfc9110.html#fields.names */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Headers that a page must not set. https://fetch.spec.whatwg.org/#forbidden-request-header */
const FORBIDDEN_HEADERS = new Set([
  'accept-charset',
  'accept-encoding',
  'access-control-request-headers',
  'access-control-request-method',
  'connection',
  'content-length',
  'cookie',
  'cookie2',
  'date',
  'dnt',
  'expect',
  'host',
  'keep-alive',
  'origin',
  'referer',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
]);

/**
 * A request of a page, checked.
 *
 * @typedef {object} PageRequest
 * @property {string} url
 * @property {string} method
 * @property {[string, string][]} headers
 * @property {'same-origin' | 'no-cors' | 'cors'} mode
 * @property {'omit' | 'same-origin' | 'include'} credentials
 * @property {'follow' | 'error' | 'manual'} redirect
 * @property {string} destination
 * @property {string} referrer as the page claims it, see fetch/referrer.cjs
 * @property {string} integrity
 * @property {boolean} usesPreflight
 * @property {boolean} keepalive whether it outlives the document
 * @property {number} window the frame of the window that makes it
 * @property {string} initiator as Resource Timing names it
 * @property {Uint8Array | null} body
 */

/**
 * @template {string} Value
 * @param {readonly Value[]} values
 * @param {unknown} value
 * @param {Value} fallback
 * @returns {Value}
 */
function oneOf(values, value, fallback) {
  return values.find((known) => known === value) ?? fallback;
}

/** @param {unknown} value */
function toCredentials(value) {
  return oneOf(CREDENTIALS, value, 'same-origin');
}

/** How many headers a request may have. Node's servers read 2,000. */
const MAX_HEADERS = 1_000;

/** Headers by which some servers take a request for one with another method. */
const METHOD_HEADERS = new Set(['x-http-method', 'x-http-method-override', 'x-method-override']);
const FORBIDDEN_METHOD = /^\s*(connect|trace|track)\s*$/i;

/** @param {string} name @param {string} value */
function isForbidden(name, value) {
  const key = name.toLowerCase();
  if (METHOD_HEADERS.has(key)) return value.split(',').some((method) => FORBIDDEN_METHOD.test(method));
  return FORBIDDEN_HEADERS.has(key) || key.startsWith('proxy-') || key.startsWith('sec-');
}

/** @param {unknown} value @returns {[string, string][]} the headers that a page may send */
function readHeaders(value) {
  if (!Array.isArray(value)) return [];
  if (value.length > MAX_HEADERS) throw new Error(`a request may have no more than ${MAX_HEADERS} headers`);
  return value
    .map(([name, content]) => /** @type {[string, string]} */ ([String(name), String(content)]))
    .filter(([name, content]) => TOKEN.test(name) && !/[\0\r\n]/.test(content) && !isForbidden(name, content));
}

/**
 * @param {unknown} text JSON of a request
 * @returns {PageRequest}
 */
function readPageRequest(text) {
  // It is not converted: that would run code of a page.
  if (typeof text !== 'string') throw new TypeError('a request is text');
  const request = JSON.parse(text);
  // Node sends methods in upper case, so what is checked must be as well.
  const method = normalizedMethod(String(request.method ?? 'GET'));
  if (!TOKEN.test(method) || FORBIDDEN_METHOD.test(method))
    throw new Error(`a page cannot send a request with the method ${method}`);
  const mode = oneOf(MODES, request.mode, 'no-cors');
  const headers = readHeaders(request.headers);
  return {
    url: String(request.url),
    method,
    // https://fetch.spec.whatwg.org/#concept-headers-guard `request-no-cors`
    headers: mode === 'no-cors' ? noCorsHeaders(headers) : headers,
    mode,
    credentials: toCredentials(request.credentials),
    redirect: oneOf(REDIRECTS, request.redirect, 'follow'),
    destination: oneOf(DESTINATIONS, request.destination, ''),
    referrer: String(request.referrer ?? ''),
    integrity: String(request.integrity ?? ''),
    usesPreflight: request.usesPreflight === true,
    keepalive: request.keepalive === true,
    window: Number(request.window),
    initiator: String(request.initiator ?? 'other'),
    body: null,
  };
}

module.exports = { oneOf, readPageRequest, toCredentials };
