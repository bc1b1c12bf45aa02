'use strict';

// What waits in message channels is in no heap, and so under no limit: a page that posts and posts to who does not listen
// would fill the machine's memory. Each direction of a channel has a counter that both ends share, across threads.

const { Atomics, Int32Array, Set, SharedArrayBuffer, WeakRef } = globalThis;
const { add, load, sub } = Atomics;

/** How many bytes that this thread has posted may wait. */
const LIMIT = 256 << 20;
/** What a message takes, and each object in it, beside its text and bytes. */
const MESSAGE = 512;
const OBJECT = 64;
const PROPERTY = 16;

/** Channels that something was posted to. */
const channels = new Set();
/** An upper bound of what waits. */
let waiting = 0;

const newCounter = () => new Int32Array(new SharedArrayBuffer(4));

/**
 * One end of a channel.
 *
 * @typedef {object} Channel
 * @property {object} pipe Node's port
 * @property {Int32Array} out how many bytes wait at the other end
 * @property {Int32Array} into how many wait here
 */

/** Both ends. @returns {[Channel, Channel]} */
function makeChannel(one, other) {
  const [there, back] = [newCounter(), newCounter()];
  return [{ pipe: one, out: there, into: back }, { pipe: other, out: back, into: there }];
}

function sizeOfValue(value) {
  return typeof value === 'string' ? PROPERTY + value.length : PROPERTY;
}

/** About how much memory a record takes that waits. What is transferred or shared is there anyway. */
function sizeOf({ root, nodes }) {
  let size = MESSAGE + sizeOfValue(root);
  for (let index = 0; index < nodes.length; index++) {
    const node = nodes[index];
    size += OBJECT;
    if (node.type === 'ArrayBuffer') size += node.buffer.byteLength;
    else if (node.keys !== undefined) {
      for (let at = 0; at < node.keys.length; at++) size += sizeOfValue(node.keys[at]) + sizeOfValue(node.values[at]);
    } else if (node.entries !== undefined) {
      for (let at = 0; at < node.entries.length; at++) size += sizeOfValue(node.entries[at][0]) + sizeOfValue(node.entries[at][1]);
    } else if (node.values !== undefined) {
      for (let at = 0; at < node.values.length; at++) size += sizeOfValue(node.values[at]);
    } else {
      size += sizeOfValue(node.value) + sizeOfValue(node.message) + sizeOfValue(node.stack);
      if (node.type === 'Platform') size += node.value?.bytes?.byteLength ?? 0;
    }
  }
  return size;
}

function count() {
  waiting = 0;
  for (const reference of channels) {
    const channel = reference.deref();
    const pending = channel === undefined ? 0 : load(channel.out, 0);
    waiting += pending;
    if (pending === 0) {
      channels.delete(reference);
      if (channel !== undefined) channel.isCounted = false;
    }
  }
}

/** Whether there is room for another so many bytes. */
function hasRoom(size) {
  if (waiting + size > LIMIT) count();
  return waiting + size <= LIMIT;
}

/**
 * Posts a record.
 *
 * @param {Channel} channel
 * @returns {boolean} whether there was room for it
 */
function post(channel, record, transfer) {
  const size = sizeOf(record);
  if (!hasRoom(size)) return false;
  if (channel.isCounted !== true) {
    channel.isCounted = true;
    channels.add(new WeakRef(channel));
  }
  waiting += size;
  add(channel.out, 0, size);
  channel.pipe.postMessage({ record, size }, transfer);
  return true;
}

/** A message has arrived. */
function received(channel, { size }) {
  if (typeof size === 'number' && channel.into !== undefined) sub(channel.into, 0, size);
}

module.exports = { makeChannel, newCounter, post, received, sizeOf };
