'use strict';

// Structured clone, as HTML defines it, in two halves: `serialize` makes a record, which can be sent to another realm or thread, and
// `deserialize` makes a value of the realm that this module was loaded into.
// https://html.spec.whatwg.org/multipage/structured-data.html
//
// V8's own serializer does it, for which no page can replace anything. This module adds what V8 leaves to its host: platform objects, which
// the record holds as plain data, message ports and shared memory. Nor does it look up a method or iterate anything that a page could
// replace. V8 runs no code while it reads, so platform objects are made before.

const { ArrayBuffer, Map, TypeError } = globalThis;
const { apply, defineProperty, getOwnPropertyDescriptor } = globalThis.Reflect;
const { get: mapGet, has: mapHas, set: mapSet } = Map.prototype;
const bufferLength = /** @type {() => number} */ (getOwnPropertyDescriptor(ArrayBuffer.prototype, 'byteLength')?.get);

/** @typedef {import('./contracts.js').CloneRecord} CloneRecord */
/** @typedef {import('./contracts.js').Platform} Platform */

/** Whether it is an `ArrayBuffer`, and not a shared one. @param {object} object */
function isArrayBuffer(object) {
  try {
    apply(bufferLength, object, []);
    return true;
  } catch {
    return false;
  }
}

/**
 * `array.push(value)` would run a setter of the page on Array.prototype.
 *
 * @template Item
 * @param {Item[]} array
 * @param {Item} value
 * @returns {number} its index
 */
function push(array, value) {
  const index = array.length;
  // The descriptor has no prototype: it must not inherit what a page adds to all objects.
  defineProperty(array, index, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  return index;
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
  for (let at = 0; at < transferList.length; at++) {
    const object = transferList[at];
    if (apply(mapHas, transferred, [object])) refuse('An object is in the transfer list twice.');
    const isBuffer = isArrayBuffer(object);
    if (!isBuffer && platform.isTransferable?.(object) !== true) refuse('An object cannot be transferred.');
    apply(mapSet, transferred, [object, push(isBuffer ? buffers : ports, object)]);
  }

  /** @type {unknown[]} */
  const objects = [];
  /** @type {SharedArrayBuffer[]} */
  const shared = [];
  /** The last platform object that V8 has asked about. @type {{ object?: object, data?: unknown }} */
  let found = {};
  const isPlatformObject = (/** @type {object} */ object) => {
    if (apply(mapHas, transferred, [object])) return true;
    const data = platform.serialize?.(object);
    if (data === undefined) return false;
    if (typeof data === 'string') refuse(data);
    found = { object, data };
    return true;
  };
  const written = platform.write(
    value,
    isPlatformObject,
    (object) => {
      if (apply(mapHas, transferred, [object])) return apply(mapGet, transferred, [object]);
      if (found.object !== object && !isPlatformObject(object)) refuse('An object could not be cloned.');
      return ports.length + push(objects, found.data);
    },
    (buffer) => {
      if (platform.mayShareMemory !== true) refuse('A SharedArrayBuffer could not be cloned.');
      push(shared, buffer);
    },
    refuse,
    buffers,
  );
  if (written === undefined) return refuse('The value could not be cloned.');

  /** @type {unknown[]} */
  const taken = [];
  for (let at = 1; at <= buffers.length; at++) push(taken, written[at]);
  /** @type {CloneRecord} */
  const record = {
    bytes: /** @type {ArrayBuffer} */ (written[0]),
    buffers: /** @type {ArrayBuffer[]} */ (taken),
    shared,
    ports: [],
    objects,
  };
  for (let at = 0; at < ports.length; at++) push(record.ports, platform.transfer?.(ports[at]));
  return record;
}

/**
 * @param {CloneRecord} record what `serialize` made, possibly in another realm
 * @param {Platform} platform
 * @returns {{ value: unknown, transferred: object[] }}
 */
function deserialize({ bytes, buffers, shared, ports, objects }, platform) {
  if (shared.length > 0 && platform.mayReceiveMemory !== true)
    throw new TypeError('this realm may not receive shared memory');
  /** @type {object[]} */
  const transferred = [];
  /** @type {object[]} */
  const platformObjects = [];
  // Transferred objects arrive even if the value does not refer to them.
  for (let at = 0; at < ports.length; at++) {
    const received = required(platform.receive)(ports[at]);
    push(transferred, received);
    push(platformObjects, received);
  }
  for (let at = 0; at < objects.length; at++) push(platformObjects, required(platform.deserialize)(objects[at]));
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
