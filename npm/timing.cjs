'use strict';

// `require('selfprof/timing')`: the timing interfaces for a host's global objects, such as the windows of a page host.

const { createTiming } = require('./lib/timing/page-host.cjs');

exports.createTiming = createTiming;
