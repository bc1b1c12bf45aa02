'use strict';

// `node --import selfprof/register/timing app.mjs` (or --require): puts the timing interfaces on globalThis, in place of
// Node's, in the main thread and in its workers. The profiler is not begun.

const { defineGlobals } = require('../lib/timing/globals.cjs');
const { performance, ...interfaces } = require('../lib/timing/node.cjs').timing;

defineGlobals(globalThis, performance, interfaces);
