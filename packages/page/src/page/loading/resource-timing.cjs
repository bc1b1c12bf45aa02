'use strict';

// What a window may know about a fetch, in times of its own clock. This is decided here, so that finer times and the
// times of other origins never enter a realm that a page can look into.
// https://w3c.github.io/resource-timing/#dfn-setup-the-resource-timing-entry

const { coarsened } = require('../thread/coarse-time.cjs');

/** @typedef {import('../../fetch/fetch-timing.cjs').FetchTiming} FetchTiming */
/** @typedef {import('../../window/contracts.js').FetchDescription} FetchDescription */

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
  .../** @type {Record<typeof TIMES[number], number>} */ (Object.fromEntries(TIMES.map((name) => [name, 0]))),
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
 * The window whose clock shows the times.
 *
 * @typedef {Pick<import('../windows/page-window.cjs').PageWindow, 'isIsolated' | 'realm'>} ClockOwner
 */

/** @param {ClockOwner} window @returns {(time: number) => number} */
function clockOf({ isIsolated, realm: { timeOrigin } }) {
  return (time) => Math.max(0, coarsened(time - timeOrigin, isIsolated));
}

/**
 * Describes the fetch of a resource.
 *
 * @param {FetchTiming} timing
 * @param {ClockOwner} window
 * @returns {FetchDescription & { startTime: number }}
 */
function describeResource(timing, window) {
  const read = clockOf(window);
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
 * @param {ClockOwner} window
 * @returns {FetchDescription | undefined}
 */
function describeNavigation(timing, window) {
  if (timing === undefined) return undefined;
  const read = clockOf(window);
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
  /** @type {Record<string, any>} */
  const described = { ...HIDDEN };
  for (const [name, value] of Object.entries(timing)) {
    if (value === undefined || !Object.hasOwn(HIDDEN, name)) continue;
    described[name] = TIMES.includes(/** @type {any} */ (name)) ? read(/** @type {number} */ (value)) : value;
  }
  return /** @type {typeof HIDDEN} */ (described);
}

module.exports = { TIMES, describeNavigation, describeResource };
