'use strict';

// The program of a worker's thread. It loads those parts of jsdom that workers have, and no document.

const { evaluate } = require('../evaluate-script.cjs');
const { reportException, reportRejection } = require('../exceptions.cjs');
const { openScope } = require('./worker-scope.cjs');
require('../event-times.cjs');
require('../promise-jobs.cjs');

/** @type {ReturnType<typeof openScope>} */
let scope;

/** @type {import('../thread-types.js').DomProgram} */
module.exports = {
  receive(message) {
    if (message.type === 'evaluate') evaluate(message);
  },

  open(description, pipe) {
    scope = openScope(description, pipe);
  },

  start: () => scope.start(),
  setVisible() {},
  report: (error) => reportException(scope.global, error),
  reject: (reason, promise) => reportRejection(scope.global, reason, promise),
};
