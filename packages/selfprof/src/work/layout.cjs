'use strict';

// Calls from this file count as layout in traces: see ../with-marker.cjs.

/** @type {<T>(work: () => T) => T} */
module.exports = (work) => work();
