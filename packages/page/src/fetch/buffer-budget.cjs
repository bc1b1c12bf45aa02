'use strict';

// Limits the bytes of responses that a thread holds at once for one page. The user's thread loads the documents of frames and the scripts of
// workers, so without a common limit many of them would fill its memory, which `memoryLimit` does not bound.

/** Bytes of one response. */
class Lease {
  #budget;
  #bytes = 0;

  /** @param {BufferBudget} budget */
  constructor(budget) {
    this.#budget = budget;
  }

  /** @param {number} bytes @throws {Error} when they are too many */
  add(bytes) {
    this.#bytes += bytes;
    this.#budget.use(bytes);
  }

  /** The bytes are no longer held. */
  release() {
    this.#budget.use(-this.#bytes);
    this.#bytes = 0;
  }
}

class BufferBudget {
  #limit;
  #used = 0;

  /** @param {number} limit in bytes */
  constructor(limit) {
    this.#limit = limit;
  }

  /** @param {number} bytes negative to give them back */
  use(bytes) {
    this.#used += bytes;
    if (bytes > 0 && this.#used > this.#limit)
      throw new Error(`the page's responses take more than ${this.#limit} bytes while they are read`);
  }

  lease() {
    return new Lease(this);
  }

  /** For tests. */
  get used() {
    return this.#used;
  }
}

module.exports = { BufferBudget };
