'use strict';

/**
 * A request of a page, as jsdom and our own modules in windows make it: `Headers` and `XMLHttpRequest` of jsdom decide which headers a page may send.
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
 * @property {import('../windows/page-window.cjs').PageWindow} window that makes it
 * @property {string} [initiator] as Resource Timing names it
 */

/** A request with its defaults. @param {RequestOfPage} request */
function toPageRequest({ mode = 'no-cors', ...request }) {
  return {
    method: 'GET',
    headers: [],
    credentials: /** @type {const} */ ('same-origin'),
    destination: '',
    initiator: 'other',
    integrity: '',
    redirect: /** @type {const} */ ('follow'),
    referrer: '',
    mode,
    ...request,
  };
}

module.exports = { toPageRequest };
