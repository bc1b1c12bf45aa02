'use strict';

// The program of the DOM realm in a worker's thread. It loads those parts of jsdom that workers have, and no document.

require('../dom-globals.cjs');

const { evaluate } = require('../evaluate-script.cjs');
const { reportException, reportRejection } = require('../exceptions.cjs');
const { openScope } = require('./worker-scope.cjs');
require('../event-times.cjs');
require('../promise-jobs.cjs');

const { Uint8Array } = globalThis;

/** @type {ReturnType<typeof openScope>} */
let scope;

/** @type {import('../../any-realm/realm-contracts.js').DomProgram} */
module.exports = {
  allocate: (length) => new Uint8Array(length),

  receive(message) {
    if (message.type === 'evaluate') evaluate(message);
  },

  open(text, pipe) {
    scope = openScope(JSON.parse(text), pipe);
  },

  start: () => scope.start(),
  setVisible() {},
  report: (error) => reportException(scope.global, error),
  reject: (reason, promise) => reportRejection(scope.global, reason, promise),
};
