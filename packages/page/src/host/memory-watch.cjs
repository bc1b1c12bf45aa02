'use strict';

// Limits the memory of a thread outside of V8's heap, to which the limit of the heap does not apply. The user's thread polls for the size of the thread's
// buffers, and of those that the threads of its page share. That works even while the thread is in an endless loop. While it is in a function of V8 that
// is not interrupted, as in the optimizing compiler, its part of the process's memory is looked at.

const fs = require('node:fs');
const { clearInterval, setInterval } = require('node:timers');

const native = require('selfprof/internal/native.cjs');

/** How often, in milliseconds. */
const INTERVAL = 100;

/** What a thread may take in one function of V8, in bytes, beside its heap and its buffers. */
const LEEWAY = 1 << 30;

/** The least that is used for the first time at once, in bytes. */
const PAGE = 4_096;

/** The workers that are watched. @type {Set<import('node:worker_threads').Worker>} */
const watched = new Set();

/**
 * The minor page faults so far: each is for memory that is used for the first time. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
 *
 * @param {string} folder in /proc, of a process or a thread
 */
function countFaults(folder) {
  const text = fs.readFileSync(`${folder}/stat`, 'utf8');
  // The name before that may have anything in it.
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[7]);
}

/** The memory of the process in bytes, and the page faults of a thread and of all threads. @param {number} tid */
function measure(tid) {
  return {
    own: countFaults(`/proc/self/task/${tid}`),
    all: countFaults('/proc/self'),
    bytes: process.memoryUsage.rss(),
  };
}

/**
 * @param {import('node:worker_threads').Worker} worker
 * @param {object} limited
 * @param {number} limited.limit in bytes
 * @param {number} limited.page the number of the page whose shared memory counts
 * @param {Int32Array} [limited.lost] see `watchLoss`
 * @param {() => void} onExceeded called once, when the thread can be asked to end. Otherwise V8 loses it.
 * @returns {() => void} stops watching
 */
function watchMemory(worker, { limit, page, lost }, onExceeded) {
  let isPolling = false;
  let isExceeded = false;
  /** Since the thread does not answer. @type {ReturnType<typeof measure> | undefined} */
  let before;

  /** @param {Int32Array} list */
  const lookInside = (list) => {
    try {
      const now = measure(Atomics.load(list, 1));
      before ??= now;
      const own = now.own - before.own;
      const part = own / Math.max(now.all - before.all, 1);
      const grown = now.bytes - before.bytes;
      // Other threads can cause more faults, and where pages are huge each is for more than this.
      if (Math.min(grown, Math.max(grown * part, own * PAGE)) > 2 * limit + LEEWAY) native.loseThread(list);
    } catch {
      // The thread has ended, or there is no /proc.
    }
  };
  const poll = async () => {
    if (isPolling) {
      if (lost !== undefined) lookInside(lost);
      return;
    }
    isPolling = true;
    let exceedsNow = false;
    try {
      const { external_memory: bytes } = await worker.getHeapStatistics();
      const isFull = bytes > limit || native.sharedMemory(page) > limit;
      if (!isFull || isExceeded || !watched.has(worker)) return;
      isExceeded = true;
      exceedsNow = true;
    } catch {
      // The worker has ended.
    } finally {
      isPolling = false;
      before = undefined;
    }
    if (exceedsNow) onExceeded();
  };
  const timer = setInterval(poll, INTERVAL);
  timer.unref();
  watched.add(worker);
  return () => {
    clearInterval(timer);
    watched.delete(worker);
  };
}

module.exports = { watchMemory, watched };
