'use strict';

/** Lets a limited number of requests be under way; the others wait for their turns. */
class Turns {
  #free;
  /** @type {Set<() => void>} */
  #waiting = new Set();

  /** @param {number} limit */
  constructor(limit) {
    this.#free = limit;
  }

  /** @template Value @param {() => Promise<Value>} work @returns {Promise<Value>} */
  async run(work) {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise((resolve) => this.#waiting.add(() => resolve(undefined)));
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#free += 1;
      else {
        this.#waiting.delete(next);
        next();
      }
    }
  }
}

module.exports = { Turns };
