'use strict';

// `node --import selfprof/register/timing app.mjs` (or --require): replaces Node's timing interfaces on globalThis, in
// the main thread and in its workers. Does not set up the profiler.

const { defineGlobals } = require('../src/timing/globals.cjs');
const { performance, ...interfaces } = require('../src/timing/node.cjs').timing;

defineGlobals(globalThis, performance, interfaces);
