'use strict';

// createTiming(): the timing interfaces for a global object that a host has made.

const { performance } = require('node:perf_hooks');

const { timeOrigin: nodeOrigin } = require('../agent.cjs');
const { makeTiming } = require('./create.cjs');
const { queueTask, reportException } = require('./node-tasks.cjs');

const MAX_LIMIT = 2 ** 32 - 1;

/**
 * @overload
 * @param {import('../../timing.js').TimingOptions & ({ window: true } | { timing: object, window?: true })} options
 * @returns {import('../../timing.js').WindowTiming}
 *
 * @overload
 * @param {import('../../timing.js').TimingOptions} [options]
 * @returns {import('../../timing.js').Timing}
 *
 * @param {import('../../timing.js').TimingOptions} [options]
 */
function createTiming(options = {}) {
  if (typeof options !== 'object' || options === null) throw new TypeError('selfprof: the options are not an object');
  const { crossOriginIsolated = false, intrinsics = {}, limits = {}, navigation = {}, timing = {} } = options;
  for (const [name, value] of Object.entries({ intrinsics, limits, navigation, timing })) {
    if (typeof value !== 'object' || value === null) throw new TypeError(`selfprof: ${name} is not an object`);
  }
  for (const name of /** @type {const} */ (['queueTask', 'reportException'])) {
    if (options[name] !== undefined && typeof options[name] !== 'function') {
      throw new TypeError(`selfprof: ${name} is not a function`);
    }
  }
  const resolution = crossOriginIsolated ? 5 : 100;
  const { origin, timeOrigin } = readOrigin(options, resolution);
  const window = options.window ?? options.timing !== undefined;
  return makeTiming({
    origin,
    timeOrigin,
    resolution,
    limits: { mark: readLimit('mark', limits.mark), measure: readLimit('measure', limits.measure) },
    intrinsics,
    queueTask: options.queueTask ?? queueTask,
    reportException: options.reportException ?? reportException,
    page: window ? { timing: options.timing ?? { navigationStart: timeOrigin }, navigation } : undefined,
  }).timing;
}

/**
 * The time origin on both clocks. When the host gives one, the other follows from
 * https://w3c.github.io/hr-time/#dfn-estimated-monotonic-time-of-the-unix-epoch, which all global objects of Node
 * share.
 *
 * @param {import('../../timing.js').TimingOptions} options
 * @param {number} resolution
 */
function readOrigin({ origin, timeOrigin }, resolution) {
  for (const [name, value] of Object.entries({ origin, timeOrigin })) {
    if (value !== undefined && !(Number.isFinite(value) && value >= 0)) {
      throw new TypeError(`selfprof: ${name} is not a time in milliseconds`);
    }
  }
  const epoch = performance.timeOrigin - nodeOrigin();
  const monotonic = origin ?? (timeOrigin === undefined ? nodeOrigin() + performance.now() : timeOrigin - epoch);
  const perMs = 1e3 / resolution;
  return { origin: monotonic, timeOrigin: timeOrigin ?? Math.floor((monotonic + epoch) * perMs) / perMs };
}

/**
 * @param {string} type
 * @param {number} [limit]
 */
function readLimit(type, limit = MAX_LIMIT) {
  if (limit === Infinity) return MAX_LIMIT;
  if (!Number.isInteger(limit) || limit < 0 || limit > MAX_LIMIT) {
    throw new RangeError(`selfprof: limits.${type} is not a number of entries`);
  }
  return limit;
}

module.exports = { createTiming };
