'use strict';

// Memory that a page hands in, read and written by its internal slots: a page can give a view another `byteLength` or `buffer`, and Node ends
// the process when its own functions meet such a view.

const { types } = require('node:util');

/** @template Value @param {object} prototype @param {string} name @returns {(self: unknown) => Value} */
function getter(prototype, name) {
  return Function.prototype.call.bind(
    /** @type {() => Value} */ (Object.getOwnPropertyDescriptor(prototype, name)?.get),
  );
}

const TypedArray = Object.getPrototypeOf(Uint8Array.prototype);
const ofTypedArray = {
  buffer: /** @type {(self: unknown) => ArrayBuffer} */ (getter(TypedArray, 'buffer')),
  offset: /** @type {(self: unknown) => number} */ (getter(TypedArray, 'byteOffset')),
  length: /** @type {(self: unknown) => number} */ (getter(TypedArray, 'byteLength')),
};
const ofDataView = {
  buffer: /** @type {(self: unknown) => ArrayBuffer} */ (getter(DataView.prototype, 'buffer')),
  offset: /** @type {(self: unknown) => number} */ (getter(DataView.prototype, 'byteOffset')),
  length: /** @type {(self: unknown) => number} */ (getter(DataView.prototype, 'byteLength')),
};

/** Copies bytes. @type {(target: Uint8Array, source: Uint8Array) => void} */
const setBytes = Function.prototype.call.bind(Uint8Array.prototype.set);

/**
 * The memory as an array of this realm.
 *
 * @param {unknown} memory of a page
 * @returns {Uint8Array | undefined} `undefined` for another value, and for memory that is gone
 */
function bytesOf(memory) {
  try {
    if (types.isAnyArrayBuffer(memory)) return new Uint8Array(memory);
    if (types.isDataView(memory)) return view(memory, ofDataView);
    return types.isTypedArray(memory) ? view(memory, ofTypedArray) : undefined;
  } catch {
    return undefined;
  }
}

/** How many bytes a memory has. @param {unknown} memory of a page @returns {number} 0 for another value */
function lengthOf(memory) {
  return bytesOf(memory)?.byteLength ?? 0;
}

/**
 * The same for functions that read the memory twice. Node counts the characters of text before it decodes them, and writes beyond the end of
 * its string if another thread has changed shared memory meanwhile.
 *
 * @param {unknown} memory of a page
 */
function unsharedBytesOf(memory) {
  const bytes = bytesOf(memory);
  return types.isSharedArrayBuffer(bytes?.buffer) ? bytes?.slice() : bytes;
}

/** @param {unknown} memory @param {typeof ofTypedArray} slots */
function view(memory, { buffer, offset, length }) {
  return new Uint8Array(buffer(memory), offset(memory), length(memory));
}

module.exports = { bytesOf, lengthOf, setBytes, unsharedBytesOf };
