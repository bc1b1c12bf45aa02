'use strict';

// The promises of a page thread that are rejected and not handled. Node would end the thread.
// https://html.spec.whatwg.org/multipage/webappapis.html#unhandled-promise-rejections

const native = require('selfprof/internal/native.cjs');

class Rejections {
  #report;
  /** Those that were not reported yet, with the reasons. @type {Map<Promise<unknown>, unknown>} */
  #pending = new Map();
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
      return;
    }
    this.#pending.set(promise, reason);
    if (this.#isScheduled) return;
    // It throws when the stack is full.
    process.nextTick(() => this.#notify());
    this.#isScheduled = true;
  }

  /** https://html.spec.whatwg.org/multipage/webappapis.html#notify-about-rejected-promises */
  #notify() {
    // Promise jobs that are due may still handle some.
    native.runPromiseJobs();
    this.#isScheduled = false;
    // Those that are rejected meanwhile have their own turn, and a report may handle others.
    for (const [promise, reason] of [...this.#pending])
      if (this.#pending.delete(promise)) this.#report(reason, promise);
  }
}

module.exports = { Rejections };
