'use strict';

// `require('selfprof/lazy')`: the same as 'selfprof', but V8 logs code only while a profiler runs. This is the
// counterpart of the Document-Policy `js-profiling-mode=lazy`. The entry point that a thread loads first decides.

require('./src/agent.cjs').ensureAgent({ mode: 'lazy' });

module.exports = require('./index.cjs');
