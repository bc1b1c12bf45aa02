'use strict';

// `node:util` for jsdom, which shows what a page threw. Node's own `inspect` would touch a page's objects from the main realm.

const bridge = require('selfprof:main-realm');

const { String } = globalThis;

exports.types = { isNativeError: (/** @type {unknown} */ value) => bridge.kindOf(value) === 'Error' };

/** @param {any} value of the page */
exports.inspect = (value) => {
  try {
    return typeof value === 'object' && value !== null
      ? `${value.name ?? 'Object'}: ${value.message ?? ''}`
      : String(value);
  } catch {
    return `[${typeof value}]`;
  }
};
