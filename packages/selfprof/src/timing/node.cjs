'use strict';

// The timing interfaces of Node's own global object. They share the time origin of `node:perf_hooks`, and pass on what
// only Node can record: entries of other types, the utilization of its event loop, the milestones of its start.

const perfHooks = require('node:perf_hooks');

const { timeOrigin } = require('../agent.cjs');
const { addSource } = require('../entries.cjs');
const profiling = require('../start-profiling.cjs');
const { makeTiming } = require('./create.cjs');
const { defineInspection } = require('./inspection.cjs');
const { extension, forwardEvents, milestone, source } = require('./node-entries.cjs');
const { queueTask, reportException } = require('./node-tasks.cjs');

const made = makeTiming({
  origin: timeOrigin(),
  timeOrigin: perfHooks.performance.timeOrigin,
  // All code of a process has one owner, so a fine clock gives nothing away.
  resolution: 5,
  limits: {},
  intrinsics: {},
  queueTask,
  reportException,
  source,
  milestone,
  extensions: [extension, profiling.extension],
});
// The extensions add the members of NodePerformance.
const timing = /** @type {import('../../timing.js').Timing<import('./node.js').NodePerformance>} */ (made.timing);
defineInspection(timing);
forwardEvents(timing.performance);
// For `includeEntries` and `selfprof run --marks`.
addSource({ observe: (sink) => ({ flush() {}, stop: made.observation.listen(sink) }) });

module.exports = { timing };
