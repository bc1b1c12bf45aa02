'use strict';

// `require('selfprof')`: the standard class, on an agent in the mode that SELFPROF_PROFILING_MODE says, eager by default.

const { mode } = require('./lib/agent.cjs').begin();
const { Profiler, warmUp } = require('./lib/profiler.cjs');
const { profileThreads } = require('./lib/threads.cjs');

if (mode === 'eager') warmUp();

exports.Profiler = Profiler;
exports.profileThreads = profileThreads;
