'use strict';

// Stands for `node:perf_hooks` in a window's realm: marks and measures are made by the window's own `performance` alone,
// which timing.cjs adds as a source.

const { now } = require('selfprof:host');

exports.performance = { now: () => now() };

exports.PerformanceObserver = class PerformanceObserver {
  observe() {}
  disconnect() {}
  takeRecords() {
    return [];
  }
};
