'use strict';

// How many contexts a thread has whose windows are closed: what keeps one of them keeps all of its document.

const v8 = require('node:v8');
const vm = require('node:vm');

/** With more contexts than this, garbage is collected before they are counted. It takes some 20 ms, and is rarely needed. */
const MAX_UNCOLLECTED = 8;

/** @type {(() => void) | undefined} */
let collectGarbage;

function gc() {
  if (collectGarbage === undefined) {
    // Only this context gets the function.
    v8.setFlagsFromString('--expose-gc');
    collectGarbage = vm.runInNewContext('gc');
    v8.setFlagsFromString('--no-expose-gc');
  }
  /** @type {() => void} */ (collectGarbage)();
}

function remainingContexts() {
  const count = () => v8.getHeapStatistics().number_of_native_contexts;
  if (count() > MAX_UNCOLLECTED) gc();
  return count();
}

module.exports = { remainingContexts };
