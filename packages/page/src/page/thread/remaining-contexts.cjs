'use strict';

// How many contexts a thread has whose windows are closed: what keeps one of them keeps all of its document. V8 does
// not know how much that is, and collects them late.

const v8 = require('node:v8');
const vm = require('node:vm');

/** With more contexts than this, garbage is collected before they are counted, which takes some 20 ms. */
const MAX_UNCOLLECTED = 5;
/** So many windows of a document can be closed before garbage is collected. */
const MAX_CLOSED = 24;

let closed = 0;

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

/** A window of a document was closed that goes on, such as one of a frame. It is collected by and by. */
function windowClosed() {
  closed += 1;
  if (closed < MAX_CLOSED) return;
  closed = 0;
  // By then, no function of the window is being called.
  setImmediate(gc);
}

module.exports = { remainingContexts, windowClosed };
