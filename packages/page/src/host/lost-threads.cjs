'use strict';

// Threads of pages that V8 has given up, or that do not end. Where V8 would end the process for lack of memory, the thread of the page alone ends, at
// once: see crates/v8/shim/lost_threads.cc. Node does not notice that, and never finds that such a thread has ended.

const { isMainThread } = require('node:worker_threads');

const native = require('selfprof/internal/native.cjs');

/** How often the threads are looked at, in milliseconds. */
const INTERVAL = 100;

/**
 * A thread, until it has ended or is lost.
 *
 * @typedef {object} Watched
 * @property {() => void} onLost
 * @property {boolean} isAskedToEnd
 */

/** By what each sets to 1 when it is lost. @type {Map<Int32Array, Watched>} */
const watched = new Map();

let isAnyLost = false;

/** Whether the end of the process leaves such threads alone. */
let leavesThreads = false;

/** Whether the program has nothing left to do. */
let isEnding = false;

/** @type {NodeJS.Timeout | undefined} */
let timer;

function look() {
  for (const [lost, { onLost }] of watched) {
    if (Atomics.load(lost, 0) === 0) continue;
    isAnyLost = true;
    unwatch(lost);
    onLost();
  }
}

/**
 * When a program has nothing left to do, Node waits for threads that do not end, and fails with an error when it tears down the program of one that
 * was lost. `process.exit()` tears down nothing, but would skip the program's own listeners that come after this one.
 *
 * @param {number} code
 */
function leave(code) {
  if (!isEnding || (watched.size === 0 && !isAnyLost)) return;
  const listeners = process.listeners('exit');
  for (const listener of listeners.slice(listeners.indexOf(leave) + 1)) Reflect.apply(listener, process, [code]);
  reallyExit(code);
}

/** What `process.exit()` does after the event `exit`. @param {number} code unless the program has set one */
function reallyExit(code) {
  /** @type {any} */ (process).reallyExit(Number(process.exitCode ?? code));
}

/** The listeners of the program come first, also those that it has added later. */
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
 * Node prints the error that ends a program after the event `exit`. But where a listener of that event has thrown and the program handles the
 * error, Node goes on to tear down the program.
 */
function onUncaught() {
  const isHandled = isEnding && process.listenerCount('uncaughtException') > 0;
  if (isHandled && /** @type {any} */ (process)._exiting && (watched.size > 0 || isAnyLost))
    process.once('uncaughtException', () => reallyExit(0));
  isEnding = false;
}

/** @param {'on' | 'off'} what */
function listen(what) {
  process[what]('beforeExit', beforeExit);
  process[what]('exit', leave);
  process[what]('uncaughtExceptionMonitor', onUncaught);
}

/**
 * What a thread is to be started with. A host in a worker of its program gets nothing: only the end of the main thread can leave such threads alone.
 *
 * @param {() => void} onLost called once
 * @returns {Int32Array | undefined}
 */
function watchLoss(onLost) {
  if (!isMainThread) return undefined;
  if (!leavesThreads) native.leaveThreadsAtExit();
  leavesThreads = true;
  const lost = new Int32Array(new SharedArrayBuffer(4));
  if (watched.size === 0) {
    timer = setInterval(look, INTERVAL);
    timer.unref();
    // They are still there if a thread was lost.
    listen('off');
    listen('on');
  }
  watched.set(lost, { onLost, isAskedToEnd: false });
  return lost;
}

/** The thread is asked to end. @param {Int32Array | undefined} lost */
function expectEnd(lost) {
  const thread = lost && watched.get(lost);
  if (thread === undefined || thread.isAskedToEnd) return;
  thread.isAskedToEnd = true;
  native.countThreadsToLeave(1);
}

/** @param {Int32Array | undefined} lost of a thread that has ended */
function unwatch(lost) {
  const thread = lost && watched.get(lost);
  if (thread === undefined) return;
  watched.delete(/** @type {Int32Array} */ (lost));
  if (thread.isAskedToEnd) native.countThreadsToLeave(-1);
  if (watched.size > 0) return;
  clearInterval(timer);
  if (!isAnyLost) listen('off');
}

module.exports = { expectEnd, unwatch, watchLoss };
