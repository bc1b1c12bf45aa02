'use strict';

// The clock of a global object: https://w3c.github.io/hr-time/#dfn-current-high-resolution-time

// The monotonic clock of `uv_hrtime`, which V8 stamps samples with too. Node reads it without leaving compiled code, which
// no addon's function can do. Taken here, before a program puts a fake one in its place.
const { hrtime } = process;

const SECOND_NS = 1e9;

/**
 * @param {number} originMs the time origin on the monotonic clock, in milliseconds
 * @param {5 | 100} resolutionUs to which times are coarsened
 * @returns {() => number} now, in milliseconds since the time origin: the multiple of the resolution at or before it
 */
function makeClock(originMs, resolutionUs) {
  const resolutionNs = resolutionUs * 1e3;
  const stepsPerSecond = SECOND_NS / resolutionNs;
  const stepsPerMs = stepsPerSecond / 1e3;
  // To the microsecond, as the time origins of profiles are.
  const originUs = Math.round(originMs * 1e3);
  const originSeconds = Math.floor(originUs / 1e6);
  const originNs = (originUs - originSeconds * 1e6) * 1e3;
  // One second more than there is, so that the nanoseconds stay positive, and below 2^31: this is integer arithmetic,
  // which is exact, and cheap.
  const sinceNs = SECOND_NS - originNs;
  const sinceSeconds = originSeconds + 1;
  return () => {
    const time = hrtime();
    const steps = (time[0] - sinceSeconds) * stepsPerSecond + (((time[1] + sinceNs) / resolutionNs) | 0);
    return steps / stepsPerMs;
  };
}

module.exports = { makeClock };
