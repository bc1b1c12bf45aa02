'use strict';

// The timing interfaces of Node's own global object. They have the time origin of `node:perf_hooks`, and pass on what
// only Node can record: entries of other types, its event loop's utilization, its milestones.

const perfHooks = require('node:perf_hooks');

const { timeOrigin } = require('../agent.cjs');
const { addSource } = require('../entries.cjs');
const profiling = require('../start-profiling.cjs');
const { makeTiming } = require('./create.cjs');
const { defineInspection } = require('./inspection.cjs');
const { extension, forwardEvents, host, milestone } = require('./node-host.cjs');
const { queueTask, reportException } = require('./node-tasks.cjs');

const { timing, observation } = makeTiming({
  origin: timeOrigin(),
  timeOrigin: perfHooks.performance.timeOrigin,
  // A process has one owner, whom nobody spies on.
  resolution: 5,
  limits: {},
  intrinsics: {},
  queueTask,
  reportException,
  host,
  milestone,
  extensions: [extension, profiling.extension],
});
defineInspection(timing);
forwardEvents(timing.performance);
// For `includeEntries` and `selfprof run --marks`.
addSource({ observe: (sink) => ({ flush() {}, stop: observation.listen(sink) }) });

module.exports = { timing, observation };
