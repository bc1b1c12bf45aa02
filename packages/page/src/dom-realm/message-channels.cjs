'use strict';

// Limits the messages that wait in message channels. They are in no heap, so no heap limit holds them: a page that keeps posting to a port
// that nobody reads would fill the machine's memory. Each direction of a channel has a counter that both ends share, across threads.

const { shortened } = require('../any-realm/report-limits.cjs');

/** @typedef {import('../any-realm/realm-contracts.js').Channel} Channel */
/** @typedef {import('../any-realm/realm-contracts.js').CloneRecord} CloneRecord */
/** @typedef {import('../any-realm/realm-contracts.js').Pipe} Pipe */

const { Array, ArrayBuffer, Atomics, Int32Array, Reflect, Set, SharedArrayBuffer, Uint8Array, WeakRef } = globalThis;
const { add, load, sub } = Atomics;
const { max, min } = globalThis.Math;
const { apply, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;

/** A getter that no page can replace. @param {object | null} prototype @param {string} name @returns {() => number} */
const getter = (prototype, name) =>
  /** @type {any} */ (getOwnPropertyDescriptor(/** @type {object} */ (prototype), name)?.get);
const bufferLength = getter(ArrayBuffer.prototype, 'byteLength');
const viewLength = getter(getPrototypeOf(Uint8Array.prototype), 'byteLength');

/** How many bytes that this thread has posted may wait. */
const LIMIT = 256 << 20;
/** Bytes that a message takes, and each platform object in it, beside its data. */
const MESSAGE = 512;
const OBJECT = 64;

/** Channels in which messages wait. @type {Set<WeakRef<Channel>>} */
const channels = new Set();
/** An upper bound of the bytes that wait. */
let waiting = 0;

const newCounter = () => new Int32Array(new SharedArrayBuffer(4));

/**
 * How much of the stack has to be free when ports are posted, in bytes. When the other end of the port is closed, Node frees them at once, and
 * recursively those in messages that wait in them: 260 bytes each, beyond the end of the stack if need be. As each channel has two pieces of shared memory,
 * a page has 5,000 of them at most.
 */
const ROOM = 2_000_000;

const empty = () => {};
/** Parameters that fill as much. @type {unknown[] | undefined} */
let filling;

/** @throws {RangeError} when the stack is too full */
function requireStack() {
  filling ??= new Array(ROOM / 8).fill(0);
  apply(empty, undefined, filling);
}

/** Makes a channel of its two ports. @param {Pipe} one @param {Pipe} other @returns {[Channel, Channel]} */
function makeChannel(one, other) {
  const [there, back] = [newCounter(), newCounter()];
  return [
    { pipe: one, out: there, into: back },
    { pipe: other, out: back, into: there },
  ];
}

/**
 * The memory that a waiting record takes, in bytes. Transferred memory counts: it is in no heap meanwhile. Shared memory exists anyway.
 *
 * @param {CloneRecord} record
 */
function sizeOf({ bytes, buffers, objects }) {
  let size = MESSAGE + apply(bufferLength, bytes, []);
  for (let at = 0; at < buffers.length; at++) size += OBJECT + apply(bufferLength, buffers[at], []);
  for (let at = 0; at < objects.length; at++) {
    size += OBJECT;
    if (objects[at].bytes !== undefined) size += apply(viewLength, objects[at].bytes, []);
  }
  return size;
}

function count() {
  waiting = 0;
  for (const reference of channels) {
    const channel = reference.deref();
    const pending = channel === undefined ? 0 : pendingIn(channel);
    waiting += pending;
    if (pending === 0) channels.delete(reference);
    if (channel !== undefined) channel.posted = pending === 0 ? undefined : pending;
  }
}

/** The bytes that wait in a channel. Its counter may have come with a port, from a page that makes it lie. @param {Channel} channel */
function pendingIn({ out, posted = 0 }) {
  try {
    return max(0, min(posted, load(out, 0)));
  } catch {
    return 0;
  }
}

/** Whether there is room for more bytes. @param {number} size */
function hasRoom(size) {
  if (waiting + size > LIMIT) count();
  return waiting + size <= LIMIT;
}

/** Counts a message, if there is room for it. @param {Channel} channel @param {number} size */
function reserve(channel, size) {
  if (!hasRoom(size)) return false;
  if (channel.posted === undefined) channels.add(new WeakRef(channel));
  channel.posted = (channel.posted ?? 0) + size;
  waiting += size;
  add(channel.out, 0, size);
  return true;
}

/**
 * Posts a record, which is not used again.
 *
 * @param {Channel} channel
 * @param {CloneRecord} record
 * @returns {boolean} whether there was room for it
 * @throws {RangeError} when it has ports and the stack is too full
 */
function post(channel, record) {
  const size = sizeOf(record);
  if (record.ports.length > 0) requireStack();
  if (!reserve(channel, size)) return false;
  channel.pipe.postMessage({ record, size }, transfersOf(record));
  return true;
}

/**
 * What a message with a record transfers: ports have to be, and memory would be copied otherwise.
 *
 * @param {CloneRecord} record
 * @returns {(Pipe | ArrayBuffer)[]}
 */
function transfersOf({ bytes, buffers, ports }) {
  /** @type {(Pipe | ArrayBuffer)[]} */
  const transfers = [bytes];
  // A page may have replaced the iterator of the arrays' realm.
  for (let at = 0; at < buffers.length; at++) transfers.push(buffers[at]);
  for (let at = 0; at < ports.length; at++) transfers.push(ports[at].pipe);
  return transfers;
}

/**
 * Posts an exception of a worker, unless too much waits. The page's user gets no longer texts of it either.
 *
 * @param {Channel} channel
 * @param {{ message: string, stack: string, filename: string, lineno: number, colno: number }} error
 */
function postError(channel, { message, stack, filename, lineno, colno }) {
  const error = { message: shortened(message), stack: shortened(stack), filename: shortened(filename), lineno, colno };
  const size = MESSAGE + 2 * (error.message.length + error.stack.length + error.filename.length);
  if (!reserve(channel, size)) return;
  channel.pipe.postMessage({ error, size });
}

/**
 * Notes that a message has arrived.
 *
 * @param {Channel} channel
 * @param {{ size?: unknown }} message
 */
function received(channel, { size }) {
  if (typeof size === 'number' && channel.into !== undefined) sub(channel.into, 0, size);
}

module.exports = { makeChannel, newCounter, post, postError, received };
