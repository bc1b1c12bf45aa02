'use strict';

/** @typedef {'commit' | 'domcontentloaded' | 'load'} Milestone */

/** How far a document has loaded, with a promise for each milestone. */
class LoadState {
  /** @type {Set<Milestone>} */
  #reached = new Set(['commit']);
  /** @type {Error | undefined} why no further milestone is reached */
  #failure;
  /** That of the document which took its place. @type {LoadState | undefined} */
  #next;
  /** @type {Set<{ milestone: Milestone, resolve: () => void, reject: (error: Error) => void }>} */
  #waiting = new Set();

  /** @param {Milestone} milestone */
  reach(milestone) {
    this.#reached.add(milestone);
    for (const waiter of this.#waiting) {
      if (waiter.milestone !== milestone) continue;
      this.#waiting.delete(waiter);
      waiter.resolve();
    }
  }

  /** The document ends: milestones that it has not reached are never reached. @param {Error} error */
  fail(error) {
    this.#failure ??= error;
    for (const { reject } of this.#waiting) reject(this.#failure);
    this.#waiting.clear();
  }

  /** The document has navigated to another one, which who waits is waiting for now. @param {LoadState} next */
  passTo(next) {
    this.#next = next;
    for (const { milestone, resolve, reject } of this.#waiting) next.waitFor(milestone).then(resolve, reject);
    this.#waiting.clear();
  }

  /** @param {Milestone} milestone @returns {Promise<void>} */
  waitFor(milestone) {
    if (this.#reached.has(milestone)) return Promise.resolve();
    if (this.#next !== undefined) return this.#next.waitFor(milestone);
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.add({ milestone, resolve, reject });
    });
  }
}

module.exports = { LoadState };
