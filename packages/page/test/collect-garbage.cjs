'use strict';

// Loaded into a page's thread before all else: collects garbage there when the test asks for it. Pages have no `gc()`.

const { parentPort } = require('node:worker_threads');

const { gc } = globalThis;

parentPort.on('message', ({ collected }) => {
  gc();
  Atomics.add(collected, 0, 1);
});
parentPort.unref();
