'use strict';

// Interfaces of the web platform that Node implements and jsdom lacks. Windows and workers get Node's own classes:
// jsdom has no part in them.

/** https://streams.spec.whatwg.org/, https://compression.spec.whatwg.org/ and https://encoding.spec.whatwg.org/ */
const STREAMS = [
  'ByteLengthQueuingStrategy',
  'CompressionStream',
  'CountQueuingStrategy',
  'DecompressionStream',
  'ReadableByteStreamController',
  'ReadableStream',
  'ReadableStreamBYOBReader',
  'ReadableStreamBYOBRequest',
  'ReadableStreamDefaultController',
  'ReadableStreamDefaultReader',
  'TextDecoderStream',
  'TextEncoderStream',
  'TransformStream',
  'TransformStreamDefaultController',
  'WritableStream',
  'WritableStreamDefaultController',
  'WritableStreamDefaultWriter',
];

/** @type {Record<string, any>} */
const node = globalThis;
const streams = Object.fromEntries(STREAMS.map((name) => [name, node[name]]));
const { CryptoKey } = node;
/** @type {any} */
const subtle = node.crypto.subtle;

/** What pages can change. */
const originals = [...Object.values(streams), CryptoKey]
  .flatMap((Interface) => [Interface, Interface.prototype])
  .map((object) => ({ object, members: Object.getOwnPropertyDescriptors(object) }));

/** Undoes what a page has changed, for the next page of the thread. */
function restoreInterfaces() {
  for (const { object, members } of originals) {
    for (const key of Reflect.ownKeys(object)) if (!Object.hasOwn(members, key)) Reflect.deleteProperty(object, key);
    for (const key of Reflect.ownKeys(members)) Reflect.defineProperty(object, key, members[/** @type {any} */ (key)]);
  }
}

/**
 * Performs an operation of `crypto.subtle`.
 *
 * @param {string} operation
 * @param {unknown[]} parameters
 * @param {(value: unknown) => void} onDone
 * @param {(name: string, message: string) => void} onFail gets the name of a DOMException, or `TypeError`
 */
function encrypt(operation, parameters, onDone, onFail) {
  subtle[operation](...parameters).then(onDone, (/** @type {Error} */ { name, message }) =>
    // Node 22 has a name of its own for it.
    onFail(name === 'InvalidAccessException' ? 'InvalidAccessError' : name, message),
  );
}

module.exports = { CryptoKey, encrypt, restoreInterfaces, streams };
