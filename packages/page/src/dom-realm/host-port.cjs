'use strict';

// The port to the user's thread. It was moved into the DOM realm, so messages are made and read here.

const bridge = require('selfprof:main-realm');

const { newCounter, sizeOf } = require('./message-channels.cjs');

/** @typedef {import('../any-realm/realm-contracts.js').CloneRecord} CloneRecord */
/** @typedef {import('../any-realm/realm-contracts.js').Pipe} Pipe */

const { Atomics, Set } = globalThis;
const { ownKeys } = Reflect;
const { add, load, sub } = Atomics;

/** How much may wait to be read, in units of a kilobyte; a smaller message counts as one unit. */
const LIMIT = 64 << 10;
/** Messages that a page can cause without limit. Those beyond the limit are dropped. */
const LIMITED = new Set(['console', 'exception', 'navigate', 'post', 'problem', 'storage']);

/** @type {Pipe} */
let port;
/** How much the user's thread has not read yet. */
const unread = newCounter();

/**
 * Sends plain data, and what its record transfers.
 *
 * @param {{ type: string, record?: CloneRecord, [member: string]: unknown }} message
 * @returns {boolean} whether there was room for it
 */
function postToHost(message) {
  const weight = 1 + (((message.record === undefined ? 0 : sizeOf(message.record)) + textsOf(message)) >> 10);
  if (LIMITED.has(message.type) && load(unread, 0) + weight > LIMIT) return false;
  add(unread, 0, weight);
  port.postMessage({ ...message, weight }, transfersOf(message.record));
  return true;
}

/** The bytes of the texts in a message. @param {Record<string, unknown>} message */
function textsOf(message) {
  let bytes = 0;
  const names = ownKeys(message);
  for (let at = 0; at < names.length; at++) {
    const value = message[/** @type {string} */ (names[at])];
    if (typeof value === 'string') bytes += 2 * value.length;
  }
  return bytes;
}

/**
 * What a message with a record transfers: ports have to be, and memory would be copied otherwise.
 *
 * @param {CloneRecord | undefined} record which is not used again
 * @returns {(Pipe | ArrayBuffer)[]}
 */
function transfersOf(record) {
  if (record === undefined) return [];
  /** @type {(Pipe | ArrayBuffer)[]} */
  const transfers = [record.bytes];
  const { buffers, ports } = record;
  // A page may have replaced the iterator of the arrays' realm.
  for (let at = 0; at < buffers.length; at++) transfers.push(buffers[at]);
  for (let at = 0; at < ports.length; at++) transfers.push(ports[at].pipe);
  return transfers;
}

/**
 * @param {Pipe} given
 * @param {(message: any) => void} onMessage
 */
function connect(given, onMessage) {
  port = given;
  port.postMessage({ type: 'unread', unread });
  /** How much this thread has not read yet. @type {Int32Array | undefined} */
  let unreadHere;
  port.onmessage = ({ data }) => {
    if (data.type === 'unread') unreadHere = data.unread;
    else if (unreadHere !== undefined && data.weight !== undefined) sub(unreadHere, 0, data.weight);
    // A message to the main realm that was sent earlier, such as the one that opens the document, is handled first, though it comes over
    // another port. So is one that was sent later: the ports do not tell the order of their messages.
    bridge.receiveFromHost();
    onMessage(data);
  };
  port.start?.();
}

module.exports = { connect, transfersOf, postToHost };
