'use strict';

// `node --import selfprof/register app.mjs` (or --require): defines `Profiler` on globalThis, where browsers have it,
// in the main thread and in its workers.

const { Profiler } = require('./index.cjs');

// The attributes that WebIDL gives an interface object.
Object.defineProperty(globalThis, 'Profiler', {
  value: Profiler,
  writable: true,
  enumerable: false,
  configurable: true,
});
