'use strict';

// What a window is told of a fetch: what it may know of it, as readings of its own clock. It is decided here, in the main realm:
// finer times, and those of others, never enter a realm that a page can look into.
// https://w3c.github.io/resource-timing/#dfn-setup-the-resource-timing-entry

const TIMES = [
  'redirectStart', 'redirectEnd', 'domainLookupStart', 'domainLookupEnd', 'connectStart', 'connectEnd', 'secureConnectionStart',
  'requestStart', 'responseStart',
];

const NOTHING = { redirectCount: 0, protocol: '', status: 0, encodedSize: 0, decodedSize: 0, transferSize: 0, contentType: '', contentEncoding: '' };

/**
 * @typedef {object} Clock
 * @property {number} origin on the clock that threads share, in milliseconds
 * @property {number} resolution in microseconds
 */

/** @returns {(time: number) => number} https://w3c.github.io/hr-time/#dfn-coarsen-time */
function reader({ origin, resolution }) {
  return (time) => (Math.max(0, Math.floor(((time - origin) * 1e3) / resolution)) * resolution) / 1e3;
}

/** Of a resource: of one of another origin that does not allow more, how long it took in all. */
function describeResource(timing, clock) {
  const read = reader(clock);
  const times = { startTime: read(timing.startTime), fetchStart: read(timing.fetchStart), responseEnd: read(timing.responseEnd) };
  if (!timing.isAllowed) {
    for (const name of TIMES) times[name] = 0;
    return { ...NOTHING, ...times, fetchStart: times.startTime };
  }
  return { ...measured(timing, read), ...times };
}

/** Of the document: what led to it on another origin is not its own. */
function describeNavigation(timing, clock) {
  const read = reader(clock);
  if (timing === undefined) return undefined;
  const described = { ...measured(timing, read), fetchStart: read(timing.fetchStart), responseEnd: read(timing.responseEnd) };
  if (timing.hasForeignRedirects) Object.assign(described, { redirectStart: 0, redirectEnd: 0, redirectCount: 0 });
  return described;
}

function measured(timing, read) {
  const described = { ...NOTHING };
  for (const name of TIMES) described[name] = timing[name] === undefined ? 0 : read(timing[name]);
  for (const name of Object.keys(NOTHING)) described[name] = timing[name] ?? NOTHING[name];
  return described;
}

module.exports = { describeNavigation, describeResource };
