'use strict';

// Buffers lie outside of V8's heap, where its limit does not reach: a page could fill the machine's memory with them. So the
// user's thread looks at each page thread's from time to time, which works in the middle of an endless loop.

/** In milliseconds. */
const EVERY = 100;

/**
 * @param {import('node:worker_threads').Worker} worker
 * @param {number} limit in bytes
 * @param {(bytes: number) => void} onFull is called once
 * @returns {() => void} ends it
 */
function watchMemory(worker, limit, onFull) {
  let isLooking = false;
  const look = async () => {
    if (isLooking) return;
    isLooking = true;
    try {
      const { external_memory: bytes } = await worker.getHeapStatistics();
      if (bytes <= limit) return;
      clearInterval(timer);
      onFull(bytes);
    } catch {
      // It has ended.
    } finally {
      isLooking = false;
    }
  };
  const timer = setInterval(look, EVERY);
  timer.unref();
  return () => clearInterval(timer);
}

module.exports = { watchMemory };
