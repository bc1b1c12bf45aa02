'use strict';

// `node:crypto` for jsdom's `crypto`.

const gate = require('selfprof:gate');

const { Uint8Array } = globalThis;

exports.randomFillSync = (array) => {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  gate.randomFill(bytes);
  return array;
};
exports.randomUUID = () => gate.randomUUID();
