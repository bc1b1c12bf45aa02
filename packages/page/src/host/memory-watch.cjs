'use strict';

// Limits the memory of a thread's buffers, and of those that the threads of its page share. They lie outside V8's heap, whose limit does not apply to them, so the user's thread polls for
// their size. That works even while the thread is in an endless loop.

const native = require('selfprof/internal/native.cjs');

/** How often, in milliseconds. */
const INTERVAL = 100;

/** The workers that are watched. @type {Set<import('node:worker_threads').Worker>} */
const watched = new Set();

/**
 * @param {import('node:worker_threads').Worker} worker
 * @param {{ limit: number, page: number }} limited the limit in bytes, and the number of the page whose shared memory counts
 * @param {() => void} onExceeded called once
 * @returns {() => void} stops watching
 */
function watchMemory(worker, { limit, page }, onExceeded) {
  let isPolling = false;
  const poll = async () => {
    if (isPolling) return;
    isPolling = true;
    try {
      const { external_memory: bytes } = await worker.getHeapStatistics();
      const isFull = bytes > limit || native.sharedMemory(page) > limit;
      if (!isFull || !watched.has(worker)) return;
      stop();
      onExceeded();
    } catch {
      // The worker has ended.
    } finally {
      isPolling = false;
    }
  };
  const timer = setInterval(poll, INTERVAL);
  timer.unref();
  const stop = () => {
    clearInterval(timer);
    watched.delete(worker);
  };
  watched.add(worker);
  return stop;
}

module.exports = { watchMemory, watched };
