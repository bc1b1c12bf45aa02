'use strict';

// The promises of a page thread that are rejected and not handled. Node would end the thread.
// https://html.spec.whatwg.org/multipage/webappapis.html#unhandled-promise-rejections

const native = require('selfprof/internal/native.cjs');

/**
 * Notes which promises are rejected, for V8, which calls this in the middle of a page's code.
 *
 * @param {(reason: unknown, promise: Promise<unknown>) => void} report throws nothing
 * @returns {(isRejected: boolean, promise: Promise<unknown>, reason: unknown) => void} a promise is rejected, or else
 *   has got a handler
 */
function rejectionNotes(report) {
  /** Those that were not reported yet, with the reasons. @type {Map<Promise<unknown>, unknown>} */
  const pending = new Map();
  let isScheduled = false;

  /** https://html.spec.whatwg.org/multipage/webappapis.html#notify-about-rejected-promises */
  const notify = () => {
    // Promise jobs that are due may still handle some.
    native.runPromiseJobs();
    isScheduled = false;
    // Those that are rejected meanwhile have their own turn, and a report may handle others.
    for (const [promise, reason] of [...pending]) if (pending.delete(promise)) report(reason, promise);
  };

  return (isRejected, promise, reason) => {
    if (!isRejected) {
      pending.delete(promise);
      return;
    }
    pending.set(promise, reason);
    if (isScheduled) return;
    // It throws when the stack is full.
    process.nextTick(notify);
    isScheduled = true;
  };
}

module.exports = { rejectionNotes };
