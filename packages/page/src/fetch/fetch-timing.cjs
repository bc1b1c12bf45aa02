'use strict';

// When the parts of a fetch began and ended, for Resource Timing and Navigation Timing. All times are milliseconds on
// the monotonic clock that all threads of a process share. https://fetch.spec.whatwg.org/#fetch-timing-info

/**
 * Timing of one HTTP request. Times that are missing are unknown, or the phase did not take place.
 *
 * @typedef {object} RequestTiming
 * @property {number} fetchStart
 * @property {number} responseEnd
 * @property {number} [domainLookupStart]
 * @property {number} [domainLookupEnd]
 * @property {number} [connectStart]
 * @property {number} [connectEnd]
 * @property {number} [secureConnectionStart]
 * @property {number} [requestStart]
 * @property {number} [responseStart]
 * @property {string} [protocol]
 * @property {number} [encodedSize] in bytes
 */

/**
 * Timing of a fetch, with its redirects. `fetchStart` is of the last request.
 *
 * @typedef {object} FetchExtent
 * @property {number} startTime
 * @property {number} [redirectStart]
 * @property {number} [redirectEnd]
 * @property {number} redirectCount
 * @property {boolean} [hasForeignRedirects] whether a redirect crossed origins
 * @property {boolean} isAllowed whether the client may see more than the duration:
 *   https://fetch.spec.whatwg.org/#concept-tao-check
 * @property {boolean} [isReadable] whether the client may see the status and the type:
 *   https://fetch.spec.whatwg.org/#fetch-finale
 * @property {number} [status]
 * @property {number} [decodedSize] in bytes
 * @property {number} [transferSize] in bytes
 * @property {string} [contentType]
 * @property {string} [contentEncoding]
 */

/** @typedef {RequestTiming & FetchExtent} FetchTiming */

/** Now, in milliseconds. */
function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * The size that the headers of every response are counted as, in bytes.
 * https://w3c.github.io/resource-timing/#dom-performanceresourcetiming-transfersize
 */
const HEADERS_SIZE = 300;

/**
 * Records the times of one HTTP request as it proceeds.
 *
 * @param {import('node:http').ClientRequest} outgoing
 * @param {boolean} isSecure
 * @param {number} [fetchStart]
 * @returns {RequestTiming}
 */
function timeRequest(outgoing, isSecure, fetchStart = now()) {
  /** @type {RequestTiming} */
  const timing = { fetchStart, responseEnd: fetchStart };
  outgoing.once('socket', (socket) => {
    if (!socket.connecting) {
      // A connection that was reused: https://fetch.spec.whatwg.org/#clamp-and-coarsen-connection-timing-info
      Object.assign(timing, {
        domainLookupStart: fetchStart,
        domainLookupEnd: fetchStart,
        connectStart: fetchStart,
        connectEnd: fetchStart,
      });
      if (isSecure) timing.secureConnectionStart = fetchStart;
      timing.requestStart = now();
      return;
    }
    timing.domainLookupStart = now();
    const onLookup = () => {
      timing.domainLookupEnd = timing.connectStart = now();
    };
    onLookup();
    socket.once('lookup', onLookup);
    socket.once('connect', () => {
      timing.connectEnd = timing.requestStart = now();
      if (isSecure) timing.secureConnectionStart = timing.connectEnd;
    });
    socket.once('secureConnect', () => {
      timing.connectEnd = timing.requestStart = now();
    });
  });
  outgoing.once('response', () => {
    timing.responseStart = now();
  });
  return timing;
}

/**
 * Whether the client may see more than the duration of a request. https://fetch.spec.whatwg.org/#concept-tao-check
 *
 * @param {import('./headers.cjs').HeaderList} headers of the response
 * @param {{ isBasic: boolean, origin: string, isForeignNavigation: boolean }} request
 */
function mayRevealTiming(headers, { isBasic, origin, isForeignNavigation }) {
  const values = headers.filter(([name]) => name === 'timing-allow-origin').flatMap(([, value]) => value.split(','));
  if (values.some((value) => value.trim() === '*' || value.trim() === origin)) return true;
  return isBasic && !isForeignNavigation;
}

module.exports = { HEADERS_SIZE, mayRevealTiming, now, timeRequest };
