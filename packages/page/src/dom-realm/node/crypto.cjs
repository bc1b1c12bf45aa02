'use strict';

// `node:crypto` for jsdom's `crypto`.

const bridge = require('selfprof:main-realm');

const { Uint8Array } = globalThis;

exports.randomFillSync = (/** @type {ArrayBufferView} */ array) => {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  bridge.randomFill(bytes);
  return array;
};
exports.randomUUID = () => bridge.randomUUID();
