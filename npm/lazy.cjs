'use strict';

// `require('selfprof/lazy')`: as 'selfprof', but V8 starts to log code only while a profiler runs. The counterpart of
// the Document-Policy `js-profiling-mode=lazy`. Whichever entry point is loaded first in a thread decides.

require('./lib/agent.cjs').begin({ mode: 'lazy' });

module.exports = require('./index.cjs');
