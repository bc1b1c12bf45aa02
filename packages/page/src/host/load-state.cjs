'use strict';

/** @typedef {'commit' | 'domcontentloaded' | 'load'} Milestone */

/** How far a document has loaded, with a promise for each milestone. */
class LoadState {
  #milestones = {
    commit: /** @type {PromiseWithResolvers<void>} */ (Promise.withResolvers()),
    domcontentloaded: /** @type {PromiseWithResolvers<void>} */ (Promise.withResolvers()),
    load: /** @type {PromiseWithResolvers<void>} */ (Promise.withResolvers()),
  };

  constructor() {
    // Nobody may wait for them.
    for (const { promise } of Object.values(this.#milestones)) promise.catch(() => {});
    this.reach('commit');
  }

  /** @param {Milestone} milestone */
  reach(milestone) {
    this.#milestones[milestone].resolve();
  }

  /** The document ends: milestones that it has not reached are never reached. @param {Error} error */
  fail(error) {
    for (const { reject } of Object.values(this.#milestones)) reject(error);
  }

  /** The document has navigated to another one, which who waits is waiting for now. @param {LoadState} next */
  passTo(next) {
    for (const milestone of /** @type {Milestone[]} */ (Object.keys(this.#milestones)))
      this.#milestones[milestone].resolve(next.waitFor(milestone));
  }

  /** @param {Milestone} milestone @returns {Promise<void>} */
  waitFor(milestone) {
    return this.#milestones[milestone].promise;
  }
}

module.exports = { LoadState };
