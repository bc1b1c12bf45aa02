'use strict';

const v8 = require('node:v8');

/** V8 needs as much again: for garbage that it has not collected yet, and since a part of the limit is for new values alone. */
const SHARE = 2;

/**
 * Whether the heap of this thread has room for a value. When it is full, V8 ends the thread, and for the main thread the process.
 *
 * @param {number} heap how many bytes of a heap it takes, see serialized-size.cjs
 * @param {string} hint what the user can do
 * @throws {RangeError} when there may be no room for it
 */
function assertRoom(heap, hint) {
  const { heap_size_limit: limit, used_heap_size: used } = v8.getHeapStatistics();
  if (heap * SHARE > limit - used)
    throw new RangeError(
      `the result takes about ${heap} bytes, for which the heap may have no room\n\nhint: return less, or ${hint}`,
    );
}

module.exports = { assertRoom };
