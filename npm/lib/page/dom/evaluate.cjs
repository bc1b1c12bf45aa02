'use strict';

// Runs what the page's user asks for in one of this thread's realms, and answers.

const gate = require('selfprof:gate');

const outbox = require('./outbox.cjs');
const realms = require('./realms.cjs');

exports.evaluate = ({ id, frame, source, isFunction, parameters }) => {
  const done = (outcome) => outbox.tell({ type: 'evaluated', id, ...outcome });
  const realm = realms.byFrame(frame);
  if (realm === undefined) {
    done({ error: { name: 'Error', message: 'the frame is gone', stack: '' } });
    return;
  }
  const { code, window } = realm;
  let callee;
  try {
    callee = gate.runScript(window, source, 'evaluate', 0, isFunction ? -1 : 0, window._document.baseURLSerialized());
  } catch (error) {
    done({ error: code.describe(error) });
    return;
  }
  code.evaluate(callee, isFunction ? parameters : { root: { type: 'undefined' }, nodes: [] }, done);
};
