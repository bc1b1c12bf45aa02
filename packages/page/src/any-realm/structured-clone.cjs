'use strict';

// Structured clone, as HTML defines it, in two halves: `serialize` makes a record, which can be sent to another realm or thread, and
// `deserialize` makes a value of the realm that this module was loaded into.
// https://html.spec.whatwg.org/multipage/structured-data.html
//
// V8's own serializer does it, for which no page can replace anything. This module adds what V8 leaves to its host: platform objects, which
// the record holds as plain data, message ports and shared memory. Nor does it look up a method or iterate anything that a page could
// replace. V8 runs no code while it reads, so platform objects are made before.

const { ArrayBuffer, Map, RangeError, TypeError } = globalThis;
const { isView } = ArrayBuffer;
const { isArray } = globalThis.Array;
const { hasOwn } = globalThis.Object;
const { apply, defineProperty, getOwnPropertyDescriptor, ownKeys } = globalThis.Reflect;
const { get: mapGet, has: mapHas, set: mapSet } = Map.prototype;
const bufferLength = /** @type {() => number} */ (getOwnPropertyDescriptor(ArrayBuffer.prototype, 'byteLength')?.get);

/** @typedef {import('./realm-contracts.js').CloneRecord} CloneRecord */
/** @typedef {import('./realm-contracts.js').Platform} Platform */

/**
 * Calls a function of the platform that throws nothing. But a value can be nested so deeply that the stack is full when it is called, which
 * is an error of the platform's realm.
 *
 * @template Result
 * @param {() => Result} call
 * @returns {Result}
 */
function ofThisRealm(call) {
  try {
    return call();
  } catch {
    throw new RangeError('Maximum call stack size exceeded');
  }
}

/** How long the texts of platform objects in a value may be, in characters: one text is sent once for each object that has it. */
const MAX_TEXT = 16 << 20;

/** How long the texts in plain data are, as in that of a platform object. @param {unknown} data @returns {number} */
function textLength(data) {
  if (typeof data === 'string') return data.length;
  // The elements of typed arrays have names, too.
  if (typeof data !== 'object' || data === null || isView(data)) return 0;
  let length = 0;
  const names = ownKeys(data);
  for (let at = 0; at < names.length; at++) length += textLength(/** @type {any} */ (data)[names[at]]);
  return length;
}

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
 * Calls back for each element of what should be an array. It may come from a hostile realm and claim to be long, so it is read up to its
 * first gap.
 *
 * @param {unknown} list
 * @param {(item: any) => void} onItem
 */
function each(list, onItem) {
  if (!isArray(list)) throw new TypeError('the record of a value is damaged');
  for (let at = 0; hasOwn(list, at); at++) onItem(list[at]);
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
    throw ofThisRealm(() => platform.dataCloneError(message));
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
  let text = 0;
  const isPlatformObject = (/** @type {object} */ object) => {
    if (apply(mapHas, transferred, [object])) return true;
    const data = ofThisRealm(() => platform.serialize?.(object));
    if (data === undefined) return false;
    if (typeof data === 'string') refuse(data);
    text += textLength(data);
    if (text > MAX_TEXT) refuse(`Objects with more than ${MAX_TEXT} characters of text could not be cloned.`);
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
  if (written === undefined) return refuse('Data cannot be cloned, out of memory.');

  /** @type {unknown[]} */
  const taken = [];
  for (let at = 1; at <= buffers.length; at++) push(taken, written[at]);
  /** @type {CloneRecord} */
  const record = {
    bytes: /** @type {ArrayBuffer} */ (written[0]),
    tag: /** @type {string} */ (written[buffers.length + 1]),
    buffers: /** @type {ArrayBuffer[]} */ (taken),
    shared,
    ports: [],
    objects,
  };
  for (let at = 0; at < ports.length; at++) push(record.ports, platform.transfer?.(ports[at]));
  return record;
}

/**
 * @param {CloneRecord} record what `serialize` made, possibly in another realm; or something else, from a hostile realm
 * @param {Platform} platform
 * @returns {{ value: unknown, transferred: object[] }}
 * @throws {TypeError} for something that is not a record
 */
function deserialize({ bytes, tag, buffers, shared, ports, objects }, platform) {
  /** @type {object[]} */
  const transferred = [];
  /** @type {object[]} */
  const platformObjects = [];
  /** @type {SharedArrayBuffer[]} */
  const memory = [];
  each(shared, (buffer) => {
    if (platform.mayReceiveMemory !== true) throw new TypeError('this realm may not receive shared memory');
    push(memory, buffer);
  });
  // Transferred objects arrive even if the value does not refer to them.
  each(ports, (port) => {
    const received = apply(required(platform.receive), platform, [port]);
    push(transferred, received);
    push(platformObjects, received);
  });
  each(objects, (data) => {
    push(platformObjects, apply(required(platform.deserialize), platform, [data]));
  });
  const value = platform.read(bytes, tag, platformObjects, memory, buffers, platformObjects);
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

module.exports = { MAX_TEXT, deserialize, serialize, textLength };
