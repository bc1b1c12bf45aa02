'use strict';

// Requests that pages make: which methods and headers a page may send. https://fetch.spec.whatwg.org/#forbidden-request-header

const { isForbiddenRequestHeader } = require('jsdom/lib/jsdom/living/fetch/header-types.js');
const { noCorsHeaders } = require('../fetch/cors.cjs');
const { normalizedMethod } = require('../fetch/request-methods.cjs');

/** https://httpwg.org/specs/rfc9110.html#fields.names */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

const FORBIDDEN_METHOD = /^(connect|trace|track)$/i;

/**
 * A request of a page, as jsdom and our own modules in windows make it.
 *
 * @typedef {object} RequestOfPage
 * @property {string} url
 * @property {string} [method]
 * @property {[string, string][]} [headers]
 * @property {'same-origin' | 'no-cors' | 'cors'} [mode]
 * @property {'omit' | 'same-origin' | 'include'} [credentials]
 * @property {'follow' | 'error' | 'manual'} [redirect]
 * @property {string} [destination]
 * @property {string} [referrer]
 * @property {string} [integrity]
 * @property {boolean} [usesPreflight]
 * @property {boolean} [keepalive] whether it outlives the document
 * @property {import('./page-window.cjs').PageWindow} window that makes it
 * @property {string} [initiator] as Resource Timing names it
 */

/** jsdom's list lacks `Set-Cookie`. @param {string} name @param {string} value */
function isForbidden(name, value) {
  return isForbiddenRequestHeader(name, value) || name.toLowerCase() === 'set-cookie';
}

/**
 * A request with its defaults, and without the headers that a page must not send.
 *
 * @param {RequestOfPage} request
 * @throws {Error} when a page must not send it
 */
function toPageRequest({ method: given = 'GET', headers: all = [], mode = 'no-cors', ...request }) {
  const method = normalizedMethod(given);
  if (!TOKEN.test(method) || FORBIDDEN_METHOD.test(method))
    throw new Error(`a page cannot send a request with the method ${method}`);
  const headers = all
    .map(([name, value]) => /** @type {[string, string]} */ ([name, value]))
    .filter(([name, value]) => TOKEN.test(name) && !/[\0\r\n]/.test(value) && !isForbidden(name, value));
  return {
    credentials: /** @type {const} */ ('same-origin'),
    destination: '',
    initiator: 'other',
    integrity: '',
    redirect: /** @type {const} */ ('follow'),
    referrer: '',
    ...request,
    method,
    mode,
    // https://fetch.spec.whatwg.org/#concept-headers-guard `request-no-cors`
    headers: mode === 'no-cors' ? noCorsHeaders(headers) : headers,
  };
}

module.exports = { toPageRequest };
