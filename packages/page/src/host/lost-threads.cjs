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

/** Whether a thread was lost. */
let isAnyLost = false;

/** Whether the program has nothing left to do; and whether it ends with an error, which Node prints after the event `exit`. */
let isEnding = false;
let isFailing = false;

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
 * Node would wait for a thread that does not end, and fail with an error when it tears down the program of one that was lost. The latter can also
 * happen while it does that, but not in `process.exit()`, which tears down nothing.
 *
 * @param {number} code
 */
function leave(code) {
  look();
  const cannotWait = isAnyLost || [...watched.values()].some(({ isAskedToEnd }) => isAskedToEnd);
  if (isFailing) {
    if (cannotWait) native.exitAfterError(code);
    return;
  }
  if (cannotWait) {
    // The program's own listeners that come after this one.
    const listeners = process.listeners('exit');
    for (const listener of listeners.slice(listeners.indexOf(leave) + 1)) Reflect.apply(listener, process, [code]);
    native.exitNow(Number(process.exitCode ?? code));
  }
  if (isEnding && watched.size > 0) process.exit();
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

function onUncaught() {
  isFailing = process.listenerCount('uncaughtException') === 0 && !process.hasUncaughtExceptionCaptureCallback();
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
  if (thread !== undefined) thread.isAskedToEnd = true;
}

/** @param {Int32Array | undefined} lost of a thread that has ended */
function unwatch(lost) {
  if (lost === undefined || !watched.delete(lost) || watched.size > 0) return;
  clearInterval(timer);
  if (!isAnyLost) listen('off');
}

module.exports = { expectEnd, unwatch, watchLoss };
