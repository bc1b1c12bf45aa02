'use strict';

// Stands in for `node:perf_hooks` in a window's realm. All marks and measures come from the window's own `performance`,
// which window-timing.cjs adds as a source.

const { now } = require('selfprof:host');

exports.performance = { now: () => now() };

exports.PerformanceObserver = class PerformanceObserver {
  observe() {}
  disconnect() {}
  takeRecords() {
    return [];
  }
};
