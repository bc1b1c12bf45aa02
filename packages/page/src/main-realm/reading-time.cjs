'use strict';

// How long the user's thread will take to read a result, and how much of its heap that fills. V8 cannot be interrupted meanwhile, and what
// it does can depend on a page: n keys that were chosen to collide take n² steps, and objects whose indexes were chosen change between
// arrays and tables with each. So a result is read in the page's thread first, where the limits of its page hold.

const v8 = require('node:v8');

const native = require('selfprof/internal/native.cjs');
const { MAX_LONG_KEYS } = require('../any-realm/long-texts.cjs');
const { assertRoom } = require('../cloning/heap-room.cjs');
const { serializedSize } = require('../cloning/serialized-size.cjs');
const { lengthOf } = require('./foreign-bytes.cjs');

/** @typedef {import('../any-realm/realm-contracts.js').CloneRecord} CloneRecord */

/** How many bytes of a heap a result may fill. V8 takes 1 to 6 ns for each byte of ordinary values. */
const MAX_HEAP = 512 << 20;

/** What is estimated is the most that values can take. Ordinary ones take a fourth of it. */
const ORDINARY = 4;

/**
 * How many bytes the regular expressions of a result may have. V8 parses them: it takes up to 0.2 ms for each in `\p{RGI_Emoji}`. One that
 * it has parsed before takes nothing, so the page's thread cannot tell.
 */
const MAX_EXPRESSION_BYTES = 4 << 10;

/** Whatever it is, so much is read in less than half a second. */
const FEW_BYTES = 16 << 10;

/**
 * How much CPU time reading may take, in milliseconds, and how much more for each byte of the heap that it fills, but those of long texts.
 * The slowest ordinary values take three quarters of that.
 */
const MAX_TIME = 1_000;
const MAX_TIME_OF_BYTE = 8e-6;

/**
 * @param {import('../cloning/value-serializer.cjs').ValueSerializer} values
 * @param {CloneRecord} record of a result
 * @param {import('../cloning/object-shapes.cjs').ShapeTree} shapes those of the results before
 * @param {number} maxShapeCost
 * @param {object} anchor an object of the DOM realm, for which it is read
 * @returns {{ heap: number, shapeCost: number }} how many bytes of a heap it fills, and what its shapes cost
 * @throws {RangeError} for one that takes too long to read
 */
function checkReading(values, { bytes, tag, objects }, shapes, maxShapeCost, anchor) {
  const size = serializedSize(new Uint8Array(bytes), shapes);
  // The main realm has written all that is read, so this is a value that V8 writes in a new way.
  if (!size.isComplete) throw new TypeError('the result has a value of an unknown kind');
  const { heap, longTextBytes, longKeys, shapeCost, expressionBytes } = size;
  if (longKeys > MAX_LONG_KEYS)
    throw new RangeError(
      `the objects of the result have ${longKeys} keys of more than 16,383 bytes; ${MAX_LONG_KEYS} are allowed\n\nhint: return a list of such texts`,
    );
  if (expressionBytes > MAX_EXPRESSION_BYTES)
    throw new RangeError(
      `the regular expressions of the result take ${expressionBytes} bytes; ${MAX_EXPRESSION_BYTES} are allowed\n\nhint: return their \`source\``,
    );
  if (heap - longTextBytes > MAX_HEAP)
    throw new RangeError(
      `the result takes about ${heap} bytes, which is too much to read at once: ${MAX_HEAP} are allowed\n\nhint: return less at a time`,
    );
  if (shapeCost > maxShapeCost)
    throw new RangeError(
      "the objects of the page's results have too many different keys\n\nhint: return lists or Maps instead of objects whose keys the page chooses, or wait some minutes",
    );
  // Not by its property, which the page may have replaced.
  const length = lengthOf(bytes);
  if (length <= FEW_BYTES) return { heap, shapeCost };
  assertRoom(heap / ORDINARY, 'open the page with a larger `memoryLimit`');
  const before = v8.getHeapStatistics().used_heap_size;
  const began = native.threadCpuTime();
  values.read(
    bytes,
    tag,
    objects.map(() => ({})),
    [],
    [],
    anchor,
  );
  const taken = native.threadCpuTime() - began;
  if (taken > MAX_TIME + (heap - longTextBytes) * MAX_TIME_OF_BYTE)
    throw new RangeError(
      `the result takes too long to read: ${Math.round(taken)} ms for ${length} bytes\n\nhint: return an array instead of a Map, a Set or an object whose keys the page chooses`,
    );
  // Objects that share their shape take less than estimated, and what V8 throws away meanwhile is more.
  return { heap: Math.max(heap, v8.getHeapStatistics().used_heap_size - before), shapeCost };
}

module.exports = { checkReading };
