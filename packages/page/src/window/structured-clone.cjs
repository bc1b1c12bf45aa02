'use strict';

// Structured clone, as HTML defines it, in two halves: `serialize` makes a record, which can be sent to another realm or thread, and
// `deserialize` makes a value of the realm that this module was loaded into.
// https://html.spec.whatwg.org/multipage/structured-data.html
//
// V8's own serializer does it. This module adds what V8 leaves to its host: platform objects, which the record holds as plain data, message
// ports and shared memory. V8 runs no code while it reads, so platform objects are made before.

/** @typedef {import('./contracts.js').CloneRecord} CloneRecord */
/** @typedef {import('./contracts.js').Platform} Platform */

/** Whether it is an `ArrayBuffer`, and not a shared one. @param {object} object */
function isArrayBuffer(object) {
  return Object.prototype.toString.call(object) === '[object ArrayBuffer]';
}

/**
 * @param {unknown} value
 * @param {Platform} platform
 * @param {object[]} [transferList]
 * @returns {CloneRecord}
 * @throws {DOMException} `DataCloneError`, and whatever getters of the value throw
 */
function serialize(value, platform, transferList = []) {
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
    const isBuffer = isArrayBuffer(object);
    if (!isBuffer && platform.isTransferable?.(object) !== true) refuse('An object cannot be transferred.');
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
      data = platform.serialize?.(object);
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
      if (platform.mayShareMemory !== true) refuse('A SharedArrayBuffer could not be cloned.');
      shared.push(buffer);
    },
    refuse,
    buffers,
  );
  if (written === undefined) return refuse('The value could not be cloned.');

  const [bytes, ...taken] = /** @type {ArrayBuffer[]} */ (written);
  return {
    bytes,
    buffers: taken,
    shared,
    ports: ports.map((port) => /** @type {any} */ (platform.transfer?.(port))),
    objects,
  };
}

/**
 * @param {CloneRecord} record what `serialize` made, possibly in another realm
 * @param {Platform} platform
 * @returns {{ value: unknown, transferred: object[] }}
 */
function deserialize({ bytes, buffers, shared, ports, objects }, platform) {
  if (shared.length > 0 && platform.mayReceiveMemory !== true)
    throw new TypeError('this realm may not receive shared memory');
  // Transferred objects arrive even if the value does not refer to them.
  const transferred = ports.map((port) => required(platform.receive)(port));
  const platformObjects = [...transferred, ...objects.map((data) => required(platform.deserialize)(data))];
  const value = platform.read(bytes, platformObjects, shared, buffers, platformObjects);
  return { value, transferred };
}

/**
 * @template Part
 * @param {Part | undefined} part of a platform
 * @returns {Part}
 */
function required(part) {
  if (part === undefined) throw new TypeError('this realm has no platform objects');
  return part;
}

module.exports = { deserialize, serialize };
