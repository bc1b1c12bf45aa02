'use strict';

// Limits the memory of a thread's buffers. They lie outside V8's heap, whose limit does not apply to them, so the user's thread polls for
// their size. That works even while the thread is in an endless loop.

/** How often, in milliseconds. */
const INTERVAL = 100;

/** The workers that are watched. @type {Set<import('node:worker_threads').Worker>} */
const watched = new Set();

/**
 * @param {import('node:worker_threads').Worker} worker
 * @param {number} limit in bytes
 * @param {() => void} onExceeded called once
 * @returns {() => void} stops watching
 */
function watchMemory(worker, limit, onExceeded) {
  let isPolling = false;
  const poll = async () => {
    if (isPolling) return;
    isPolling = true;
    try {
      const { external_memory: bytes } = await worker.getHeapStatistics();
      if (bytes <= limit || !watched.has(worker)) return;
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
