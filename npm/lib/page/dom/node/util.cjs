'use strict';

// `node:util` for jsdom, which shows what a page threw. Node's own `inspect` would touch a page's objects from the main
// realm, so values are shown by the window's own code.

const gate = require('selfprof:gate');

const { String } = globalThis;

exports.types = { isNativeError: (value) => gate.kindOf(value) === 'Error' };

exports.inspect = (value) => {
  try {
    return typeof value === 'object' && value !== null ? `${value.name ?? 'Object'}: ${value.message ?? ''}` : String(value);
  } catch {
    return `[${typeof value}]`;
  }
};
