'use strict';

// Structured clone, as HTML defines it, in two halves: a value becomes a record of plain objects, arrays and primitives,
// which may travel to another realm or thread, and a record becomes a value of the realm that this module was loaded into.
// https://html.spec.whatwg.org/multipage/structured-data.html
//
// Records come from hostile realms too, so reading one takes nothing for granted and runs nothing that is in it. And it works
// in a realm whose page replaced every method that it could: no method is looked up here, and nothing is iterated.

const {
  Array, ArrayBuffer, BigInt64Array, BigInt, BigUint64Array, Boolean, DataView, Date, Error, EvalError, Float32Array,
  Float64Array, Int16Array, Int32Array, Int8Array, Map, Number, Object, RangeError, ReferenceError, RegExp, Set, String,
  SharedArrayBuffer, SyntaxError, TypeError, URIError, Uint16Array, Uint32Array, Uint8Array, Uint8ClampedArray, Float16Array, Symbol,
} = globalThis;
const { apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
const { isArray } = Array;
const { hasOwn } = Object;

const method = (prototype, name) => {
  const { value } = getOwnPropertyDescriptor(prototype, name);
  return (self, ...parameters) => apply(value, self, parameters);
};
const getter = (prototype, name) => {
  const { get } = getOwnPropertyDescriptor(prototype, name);
  return (self) => apply(get, self, []);
};

const { prototype: TypedArray } = getPrototypeOf(Uint8Array);
const dateValue = method(Date.prototype, 'getTime');
const source = getter(RegExp.prototype, 'source');
const flags = getter(RegExp.prototype, 'flags');
const forEachOfMap = method(Map.prototype, 'forEach');
const forEachOfSet = method(Set.prototype, 'forEach');
const mapGet = method(Map.prototype, 'get');
const mapHas = method(Map.prototype, 'has');
const mapSet = method(Map.prototype, 'set');
const setAdd = method(Set.prototype, 'add');
const bufferLength = getter(ArrayBuffer.prototype, 'byteLength');
const bufferDetached = 'detached' in ArrayBuffer.prototype ? getter(ArrayBuffer.prototype, 'detached') : () => false;
const bufferResizable = getter(ArrayBuffer.prototype, 'resizable');
const bufferMaxLength = getter(ArrayBuffer.prototype, 'maxByteLength');
const bufferTransfer = method(ArrayBuffer.prototype, 'transfer');
const viewName = getter(TypedArray, Symbol.toStringTag);
const viewSet = method(TypedArray, 'set');
const partsOfTyped = {
  buffer: getter(TypedArray, 'buffer'),
  byteOffset: getter(TypedArray, 'byteOffset'),
  length: getter(TypedArray, 'length'),
};
const partsOfData = {
  buffer: getter(DataView.prototype, 'buffer'),
  byteOffset: getter(DataView.prototype, 'byteOffset'),
  length: getter(DataView.prototype, 'byteLength'),
};
const boxed = [
  { type: 'Boolean', valueOf: method(Boolean.prototype, 'valueOf') },
  { type: 'Number', valueOf: method(Number.prototype, 'valueOf') },
  { type: 'String', valueOf: method(String.prototype, 'valueOf') },
  { type: 'BigInt', valueOf: method(BigInt.prototype, 'valueOf') },
];

const ERRORS = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
const VIEWS = {
  BigInt64Array, BigUint64Array, Float16Array, Float32Array, Float64Array, Int16Array, Int32Array, Int8Array, Uint16Array,
  Uint32Array, Uint8Array, Uint8ClampedArray,
};

/** Says why a value cannot be cloned; the caller makes it a `DataCloneError` of its realm. */
class NotCloneable extends Error {
  name = 'DataCloneError';
}

/** Whether an error is that, of whichever realm. */
function isNotCloneable(error, { kindOf }) {
  return kindOf(error) === 'Error' && getOwnPropertyDescriptor(error, 'name')?.value === 'DataCloneError';
}

/**
 * The host's part: objects that are not ECMAScript's.
 *
 * @typedef {object} Platform
 * @property {(value: unknown) => string} kindOf what an object is by its internal slots, see thread/gate.cjs
 * @property {(object: object) => unknown} [serialize] a record of a platform object; undefined for an ordinary one; throws
 *   for one that cannot be cloned
 * @property {(record: unknown) => object} [deserialize]
 * @property {boolean} [mayShareMemory] whether the value goes to a realm of the same agent cluster
 * @property {boolean} [mayReceiveMemory] whether it comes from one
 * @property {(object: object) => unknown} [transfer] a record of a transferable platform object, which it detaches
 * @property {(record: unknown) => object} [receive] the transferred object
 */

/**
 * @param {unknown} value
 * @param {Platform} platform
 * @param {object[]} [transferList]
 * @returns {{ root: unknown, nodes: object[] }} the record
 * @throws {NotCloneable} and what getters of the value throw
 */
function serialize(value, platform, transferList = []) {
  const { kindOf } = platform;
  const nodes = [];
  const known = new Map();

  const add = (object, node) => {
    mapSet(known, object, nodes.length);
    push(nodes, node);
    return node;
  };

  for (let index = 0; index < transferList.length; index++) {
    const object = transferList[index];
    if (mapHas(known, object)) throw new NotCloneable('an object is listed twice to be transferred');
    const isBuffer = kindOf(object) === 'ArrayBuffer' && !isShared(object);
    if (isBuffer && bufferDetached(object)) throw new NotCloneable('an ArrayBuffer is detached already');
    if (!isBuffer && platform.isTransferable?.(object) !== true) throw new NotCloneable('an object cannot be transferred');
    add(object, { type: isBuffer ? 'ArrayBuffer' : 'Transferred' });
  }

  function encode(item) {
    switch (typeof item) {
      case 'undefined':
        return { type: 'undefined' };
      case 'boolean':
      case 'number':
      case 'string':
      case 'bigint':
        return item;
      case 'symbol':
        throw new NotCloneable('a symbol could not be cloned');
      case 'function':
        throw new NotCloneable('a function could not be cloned');
      default:
        if (item === null) return null;
        if (!mapHas(known, item)) encodeObject(item);
        return { at: mapGet(known, item) };
    }
  }

  function encodeObject(object) {
    const kind = kindOf(object);
    switch (kind) {
      case 'Boxed':
        return encodeBoxed(object);
      case 'Date':
        return add(object, { type: 'Date', value: dateValue(object) });
      case 'RegExp':
        return add(object, { type: 'RegExp', source: source(object), flags: flags(object) });
      case 'ArrayBuffer':
        return encodeBuffer(object);
      case 'ArrayBufferView':
        return encodeView(object);
      case 'Map': {
        const node = add(object, { type: 'Map', entries: [] });
        const entries = [];
        forEachOfMap(object, (inner, key) => push(entries, [key, inner]));
        for (let at = 0; at < entries.length; at++) push(node.entries, [encode(entries[at][0]), encode(entries[at][1])]);
        return node;
      }
      case 'Set': {
        const node = add(object, { type: 'Set', values: [] });
        const values = [];
        forEachOfSet(object, (inner) => push(values, inner));
        for (let at = 0; at < values.length; at++) push(node.values, encode(values[at]));
        return node;
      }
      case 'Error':
        return encodeError(object);
      case 'Proxy':
      case 'Promise':
      case 'WeakMap':
      case 'WeakSet':
      case 'Generator':
      case 'Module':
      case 'External':
        throw new NotCloneable(`a ${kind} could not be cloned`);
      default: {
        const platformRecord = platform.serialize?.(object);
        if (platformRecord !== undefined) return add(object, { type: 'Platform', value: platformRecord });
        return encodeProperties(object);
      }
    }
  }

  function encodeBoxed(object) {
    for (let index = 0; index < boxed.length; index++) {
      const { type, valueOf } = boxed[index];
      let value;
      try {
        value = valueOf(object);
      } catch {
        continue;
      }
      return add(object, { type, value });
    }
    throw new NotCloneable('a Symbol object could not be cloned');
  }

  function encodeBuffer(buffer) {
    if (isShared(buffer)) {
      if (platform.mayShareMemory !== true) throw new NotCloneable('a SharedArrayBuffer could not be cloned');
      return add(buffer, { type: 'SharedArrayBuffer', buffer });
    }
    if (bufferDetached(buffer)) throw new NotCloneable('a detached ArrayBuffer could not be cloned');
    return add(buffer, { type: 'ArrayBuffer', ...copyBuffer(buffer) });
  }

  function encodeView(view) {
    const name = viewName(view) ?? 'DataView';
    const parts = name === 'DataView' ? partsOfData : partsOfTyped;
    const buffer = encode(parts.buffer(view));
    return add(view, { type: 'View', name, buffer, byteOffset: parts.byteOffset(view), length: parts.length(view) });
  }

  function encodeError(error) {
    const name = error.name === undefined ? 'Error' : String(error.name);
    const message = getOwnPropertyDescriptor(error, 'message')?.value;
    const node = add(error, { type: 'Error', name: hasOwn(ERRORS, name) ? name : 'Error' });
    if (message !== undefined) node.message = String(message);
    const { stack } = error;
    if (typeof stack === 'string') node.stack = stack;
    return node;
  }

  function encodeProperties(object) {
    const node = isArray(object)
      ? add(object, { type: 'Array', length: object.length, keys: [], values: [] })
      : add(object, { type: 'Object', keys: [], values: [] });
    const keys = ownKeys(object);
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at];
      if (typeof key !== 'string' || getOwnPropertyDescriptor(object, key)?.enumerable !== true) continue;
      // Getters run here, as HTML says.
      const inner = encode(object[key]);
      push(node.keys, key);
      push(node.values, inner);
    }
    return node;
  }

  const root = encode(value);
  // Only now, when nothing can throw any more.
  for (let at = 0; at < transferList.length; at++) {
    const object = transferList[at];
    if (nodes[at].type === 'Transferred') nodes[at].value = platform.transfer(object);
    else nodes[at] = { type: 'ArrayBuffer', ...takeBuffer(object) };
  }
  return { root, nodes };
}

