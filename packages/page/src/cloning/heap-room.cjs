'use strict';

const v8 = require('node:v8');

/** How many bytes of the heap a byte of a record may take: half of them for short texts, more for empty maps. */
const MAX_EXPANSION = 16;

/**
 * Whether the heap of this thread has room for a value. When it is full, V8 ends the thread, and for the main thread the process.
 *
 * @param {number} byteLength of its record
 * @param {{ inLongTexts: number, outside: number }} parts how many of them are long texts, and how many memory outside of the heap
 * @param {string} hint what the user can do
 * @throws {RangeError} when there may be no room for it
 */
function assertRoom(byteLength, { inLongTexts, outside }, hint) {
  const { heap_size_limit: limit, used_heap_size: used } = v8.getHeapStatistics();
  if ((byteLength - inLongTexts - outside) * MAX_EXPANSION + inLongTexts > limit - used)
    throw new RangeError(
      `the result has ${byteLength} bytes, for which the heap may have no room\n\nhint: return less, or ${hint}`,
    );
}

module.exports = { assertRoom };
