'use strict';

// `require('selfprof')`: the standard class, on an agent in the mode that SELFPROF_PROFILING_MODE says, eager by default.

require('./lib/agent.cjs').begin();

exports.Profiler = require('./lib/profiler.cjs').Profiler;
