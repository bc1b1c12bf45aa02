'use strict';

// V8's serializer for values of windows. It runs getters of the value, and the functions given; what they throw is thrown.

const native = require('selfprof/internal/native.cjs');

/** @type {import('../window/contracts.js').ValueWriter} */
function write(value, isHostObject, writeHostObject, shareMemory, dataCloneError, transferred) {
  return native.serializeValue(value, {
    anchor: isHostObject,
    isHostObject,
    writeHostObject,
    shareMemory,
    dataCloneError,
    transferred,
  });
}

/** @type {import('../window/contracts.js').ValueReader} */
function read(bytes, hostObjects, shared, transferred, anchor) {
  // They are lists of this realm, as the addon expects them.
  return native.deserializeValue(bytes, {
    anchor,
    hostObjects: [...hostObjects],
    shared: [...shared],
    transferred: [...transferred],
  });
}

module.exports = { read, write };