/** Not `array.push(value)`: a setter on Array.prototype must not see it. */
function push(array, value) {
  define(array, array.length, value);
}

/** An own property, whatever setters the prototype has. */
function define(object, key, value, enumerable = true) {
  // Without a prototype, so that what a page adds to all objects is no part of it.
  defineProperty(object, key, { __proto__: null, value, writable: true, enumerable, configurable: true });
}

function isShared(buffer) {
  try {
    bufferLength(buffer);
    return false;
  } catch {
    return true;
  }
}

function copyBuffer(buffer) {
  const bytes = new Uint8Array(bufferLength(buffer));
  viewSet(bytes, new Uint8Array(buffer));
  return describeBuffer(partsOfTyped.buffer(bytes), buffer);
}

function takeBuffer(buffer) {
  const { maxByteLength } = describeBuffer(undefined, buffer);
  const taken = bufferTransfer(buffer, bufferLength(buffer));
  return maxByteLength === undefined ? { buffer: taken } : { ...copyBuffer(taken), maxByteLength };
}

function describeBuffer(copy, original) {
  return bufferResizable(original) ? { buffer: copy, maxByteLength: bufferMaxLength(original) } : { buffer: copy };
}

/**
 * @param {unknown} record what `serialize` gave, possibly in another realm, and possibly not
 * @param {Platform} platform
 * @returns {{ value: unknown, transferred: object[] }}
 * @throws {TypeError} for what is no record
 */
