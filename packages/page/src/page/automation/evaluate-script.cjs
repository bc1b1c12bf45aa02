'use strict';

// Runs a script for the page's user (`frame.evaluate`) in a window of this thread, and answers with its result.

const { thread } = require('../thread/thread.cjs');

/**
 * @param {{ id: number, frame: number, source: string, isFunction: boolean,
 *   parameters: import('../../window/contracts.js').CloneRecord }} message
 */
exports.evaluate = ({ id, frame, source, isFunction, parameters }) => {
  const done = (/** @type {import('../../window/contracts.js').EvaluationOutcome} */ outcome) =>
    thread.answer(id, outcome);
  const pageWindow = thread.windows.ofFrame(frame);
  if (pageWindow === undefined) {
    done({ error: { name: 'Error', message: 'the frame is gone', stack: '' } });
    return;
  }
  const { code } = pageWindow;
  let callee;
  try {
    callee = pageWindow.runUserScript(source, 'evaluate', isFunction ? -1 : 0);
  } catch (error) {
    done({ error: code.describe(error) });
    return;
  }
  code.evaluate(callee, isFunction ? parameters : undefined, done);
};
