'use strict';

// What a window may know about a fetch, in times of its own clock. This is decided here, so that finer times and the
// times of other origins never enter a realm that a page can look into.
// https://w3c.github.io/resource-timing/#dfn-setup-the-resource-timing-entry

const { clockResolution } = require('../fetch/clock-resolution.cjs');

/** @typedef {import('../fetch/fetch-timing.cjs').FetchTiming} FetchTiming */
/** @typedef {import('../window/contracts.js').FetchDescription} FetchDescription */

/** Times that a response of another origin hides unless it allows more. */
const TIMES = /** @type {const} */ ([
  'redirectStart',
  'redirectEnd',
  'domainLookupStart',
  'domainLookupEnd',
  'connectStart',
  'connectEnd',
  'secureConnectionStart',
  'requestStart',
  'responseStart',
]);

/** What is shown of a response that hides everything but how long it took. */
const HIDDEN = {
  redirectStart: 0,
  redirectEnd: 0,
  domainLookupStart: 0,
  domainLookupEnd: 0,
  connectStart: 0,
  connectEnd: 0,
  secureConnectionStart: 0,
  requestStart: 0,
  responseStart: 0,
  redirectCount: 0,
  protocol: '',
  status: 0,
  encodedSize: 0,
  decodedSize: 0,
  transferSize: 0,
  contentType: '',
  contentEncoding: '',
};

/**
 * @typedef {object} Clock
 * @property {number} origin on the clock that threads share, in milliseconds
 * @property {number} resolution in microseconds
 */

/**
 * The clock of a window.
 *
 * @param {{ isIsolated: boolean }} window
 * @param {number} origin
 * @returns {Clock}
 */
function clockOf({ isIsolated }, origin) {
  return { origin, resolution: clockResolution(isIsolated) };
}

/** @param {Clock} clock @returns {(time: number) => number} https://w3c.github.io/hr-time/#dfn-coarsen-time */
function reader({ origin, resolution }) {
  return (time) => (Math.max(0, Math.floor(((time - origin) * 1e3) / resolution)) * resolution) / 1e3;
}

/**
 * Describes the fetch of a resource.
 *
 * @param {FetchTiming} timing
 * @param {Clock} clock
 * @returns {FetchDescription & { startTime: number }}
 */
function describeResource(timing, clock) {
  const read = reader(clock);
  const startTime = read(timing.startTime);
  const responseEnd = read(timing.responseEnd);
  if (!timing.isAllowed) return { ...HIDDEN, startTime, fetchStart: startTime, responseEnd };
  const described = { ...measured(timing, read), startTime, fetchStart: read(timing.fetchStart), responseEnd };
  // A server that lets all know the times does not give away its responses.
  return timing.isReadable ? described : { ...described, status: 0, contentType: '' };
}

/**
 * Describes the fetch of a document. Redirects of another origin that led to it are hidden.
 *
 * @param {FetchTiming | undefined} timing
 * @param {Clock} clock
 * @returns {FetchDescription | undefined}
 */
function describeNavigation(timing, clock) {
  if (timing === undefined) return undefined;
  const read = reader(clock);
  const described = {
    ...measured(timing, read),
    fetchStart: read(timing.fetchStart),
    responseEnd: read(timing.responseEnd),
  };
  if (timing.hasForeignRedirects) Object.assign(described, { redirectStart: 0, redirectEnd: 0, redirectCount: 0 });
  return described;
}

/**
 * @param {FetchTiming} timing
 * @param {(time: number) => number} read
 */
function measured(timing, read) {
  const { redirectCount, protocol = '', status = 0, contentType = '', contentEncoding = '' } = timing;
  const { encodedSize = 0, decodedSize = 0, transferSize = 0 } = timing;
  const described = {
    ...HIDDEN,
    redirectCount: redirectCount ?? 0,
    protocol,
    status,
    encodedSize,
    decodedSize,
    transferSize,
    contentType,
    contentEncoding,
  };
  for (const name of TIMES) {
    const time = timing[name];
    if (time !== undefined) described[name] = read(time);
  }
  return described;
}

module.exports = { TIMES, clockOf, describeNavigation, describeResource };