function deserialize(record, platform) {
  const { root, nodes } = record;
  const values = [];
  const keep = (at, value) => {
    define(values, at, value);
    return value;
  };
  const transferred = [];

  const decode = (item) => {
    if (typeof item !== 'object' || item === null) return item;
    if (item.type === 'undefined') return undefined;
    const { at } = item;
    if (typeof at !== 'number' || at >= nodes.length) throw new TypeError('the record of a value is damaged');
    return materialize(at);
  };

  const materialize = (at) => {
    if (hasOwn(values, at)) return values[at];
    const node = nodes[at];
    switch (node.type) {
      case 'Boolean':
      case 'Number':
      case 'String':
      case 'BigInt':
        return keep(at, Object(node.value));
      case 'Date':
        return keep(at, new Date(Number(node.value)));
      case 'RegExp':
        return keep(at, new RegExp(String(node.source), String(node.flags)));
      case 'ArrayBuffer':
        return keep(at, ownBuffer(node));
      case 'SharedArrayBuffer':
        return keep(at, ownShared(node.buffer, platform));
      case 'View': {
        const View = node.name === 'DataView' ? DataView : hasOwn(VIEWS, node.name) ? VIEWS[node.name] : undefined;
        if (View === undefined) throw new TypeError(`this realm has no ${node.name}`);
        return keep(at, new View(decode(node.buffer), node.byteOffset, node.length));
      }
      case 'Map': {
        const map = keep(at, new Map());
        for (let entry = 0; entry < node.entries.length; entry++) {
          mapSet(map, decode(node.entries[entry][0]), decode(node.entries[entry][1]));
        }
        return map;
      }
      case 'Set': {
        const set = keep(at, new Set());
        for (let entry = 0; entry < node.values.length; entry++) setAdd(set, decode(node.values[entry]));
        return set;
      }
      case 'Error':
        return keep(at, ownError(node));
      case 'Platform':
        return keep(at, platform.deserialize(node.value));
      case 'Transferred': {
        const object = keep(at, platform.receive(node.value));
        push(transferred, object);
        return object;
      }
      case 'Array':
      case 'Object': {
        const object = keep(at, node.type === 'Array' ? new Array(Number(node.length)) : {});
        for (let key = 0; key < node.keys.length; key++) {
          const value = decode(node.values[key]);
          define(object, String(node.keys[key]), value);
        }
        return object;
      }
      default:
        throw new TypeError('the record of a value is damaged');
    }
  };

  // What was transferred arrives, whether the value mentions it or not.
  for (let at = 0; at < nodes.length; at++) if (nodes[at].type === 'Transferred') materialize(at);
  return { value: decode(root), transferred };
}

/** The bytes in a buffer of this realm. */
function ownBuffer({ buffer, maxByteLength }) {
  const length = bufferLength(buffer);
  const copy = maxByteLength === undefined ? new ArrayBuffer(length) : new ArrayBuffer(length, { maxByteLength });
  viewSet(new Uint8Array(copy), new Uint8Array(buffer));
  return copy;
}

/** Memory that is shared is not copied, but it is an object of this realm. */
function ownShared(buffer, platform) {
  if (platform.mayReceiveMemory !== true) throw new TypeError('this realm shares no memory');
  Object.setPrototypeOf(buffer, SharedArrayBuffer.prototype);
  return buffer;
}

function ownError({ name, message, stack }) {
  const Constructor = hasOwn(ERRORS, name) ? ERRORS[name] : Error;
  const error = new Constructor();
  if (message !== undefined) define(error, 'message', String(message), false);
  define(error, 'stack', stack === undefined ? '' : String(stack), false);
  return error;
}

module.exports = { NotCloneable, deserialize, isNotCloneable, serialize };
