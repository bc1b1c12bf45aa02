'use strict';

// `require('selfprof')`: the profiler, and the interfaces of High Resolution Time, Performance Timeline and User
// Timing.

const { mode } = require('./src/agent.cjs').ensureAgent();
const { Profiler, warmUp } = require('./src/profiler.cjs');
const { profileThreads } = require('./src/threads.cjs');
const { withMarker } = require('./src/with-marker.cjs');

if (mode === 'eager') warmUp();

/** Loaded on first use: most programs need the profiler alone. */
const timing = () => require('./src/timing/node.cjs').timing;

/** @type {typeof import('./index.js')} */
const api = {
  // test/index.types.ts compares the class with its declaration; here, private members would keep them apart.
  Profiler: /** @type {typeof import('./index.js').Profiler} */ (/** @type {unknown} */ (Profiler)),
  profileThreads,
  withMarker,
  get performance() {
    return timing().performance;
  },
  get Performance() {
    return timing().Performance;
  },
  get PerformanceEntry() {
    return timing().PerformanceEntry;
  },
  get PerformanceMark() {
    return timing().PerformanceMark;
  },
  get PerformanceMeasure() {
    return timing().PerformanceMeasure;
  },
  get PerformanceObserver() {
    return timing().PerformanceObserver;
  },
  get PerformanceObserverEntryList() {
    return timing().PerformanceObserverEntryList;
  },
};

module.exports = api;
