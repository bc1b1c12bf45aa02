'use strict';

const { inSlices } = require('./time-slices.cjs');

/** Lets a limited number of requests be under way; the others wait for their turns. */
class Turns {
  #free;
  /** @type {Set<() => void>} */
  #waiting = new Set();

  /** @param {number} limit */
  constructor(limit) {
    this.#free = limit;
  }

  /**
   * @template Value
   * @param {() => Promise<Value>} work
   * @param {AbortSignal} [signal]
   * @returns {Promise<Value>}
   * @throws the reason of `signal` if nobody waits for it any more when its turn comes
   */
  async run(work, signal) {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise((resolve) => this.#waiting.add(() => resolve(undefined)));
    try {
      signal?.throwIfAborted();
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#free += 1;
      else {
        this.#waiting.delete(next);
        // Thousands that nobody waits for must not follow each other without a break.
        inSlices(next);
      }
    }
  }
}

module.exports = { Turns };
