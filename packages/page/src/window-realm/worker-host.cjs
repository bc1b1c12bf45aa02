'use strict';

// `selfprof:host` of a worker, which has functions that a window's lacks.

/** @type {import('../any-realm/realm-contracts.js').WindowHost} */
const host = require('selfprof:host');

module.exports = /** @type {import('../any-realm/realm-contracts.js').WorkerHost} */ (host);
