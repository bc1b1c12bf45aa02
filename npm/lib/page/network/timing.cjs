'use strict';

// When the parts of a fetch began and ended, for Resource Timing and Navigation Timing. All times are milliseconds on the clock
// that the threads of a process share. https://fetch.spec.whatwg.org/#fetch-timing-info

/**
 * What is known of a fetch. Times that are not there are not known, or did not happen.
 *
 * @typedef {object} FetchTiming
 * @property {number} startTime
 * @property {number} [redirectStart]
 * @property {number} [redirectEnd]
 * @property {number} redirectCount
 * @property {boolean} [hasForeignRedirects] whether another origin led to the last one
 * @property {number} fetchStart of the last request
 * @property {number} [domainLookupStart]
 * @property {number} [domainLookupEnd]
 * @property {number} [connectStart]
 * @property {number} [connectEnd]
 * @property {number} [secureConnectionStart]
 * @property {number} [requestStart]
 * @property {number} [responseStart]
 * @property {number} responseEnd
 * @property {boolean} isAllowed whether all of this may be told: https://fetch.spec.whatwg.org/#concept-tao-check
 * @property {string} [protocol]
 * @property {number} [status]
 * @property {number} [encodedSize] in bytes, as the others
 * @property {number} [decodedSize]
 * @property {number} [transferSize]
 * @property {string} [contentType]
 * @property {string} [contentEncoding]
 */

/** Now, in milliseconds. */
function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** How much the headers of a response are taken for, whatever they are. https://w3c.github.io/resource-timing/#dom-performanceresourcetiming-transfersize */
const HEADERS_SIZE = 300;

/**
 * Notes when one request over HTTP gets on.
 *
 * @param {import('node:http').ClientRequest} outgoing
 * @param {boolean} isSecure
 * @param {number} [fetchStart] when whoever asks for it began
 */
function timeRequest(outgoing, isSecure, fetchStart = now()) {
  const timing = { fetchStart };
  outgoing.once('socket', (socket) => {
    if (!socket.connecting) {
      // A connection that was there: https://fetch.spec.whatwg.org/#clamp-and-coarsen-connection-timing-info
      Object.assign(timing, { domainLookupStart: fetchStart, domainLookupEnd: fetchStart, connectStart: fetchStart, connectEnd: fetchStart });
      if (isSecure) timing.secureConnectionStart = fetchStart;
      timing.requestStart = now();
      return;
    }
    timing.domainLookupStart = now();
    const connecting = () => {
      timing.domainLookupEnd = timing.connectStart = now();
    };
    connecting();
    socket.once('lookup', connecting);
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
 * Whether the client may know more than that it took so long.
 *
 * @param {[string, string][]} headers of a response
 * @param {{ isBasic: boolean, origin: string, isForeignNavigation: boolean }} request
 */
function mayBeTold(headers, { isBasic, origin, isForeignNavigation }) {
  const values = headers.filter(([name]) => name === 'timing-allow-origin').flatMap(([, value]) => value.split(','));
  if (values.some((value) => value.trim() === '*' || value.trim() === origin)) return true;
  return isBasic && !isForeignNavigation;
}

module.exports = { HEADERS_SIZE, mayBeTold, now, timeRequest };
