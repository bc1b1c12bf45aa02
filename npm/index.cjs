'use strict';

// `require('selfprof')`: the profiler, on an agent in the mode that SELFPROF_PROFILING_MODE says, eager by default; and the
// interfaces of High Resolution Time, Performance Timeline and User Timing.

const { mode } = require('./lib/agent.cjs').begin();
const { Profiler, warmUp } = require('./lib/profiler.cjs');
const { profileThreads } = require('./lib/threads.cjs');
const { withMarker } = require('./lib/with-marker.cjs');

if (mode === 'eager') warmUp();

exports.Profiler = Profiler;
exports.profileThreads = profileThreads;
exports.withMarker = withMarker;

// Who wants the profiler alone does not load them.
for (const name of [
  'performance',
  'Performance',
  'PerformanceEntry',
  'PerformanceMark',
  'PerformanceMeasure',
  'PerformanceObserver',
  'PerformanceObserverEntryList',
]) {
  Object.defineProperty(exports, name, { get: () => require('./lib/timing/node.cjs').timing[name], enumerable: true });
}
