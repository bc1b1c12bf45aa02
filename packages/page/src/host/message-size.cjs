'use strict';

// How much memory a message from a DOM realm takes. A page that has taken over its DOM realm can send anything, with any size in it.

const { MessagePort } = require('node:worker_threads');
const { types } = require('node:util');

/**
 * The bytes of a message that was received: of its texts, names and buffers, and 16 for each value.
 *
 * @param {unknown} message
 * @returns {number} infinite if it holds what no message of ours holds, whose size is not known
 */
function messageSize(message) {
  let size = 0;
  const seen = new Set();
  const waiting = [message];
  while (waiting.length > 0) {
    const value = waiting.pop();
    size += 16;
    if (typeof value === 'string') size += 2 * value.length;
    else if (typeof value === 'bigint') return Infinity;
    else if (typeof value === 'object' && value !== null && !seen.has(value)) {
      seen.add(value);
      if (types.isAnyArrayBuffer(value)) size += value.byteLength;
      else if (ArrayBuffer.isView(value)) waiting.push(value.buffer);
      else if (isPlain(value))
        for (const [name, member] of Object.entries(value)) {
          size += 2 * name.length;
          waiting.push(member);
        }
      else if (!(value instanceof MessagePort)) return Infinity;
    }
  }
  return size;
}

/** @param {object} value as a structured clone makes it, so without accessors */
function isPlain(value) {
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}

module.exports = { messageSize };
