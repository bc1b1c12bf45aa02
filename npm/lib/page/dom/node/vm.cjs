'use strict';

// `node:vm` for jsdom: contexts come from the host, and scripts run through the host's one function for them.

const gate = require('selfprof:gate');

let next = { document: 0, frame: 0 };

/** Says what document the next context is for, as the host knows it, and in which frame. */
exports.nextWindow = (document, frame) => {
  next = { document, frame };
};

exports.constants = { DONT_CONTEXTIFY: 'vm_context_no_contextify' };
exports.createContext = () => gate.createContext(next.document, next.frame);

/** jsdom reads intrinsics with it, and runs the strings that a page gave to `setTimeout`. */
exports.runInContext = (code, context, { filename = '', lineOffset = 0 } = {}) =>
  gate.runScript(context, code, filename, lineOffset, 0, '');
