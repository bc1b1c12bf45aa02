'use strict';

// Runs a script for the page's user (`frame.evaluate`) in a window of this thread, and answers with its result.

const { thread } = require('./thread.cjs');

const { answer } = require('./post-to-host.cjs');
const realms = require('./window-realms.cjs');

/**
 * @param {{ id: number, frame: number, source: string, isFunction: boolean,
 *   parameters: import('../window/contracts.js').CloneRecord }} message
 */
exports.evaluate = ({ id, frame, source, isFunction, parameters }) => {
  const done = (/** @type {import('../window/contracts.js').EvaluationOutcome} */ outcome) => answer(id, outcome);
  const realm = realms.byFrame(frame);
  if (realm === undefined) {
    done({ error: { name: 'Error', message: 'the frame is gone', stack: '' } });
    return;
  }
  const { code, window } = realm;
  let callee;
  try {
    callee = thread.windows.runUserScript(
      window,
      source,
      'evaluate',
      isFunction ? -1 : 0,
      window._document.baseURLSerialized(),
    );
  } catch (error) {
    done({ error: code.describe(error) });
    return;
  }
  code.evaluate(callee, isFunction ? parameters : undefined, done);
};
