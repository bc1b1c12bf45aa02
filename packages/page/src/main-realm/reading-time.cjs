'use strict';

// How long the user's thread will take to read a result. V8 reads n keys that were chosen to collide in n² steps, and cannot be interrupted
// meanwhile. The hashes of numbers in maps and sets are known, and that of a long text is its length; other hashes have a random seed. So a
// result with many of these is read in the page's thread first, where the time limit of its script holds.

const native = require('selfprof/internal/native.cjs');
const { assertRoom } = require('../cloning/heap-room.cjs');
const { serializedSize } = require('../cloning/serialized-size.cjs');

/** @typedef {import('../any-realm/realm-contracts.js').CloneRecord} CloneRecord */
/** @typedef {import('../cloning/serialized-size.cjs').SerializedSize} SerializedSize */

/** Whatever it is, so much is read in less than half a second: bytes, numbers, and long texts by their number times their bytes. */
const FEW_BYTES = 64 << 10;
const FEW_NUMBERS = 5_000;
const FEW_TEXTS = 4e9;

/**
 * How much CPU time reading may take, in milliseconds, and how much more for each byte that is no long text or memory. The slowest ordinary
 * values take a third of that.
 */
const MAX_TIME = 1_000;
const MAX_TIME_OF_BYTE = 1e-4;

/** @param {SerializedSize} size */
function mayTakeLong({ numbers, collections, longTexts, longTextBytes, isComplete }) {
  return !isComplete || (collections > 0 && numbers > FEW_NUMBERS) || longTexts * longTextBytes > FEW_TEXTS;
}

/**
 * @param {import('../cloning/value-serializer.cjs').ValueSerializer} values
 * @param {CloneRecord} record of a result
 * @throws {RangeError} for one that takes too long to read
 */
function checkReading(values, { bytes, tag, objects }) {
  const { byteLength } = bytes;
  if (byteLength <= FEW_BYTES) return;
  const size = serializedSize(new Uint8Array(bytes));
  if (!mayTakeLong(size)) return;
  const { longTextBytes, memory } = size;
  const parts = { inLongTexts: longTextBytes, outside: memory };
  assertRoom(byteLength, parts, 'open the page with a larger `memoryLimit`');
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
  if (taken > MAX_TIME + (byteLength - longTextBytes - memory) * MAX_TIME_OF_BYTE)
    throw new RangeError(
      `the result takes too long to read: ${Math.round(taken)} ms for ${byteLength} bytes\n\nhint: return an array instead of a Map, a Set or an object whose keys the page chooses`,
    );
}

module.exports = { checkReading };
