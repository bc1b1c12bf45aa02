'use strict';

// The promises of a page thread that are rejected and not handled. Node would end the thread.
// https://html.spec.whatwg.org/multipage/webappapis.html#unhandled-promise-rejections

const native = require('selfprof/internal/native.cjs');

class Rejections {
  #report;
  /** Those of this turn, with the reasons. @type {Map<Promise<unknown>, unknown>} */
  #pending = new Map();
  /** Those of the turn before that were not reported yet. @type {Map<Promise<unknown>, unknown>} */
  #reported = new Map();
  #isScheduled = false;

  /** @param {(reason: unknown, promise: Promise<unknown>) => void} report throws nothing */
  constructor(report) {
    this.#report = report;
  }

  /**
   * V8 calls this in the middle of a page's code.
   *
   * @param {boolean} isRejected or else has got a handler
   * @param {Promise<unknown>} promise
   * @param {unknown} reason
   */
  note(isRejected, promise, reason) {
    if (!isRejected) {
      this.#pending.delete(promise);
      this.#reported.delete(promise);
      return;
    }
    this.#pending.set(promise, reason);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    process.nextTick(() => this.#notify());
  }

  /** https://html.spec.whatwg.org/multipage/webappapis.html#notify-about-rejected-promises */
  #notify() {
    // Promise jobs that are due may still handle some.
    native.runPromiseJobs();
    this.#isScheduled = false;
    this.#reported = this.#pending;
    this.#pending = new Map();
    for (const [promise, reason] of this.#reported) {
      this.#reported.delete(promise);
      this.#report(reason, promise);
    }
  }
}

module.exports = { Rejections };
