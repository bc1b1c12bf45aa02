'use strict';

// Structured clone in two halves, and structuredClone(): `serialize` makes a record, which can be sent to another realm
// or thread, and `deserialize` makes a value of this realm. https://html.spec.whatwg.org/multipage/structured-data.html
//
// V8's own serializer does it. This module adds what V8 leaves to its host: platform objects, which the record holds as
// plain data, message ports and shared memory. V8 runs no code while it reads, so platform objects are made before.

const host = require('selfprof:host');
const { defineOperations, requireArguments } = require('./webidl-members.cjs');

/** @typedef {import('./contracts.js').CloneRecord} CloneRecord */

/**
 * @param {unknown} value
 * @param {object[]} [transferList]
 * @param {boolean} [mayShareMemory] whether the value goes to a realm of the same agent cluster
 * @returns {CloneRecord}
 * @throws {DOMException} `DataCloneError`, and whatever getters of the value throw
 */
function serialize(value, transferList = [], mayShareMemory = false) {
  const { pipes, platform } = host;
  /** @param {string} message @returns {never} */
  const refuse = (message) => {
    throw platform.dataCloneError(message);
  };
  /** @type {object[]} */
  const buffers = [];
  /** @type {object[]} */
  const ports = [];
  /** Indexes in these lists, by object. @type {Map<object, number>} */
  const transferred = new Map();
  for (const object of transferList) {
    if (transferred.has(object)) refuse('An object is in the transfer list twice.');
    const isBuffer = Object.prototype.toString.call(object) === '[object ArrayBuffer]';
    if (!isBuffer && pipes.get(object) === undefined) refuse('An object cannot be transferred.');
    transferred.set(object, (isBuffer ? buffers : ports).push(object) - 1);
  }

  /** @type {unknown[]} */
  const objects = [];
  /** @type {SharedArrayBuffer[]} */
  const shared = [];
  /** The last platform object that V8 has asked about. @type {{ object?: object, data?: unknown }} */
  let found = {};
  const isPlatformObject = (/** @type {object} */ object) => {
    if (transferred.has(object)) return true;
    let data;
    try {
      data = platform.serialize(object);
    } catch {
      // It throws only when the stack is full, an error of the host's realm.
      throw new RangeError('Maximum call stack size exceeded');
    }
    if (data === undefined) return false;
    if (typeof data === 'string') refuse(data);
    found = { object, data };
    return true;
  };
  const written = platform.write(
    value,
    isPlatformObject,
    (object) => {
      if (transferred.has(object)) return transferred.get(object);
      if (found.object !== object && !isPlatformObject(object)) refuse('An object could not be cloned.');
      return ports.length + objects.push(found.data) - 1;
    },
    (buffer) => {
      if (!mayShareMemory) refuse('A SharedArrayBuffer could not be cloned.');
      shared.push(buffer);
    },
    refuse,
    buffers,
  );
  if (written === undefined) return refuse('The value could not be cloned.');

  const [bytes, ...taken] = /** @type {ArrayBuffer[]} */ (written);
  return { bytes, buffers: taken, shared, ports: ports.map((port) => /** @type {any} */ (pipes.take(port))), objects };
}

/**
 * @param {CloneRecord} record what `serialize` made, possibly in another realm
 * @returns {{ value: unknown, transferred: object[] }}
 */
function deserialize({ bytes, buffers, shared, ports, objects }) {
  const { platform } = host;
  if (shared.length > 0 && !host.document().isIsolated) throw new TypeError('this realm may not receive shared memory');
  // Transferred objects arrive even if the value does not refer to them.
  const transferred = ports.map((port) => /** @type {object} */ (platform.receive?.(port)));
  const platformObjects = [...transferred, ...objects.map((data) => platform.deserialize(data))];
  return { value: platform.read(bytes, platformObjects, shared, buffers, platformObjects), transferred };
}

/** Converts a value of the page to `sequence<object>`. @param {any} value */
function toTransferList(value) {
  if (value === undefined) return [];
  const list = [...value];
  if (list.some((object) => Object(object) !== object)) throw new TypeError('Only objects can be transferred.');
  return list;
}

/** Those of `postMessage`: a list, or options that have one. @param {any} options of the page */
function transferListOf(options) {
  return toTransferList(typeof options?.[Symbol.iterator] === 'function' ? options : options?.transfer);
}

function installCloning() {
  defineOperations({
    /**
     * @param {unknown} value
     * @param {any} [options] of the page
     */
    structuredClone(value, options = undefined) {
      requireArguments(arguments.length, "Failed to execute 'structuredClone' on 'Window'");
      return deserialize(serialize(value, toTransferList(options?.transfer))).value;
    },
  });
}

module.exports = { deserialize, installCloning, serialize, transferListOf };
