'use strict';

// How Node does what HTML's event loop does for the interfaces.

/** https://html.spec.whatwg.org/multipage/webappapis.html#queue-a-task */
function queueTask(task) {
  setImmediate(task);
}

/**
 * https://html.spec.whatwg.org/multipage/webappapis.html#report-the-exception: an `uncaughtException`, once the task in
 * which it was thrown is done.
 */
function reportException(error) {
  process.nextTick(() => {
    throw error;
  });
}

module.exports = { queueTask, reportException };
