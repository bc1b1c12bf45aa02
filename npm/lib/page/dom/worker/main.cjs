'use strict';

// The DOM realm's program in a worker's thread. It has of jsdom what workers have, and no document.

require('../environment.cjs');

const outbox = require('../outbox.cjs');
const { evaluate } = require('../evaluate.cjs');
const { reportException, reportRejection } = require('../exceptions.cjs');
const { openScope } = require('./scope.cjs');

const { Uint8Array } = globalThis;

/** @type {ReturnType<typeof openScope>} */
let scope;

module.exports = {
  allocate: (length) => new Uint8Array(length),

  connect(port) {
    outbox.connect(port, (message) => {
      if (message.type === 'evaluate') evaluate(message);
    });
  },

  open(text, pipe) {
    scope = openScope(JSON.parse(text), pipe);
  },

  /** Its script has run for the first time: it is open to messages. */
  start: () => scope.start(),
  setVisible() {},
  report: (error) => reportException(scope.global, error),
  reject: (reason, promise) => reportRejection(scope.global, reason, promise),
};
