'use strict';

// Stands for ../../events.cjs in a window's realm.

const host = require('selfprof:host');

module.exports = {
  hasListeners: (target, type) => host.hasListeners(target, type),
  fireEvent: (target, type) => host.fireEvent(target, type),
};
