'use strict';

// Values that go through ports of Node's to other windows and threads.

/** @typedef {import('../../window/contracts.js').CloneRecord} CloneRecord */
/** @typedef {import('node:worker_threads').MessagePort} MessagePort */

/**
 * What a message with a record transfers: ports have to be, and memory would be copied otherwise.
 *
 * @param {CloneRecord} record
 * @returns {import('node:worker_threads').Transferable[]}
 */
function transfersOf({ bytes, buffers, ports }) {
  return [bytes, ...buffers, ...ports];
}

/** Posts a record, which is not used again. @param {MessagePort} port @param {CloneRecord} record */
function post(port, record) {
  port.postMessage({ record }, transfersOf(record));
}

module.exports = { post, transfersOf };
