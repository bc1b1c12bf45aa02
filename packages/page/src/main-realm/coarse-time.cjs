'use strict';

/**
 * A time as pages may know it. https://w3c.github.io/hr-time/#dfn-coarsen-time
 *
 * @param {number} time in milliseconds
 * @param {boolean} isIsolated
 */
function coarsened(time, isIsolated) {
  const perMillisecond = isIsolated ? 200 : 10;
  return Math.floor(time * perMillisecond) / perMillisecond;
}

module.exports = { coarsened };
