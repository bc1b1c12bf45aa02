'use strict';

// Tasks and uncaught exceptions on Node's event loop.

/**
 * https://html.spec.whatwg.org/multipage/webappapis.html#queue-a-task
 *
 * @param {() => void} task
 */
function queueTask(task) {
  setImmediate(task);
}

/**
 * https://html.spec.whatwg.org/multipage/webappapis.html#report-the-exception: an `uncaughtException`, after the task
 * in which it was thrown.
 *
 * @param {unknown} error
 */
function reportException(error) {
  process.nextTick(() => {
    throw error;
  });
}

module.exports = { queueTask, reportException };
