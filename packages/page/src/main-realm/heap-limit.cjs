'use strict';

// A flag of V8 for the size of heaps takes the place of the limit that a thread is started with. The host takes such flags back, see
// host/node-flags.cjs, but a program can set one while a thread is being started.

const { getHeapStatistics } = require('node:v8');

/** What V8 adds for objects that are young, at most, in megabytes. */
const YOUNG = 512;

/** @param {number} memoryLimit in megabytes @throws {Error} when the heap of this thread may be larger */
function checkHeapLimit(memoryLimit) {
  const megabytes = getHeapStatistics().heap_size_limit / 2 ** 20;
  if (megabytes > memoryLimit + YOUNG)
    throw new Error(
      `the heap of the page may have ${Math.round(megabytes)} MB, because the program has set a flag of V8 for the size of heaps meanwhile`,
    );
}

module.exports = { checkHeapLimit };
