'use strict';

// Threads of pages that V8 has given up, or that do not end. Where V8 would end the process, for lack of memory or stack or for an error of its own, the
// thread of the page alone ends, at once: see crates/v8/shim/lost_threads.cc. Node does not notice that, and never finds that such a thread has ended.

const { clearInterval, setImmediate, setInterval } = require('node:timers');
const { isMainThread } = require('node:worker_threads');

const native = require('selfprof/internal/native.cjs');

/** How often the threads are looked at, in milliseconds. */
const INTERVAL = 100;

/** Why V8 has given up, by the number that a thread that is lost sets: see crates/v8/shim/lost_threads.cc. */
const LOSSES = /** @type {const} */ ([undefined, 'memory', 'stack', 'error']);

/** @typedef {NonNullable<(typeof LOSSES)[number]>} Loss */

/** What to do when a thread is lost, by where it says so. @type {Map<Int32Array, (loss: Loss) => void>} */
const watched = new Map();

let isAnyLost = false;

/** Whether the program has nothing left to do. */
let isEnding = false;

/** What Node calls itself, and does not document. @type {any} */
const internals = process;

/** @type {NodeJS.Timeout | undefined} */
let timer;

function look() {
  for (const [lost, onLost] of watched) {
    const loss = LOSSES[Atomics.load(lost, 0)];
    if (loss === undefined) continue;
    isAnyLost = true;
    unwatch(lost);
    onLost(loss);
  }
}

/**
 * When a program has nothing left to do, Node waits for threads that may not end, and fails with an error when it tears down the program of one that
 * was lost. So the process ends as by `process.exit()`, which tears down nothing, as soon as all listeners of `exit` have run, with their promise jobs.
 *
 * @param {number} code
 */
function leave(code) {
  // The program can emit the event, too, and can go on when a listener has thrown in `process.exit()`.
  const isTold = process.listeners('beforeExit').includes(beforeExit);
  if (!internals._exiting || (isTold && !isEnding)) return;
  // Node takes no callbacks in this event, but runs them after it.
  internals._exiting = false;
  process.nextTick(end, code);
  internals._exiting = true;
}

/** @param {number} code unless the program has set one */
function end(code) {
  if (watched.size === 0 && !isAnyLost) return;
  internals._tickCallback();
  internals.reallyExit(Number(process.exitCode ?? code));
}

function beforeExit() {
  // After the event, whose listeners can call `process.exit()`. Node takes no callbacks once that was called, also if the program has gone on.
  const begin = () => {
    isEnding = true;
  };
  if (internals._exiting) begin();
  else process.nextTick(begin);
  // Unless a listener has found something to do.
  setImmediate(() => {
    isEnding = false;
  }).unref();
}

/** When a listener of `exit` has thrown, Node does nothing of that. It goes on to tear down the program, if that handles the error. @param {unknown} error */
function onUncaught(error) {
  const isHandled = process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback();
  if (!isEnding || !internals._exiting || !isHandled) return;
  isEnding = false;
  internals._fatalException(error);
  end(0);
}

/** @param {'on' | 'off'} what */
function listen(what) {
  process[what === 'on' ? 'prependListener' : 'off']('beforeExit', beforeExit);
  process[what]('exit', leave);
  process[what]('uncaughtExceptionMonitor', onUncaught);
}

/**
 * What a thread is to be started with. A host in a worker of its program gets nothing: only the end of the main thread can leave such threads alone.
 *
 * @param {(loss: Loss) => void} onLost called once
 * @returns {Int32Array | undefined}
 */
function watchLoss(onLost) {
  if (!isMainThread) return undefined;
  const lost = new Int32Array(new SharedArrayBuffer(8));
  if (watched.size === 0) {
    timer = setInterval(look, INTERVAL);
    timer.unref();
    native.leaveThreadsAtExit();
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
