'use strict';

// Threads of pages that V8 has given up. Where it would end the process for lack of memory, the thread of the page alone ends, at once: see
// crates/v8/shim/lost_threads.cc. Node does not notice that, and never finds that such a thread has ended.

const { isMainThread } = require('node:worker_threads');

/** How often the threads are looked at, in milliseconds. */
const INTERVAL = 100;

/** What each thread that is watched sets to 1, and what is done then. @type {Map<Int32Array, () => void>} */
const watched = new Map();

/** Whether a thread was lost. */
let isAny = false;

/** @type {NodeJS.Timeout | undefined} */
let timer;

function look() {
  for (const [lost, onLost] of watched) {
    if (Atomics.load(lost, 0) === 0) continue;
    isAny = true;
    unwatch(lost);
    onLost();
  }
}

/** Whether the program has nothing left to do. */
let isEnding = false;

/** Where the program ends by itself, Node tears it down, and fails with an error if a thread was lost. `process.exit()` tears down nothing. */
function leave() {
  look();
  if (isEnding && isAny) process.exit();
}

/** The listeners of the program come first, even if it has added them later. */
function beforeExit() {
  process.off('exit', leave);
  process.on('exit', leave);
  isEnding = true;
  // Unless a listener has found something to do.
  setImmediate(() => {
    isEnding = false;
  }).unref();
}

/**
 * What a thread is to be started with. A host in a worker of its program gets nothing: only the end of the main thread can leave such threads alone.
 *
 * @param {() => void} onLost called once
 * @returns {Int32Array | undefined}
 */
function watchLoss(onLost) {
  if (!isMainThread) return undefined;
  const lost = new Int32Array(new SharedArrayBuffer(4));
  watched.set(lost, onLost);
  if (timer === undefined) {
    timer = setInterval(look, INTERVAL);
    timer.unref();
    process.off('beforeExit', beforeExit);
    process.on('beforeExit', beforeExit);
  }
  return lost;
}

/** @param {Int32Array | undefined} lost of a thread that has ended */
function unwatch(lost) {
  if (lost === undefined) return;
  watched.delete(lost);
  if (watched.size > 0) return;
  clearInterval(timer);
  timer = undefined;
  if (isAny) return;
  process.off('beforeExit', beforeExit);
  process.off('exit', leave);
}

module.exports = { unwatch, watchLoss };
