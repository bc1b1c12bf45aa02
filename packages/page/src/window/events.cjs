'use strict';

// Stands in for selfprof's events.cjs in a window's realm.

const host = require('selfprof:host');

module.exports = {
  hasListeners: (/** @type {object} */ target, /** @type {string} */ type) => host.hasListeners(target, type),
  fireEvent: (/** @type {object} */ target, /** @type {string} */ type) => host.fireEvent(target, type),
};
