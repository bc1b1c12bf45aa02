'use strict';

// Threads of pages that V8 has given up, or that do not end. Where V8 would end the process for lack of memory, the thread of the page alone ends, at
// once: see crates/v8/shim/lost_threads.cc. Node does not notice that, and never finds that such a thread has ended.

const { isMainThread } = require('node:worker_threads');

const native = require('selfprof/internal/native.cjs');

/** How often the threads are looked at, in milliseconds. */
const INTERVAL = 100;

/** What to do when a thread is lost, by what it sets to 1 then. @type {Map<Int32Array, () => void>} */
const watched = new Map();

let isAnyLost = false;

/** Whether the end of the process leaves threads alone. */
let leavesThreads = false;

/** Whether the program has nothing left to do; and whether it ends with an error, which Node prints after the event `exit`. */
let isEnding = false;
let isFailing = false;

/** @type {NodeJS.Timeout | undefined} */
let timer;

function look() {
  for (const [lost, onLost] of watched) {
    if (Atomics.load(lost, 0) === 0) continue;
    isAnyLost = true;
    unwatch(lost);
    onLost();
  }
}

/**
 * When a program has nothing left to do, Node waits for threads that may not end, and fails with an error when it tears down the program of one that
 * was lost. So the process ends as by `process.exit()`, which tears down nothing, when the listeners after this one have run.
 *
 * @param {number} code
 */
function leave(code) {
  if (isFailing || (watched.size === 0 && !isAnyLost)) return;
  const listeners = process.listeners('exit');
  try {
    for (const listener of listeners.slice(listeners.indexOf(leave) + 1)) Reflect.apply(listener, process, [code]);
  } catch (error) {
    // Node would go on to tear down the program. An exception of `process.exit()` goes to its caller.
    if (!isEnding || !isHandled()) throw error;
    internals._fatalException(error);
  }
  internals.reallyExit(Number(process.exitCode ?? code));
}

/** What Node itself calls, and does not document. @type {any} */
const internals = process;

/** Whether the program goes on after an error that it does not catch. */
function isHandled() {
  return process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback();
}

function beforeExit() {
  process.off('exit', leave);
  process.prependListener('exit', leave);
  isEnding = true;
  // Unless a listener has found something to do.
  setImmediate(() => {
    isEnding = false;
  }).unref();
}

function onUncaught() {
  isFailing = !isHandled();
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
  watched.set(lost, onLost);
  return lost;
}

/** @param {Int32Array | undefined} lost of a thread that has ended */
function unwatch(lost) {
  if (lost === undefined || !watched.delete(lost) || watched.size > 0) return;
  clearInterval(timer);
  if (!isAnyLost) listen('off');
}

module.exports = { unwatch, watchLoss };
