'use strict';

// How long the user's thread will take to read a result. V8 reads a `Set` or a `Map` of n numbers that were chosen to collide in n² steps, and
// cannot be interrupted meanwhile. So such a result is read in the page's thread first, where the time limit of its script holds.

const native = require('selfprof/internal/native.cjs');
const { checkRoom } = require('../cloning/heap-room.cjs');
const { mayHaveNumericKeys } = require('../cloning/numeric-keys.cjs');

/** @typedef {import('../any-realm/realm-contracts.js').CloneRecord} CloneRecord */

/** So many numbers are read in less than half a second, whatever they are. */
const FEW = 20_000;

/** How much CPU time reading may take, in milliseconds, and how much more for each byte. The slowest ordinary values take a third of that. */
const MAX_TIME = 1_000;
const MAX_TIME_OF_BYTE = 1e-4;

/**
 * @param {import('../cloning/value-serializer.cjs').ValueSerializer} values
 * @param {CloneRecord} record of a result
 * @throws {RangeError} for one that takes too long to read
 */
function checkReading(values, { bytes, tag, objects }) {
  const { byteLength } = bytes;
  if (!mayHaveNumericKeys(new Uint8Array(bytes), FEW)) return;
  checkRoom(bytes, 'open the page with a larger `memoryLimit`');
  const began = native.threadCpuTime();
  values.read(
    bytes,
    tag,
    objects.map(() => ({})),
    [],
    [],
    checkReading,
  );
  const taken = native.threadCpuTime() - began;
  if (taken > MAX_TIME + byteLength * MAX_TIME_OF_BYTE)
    throw new RangeError(
      `the result takes too long to read: ${Math.round(taken)} ms for ${byteLength} bytes\n\nhint: return an array instead of a Map or a Set whose keys the page chooses`,
    );
}

module.exports = { checkReading };
