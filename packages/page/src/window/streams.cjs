'use strict';

// Streams, which are Node's, and those of blobs.

const host = require('selfprof:host');
const { defineInterfaceObject, defineOperations } = require('./webidl-members.cjs');

const { ReadableStream } = host.streams;

/**
 * A stream of bytes that are there already.
 *
 * @param {Uint8Array} bytes
 * @param {() => void} [onUse] is called when it is read or canceled
 * @returns {ReadableStream}
 */
function streamOf(bytes, onUse = () => {}) {
  const source = {
    pull(/** @type {ReadableStreamDefaultController} */ controller) {
      onUse();
      if (bytes.byteLength > 0) controller.enqueue(new Uint8Array(bytes));
      controller.close();
    },
    cancel: () => onUse(),
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}

/** Reads a stream of a page to its end. @param {any} stream @returns {Promise<Uint8Array<ArrayBuffer>>} */
async function readStream(stream) {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const chunks = [];
  for await (const chunk of stream) {
    if (chunk?.[Symbol.toStringTag] !== 'Uint8Array') throw new TypeError('A chunk of the body is not a Uint8Array');
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** @param {unknown} value @returns {value is ReadableStream} */
function isStream(value) {
  return value instanceof ReadableStream;
}

function installStreams() {
  for (const [name, Interface] of Object.entries(host.streams)) {
    host.platform.refuse(Interface);
    defineInterfaceObject(name, Interface);
  }
  const operations = {
    /** @this {unknown} */
    stream() {
      const blob = host.platform.blobOf(this);
      if (blob === undefined) throw new TypeError('Illegal invocation');
      return streamOf(blob.bytes);
    },
  };
  defineOperations(operations, globalThis.Blob.prototype);
}

module.exports = { installStreams, isStream, readStream, streamOf };
