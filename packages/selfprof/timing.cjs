'use strict';

// `require('selfprof/timing')`: the timing interfaces for global objects that a host makes, such as windows.

/** @type {typeof import('./timing.js')} */
const api = { createTiming: require('./src/timing/create-timing.cjs').createTiming };

module.exports = api;
