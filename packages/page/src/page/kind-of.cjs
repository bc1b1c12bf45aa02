'use strict';

// What an object is by its internal slots, which no code can fake.

const { types } = require('node:util');

/** In the order in which they are tried: a proxy answers for nothing else. @type {[(value: unknown) => boolean, string][]} */
const KINDS = [
  [types.isProxy, 'Proxy'],
  [types.isNativeError, 'Error'],
  [types.isDate, 'Date'],
  [types.isRegExp, 'RegExp'],
  [types.isMap, 'Map'],
  [types.isSet, 'Set'],
  [types.isAnyArrayBuffer, 'ArrayBuffer'],
  [types.isArrayBufferView, 'ArrayBufferView'],
  [types.isPromise, 'Promise'],
  [types.isWeakMap, 'WeakMap'],
  [types.isWeakSet, 'WeakSet'],
];

/** @param {unknown} value @returns {string} one of the names above, or what `typeof` says */
function kindOf(value) {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return typeof value;
  return KINDS.find(([is]) => is(value))?.[1] ?? typeof value;
}

module.exports = { kindOf };
