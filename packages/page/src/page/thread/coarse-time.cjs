'use strict';

const { clockResolution } = require('../../fetch/clock-resolution.cjs');

/**
 * A time as pages may know it. https://w3c.github.io/hr-time/#dfn-coarsen-time
 *
 * @param {number} time in milliseconds
 * @param {boolean} isIsolated
 */
function coarsened(time, isIsolated) {
  const perMillisecond = 1e3 / clockResolution(isIsolated);
  return Math.floor(time * perMillisecond) / perMillisecond;
}

module.exports = { coarsened };
