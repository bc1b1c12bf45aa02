'use strict';

// `node:vm` for jsdom: contexts come from the host, and scripts run through the host's one function for them.

const gate = require('selfprof:gate');

let document = 0;

/** Says what document the next context is for, as the host knows it. */
exports.nextDocument = (id) => {
  document = id;
};

exports.constants = { DONT_CONTEXTIFY: 'vm_context_no_contextify' };
exports.createContext = () => gate.createContext(document);

/** jsdom reads intrinsics with it, and runs the strings that a page gave to `setTimeout`. */
exports.runInContext = (code, context, { filename = '', lineOffset = 0 } = {}) =>
  gate.runScript(context, code, filename, lineOffset, 0, '');
