'use strict';

// `selfprof:host` of a worker, which has functions that a window's lacks.

/** @type {import('./contracts.js').WindowHost} */
const host = require('selfprof:host');

module.exports = /** @type {import('./contracts.js').WorkerHost} */ (host);
