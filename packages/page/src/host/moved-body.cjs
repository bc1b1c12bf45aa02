'use strict';

/**
 * The body of a response that is moved to another thread: copying a large one takes long. Its buffer belongs in the list of what is transferred.
 *
 * @param {Uint8Array} body
 * @returns {Uint8Array<ArrayBuffer>}
 */
function movedBody({ buffer, byteOffset, byteLength }) {
  const isAll = buffer instanceof ArrayBuffer && byteLength === buffer.byteLength;
  return isAll ? new Uint8Array(buffer) : new Uint8Array(buffer, byteOffset, byteLength).slice();
}

module.exports = { movedBody };
