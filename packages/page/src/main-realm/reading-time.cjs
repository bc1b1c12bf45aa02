'use strict';

// How long the user's thread will take to read a result. V8 reads n keys that were chosen to collide in n² steps, and cannot be interrupted
// meanwhile. The hashes of numbers in maps and sets are known, and that of a long text is its length; other hashes have a random seed. So a
// result with many of these is read in the page's thread first, where the time limit of its script holds.

const native = require('selfprof/internal/native.cjs');
const { assertRoom } = require('../cloning/heap-room.cjs');
const { serializedSize } = require('../cloning/serialized-size.cjs');

/** @typedef {import('../any-realm/realm-contracts.js').CloneRecord} CloneRecord */
/** @typedef {import('../cloning/serialized-size.cjs').SerializedSize} SerializedSize */

/** How many bytes of a heap a result may fill. V8 takes up to 6 ns for each, and cannot be interrupted. */
const MAX_HEAP = 512 << 20;

/** Whatever it is, so much is read in less than half a second: bytes, numbers, and long texts by their number times their bytes. */
const FEW_BYTES = 64 << 10;
const FEW_NUMBERS = 5_000;
const FEW_TEXTS = 4e9;

/**
 * How much CPU time reading may take, in milliseconds, and how much more for each byte of the heap that it fills, but those of long texts.
 * Ordinary maps and sets take half of that.
 */
const MAX_TIME = 1_000;
const MAX_TIME_OF_BYTE = 4e-6;

/** @param {SerializedSize} size */
function mayTakeLong({ numbers, collections, longTexts, longTextBytes }) {
  return (collections > 0 && numbers > FEW_NUMBERS) || longTexts * longTextBytes > FEW_TEXTS;
}

/**
 * @param {import('../cloning/value-serializer.cjs').ValueSerializer} values
 * @param {CloneRecord} record of a result
 * @returns {number} how many bytes of a heap it fills
 * @throws {RangeError} for one that takes too long to read
 */
function checkReading(values, { bytes, tag, objects }) {
  const size = serializedSize(new Uint8Array(bytes));
  // The main realm has written all that is read, so this is a value that V8 writes in a new way.
  if (!size.isComplete) throw new TypeError('the result has a value of an unknown kind');
  const { longTextBytes, heap } = size;
  if (heap - longTextBytes > MAX_HEAP)
    throw new RangeError(
      `the result takes about ${heap} bytes, which is too much to read at once: ${MAX_HEAP} are allowed\n\nhint: return less at a time`,
    );
  if (bytes.byteLength <= FEW_BYTES || !mayTakeLong(size)) return heap;
  assertRoom(heap, 'open the page with a larger `memoryLimit`');
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
  if (taken > MAX_TIME + (heap - longTextBytes) * MAX_TIME_OF_BYTE)
    throw new RangeError(
      `the result takes too long to read: ${Math.round(taken)} ms for ${bytes.byteLength} bytes\n\nhint: return an array instead of a Map, a Set or an object whose keys the page chooses`,
    );
  return heap;
}

module.exports = { checkReading };
