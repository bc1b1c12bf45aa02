'use strict';

// What `performance.memory` shows. The heap of a thread also holds what pages must not know, such as scripts of other
// origins, so the sizes are coarse and change rarely, as in Chromium.

const { getHeapStatistics } = require('node:v8');

/** Sizes are rounded up to a multiple of this many bytes. */
const STEP = 10_000_000;
/** How long the same sizes are shown, in milliseconds. */
const MAX_AGE = 20 * 60_000;

class HeapSizes {
  #limit;
  #shown = { total: 0, used: 0, limit: 0 };
  #readAt = -Infinity;

  /** @param {number} limit in megabytes */
  constructor(limit) {
    this.#limit = limit * 1_000_000;
  }

  /** In bytes. */
  read() {
    const now = performance.now();
    if (now - this.#readAt < MAX_AGE) return this.#shown;
    this.#readAt = now;
    const { total_heap_size: total, used_heap_size: used } = getHeapStatistics();
    const coarse = (/** @type {number} */ bytes) => Math.ceil(bytes / STEP) * STEP;
    this.#shown = { total: coarse(total), used: coarse(used), limit: this.#limit };
    return this.#shown;
  }
}

module.exports = { HeapSizes };
