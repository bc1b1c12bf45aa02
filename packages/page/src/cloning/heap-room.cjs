'use strict';

const { types } = require('node:util');
const v8 = require('node:v8');

/** How many bytes of the heap a byte of a record may take: half of them for short strings, more for empty maps. */
const MAX_EXPANSION = 16;

/**
 * Whether the heap of this thread has room for a value. When it is full, V8 ends the thread, and for the main thread the process.
 *
 * @param {unknown} bytes of a record
 * @param {string} hint what the user can do
 * @throws {RangeError} when there may be no room for it
 */
function checkRoom(bytes, hint) {
  if (!types.isArrayBuffer(bytes)) return;
  const { heap_size_limit: limit, used_heap_size: used } = v8.getHeapStatistics();
  if (bytes.byteLength * MAX_EXPANSION > limit - used)
    throw new RangeError(
      `the result has ${bytes.byteLength} bytes, for which the heap may have no room\n\nhint: return less, or ${hint}`,
    );
}

module.exports = { checkRoom };
