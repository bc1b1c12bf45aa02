'use strict';

// What WebAssembly takes outside of V8's heap, and V8 does not count.
//
// A module holds its bytes, a table of its functions, and their machine code once they run. As the objects of `Intl`, it gets a buffer of that
// size, see intl-memory.cjs.
//
// Each call that waits for a promise (`WebAssembly.promising`) has a stack of its own, and V8 ends the process when it can get no more of them.
// Pages that look for these functions go on without them, as in browsers that do not have them.

const vm = require('node:vm');

/** How many bytes a byte takes at most, as measured with Node 24: by the number of its section, and in each other section. */
const FACTORS = { 0: 1, 3: 128, 10: 8, 11: 1, other: 24 };

const SOURCE = `'use strict'; {
  for (const name of ['promising', 'Suspending', 'SuspendError'])
    if (!delete WebAssembly[name]) throw new Error('WebAssembly keeps ' + name);

  const factors = ${JSON.stringify(FACTORS)};
  const { ArrayBuffer, DataView, Promise, Proxy, SharedArrayBuffer, Uint8Array, WeakMap } = globalThis;
  const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const { set } = WeakMap.prototype;
  const { then } = Promise.prototype;
  const getters = ({ prototype }) => {
    const [buffer, offset, length] = ['buffer', 'byteOffset', 'byteLength'].map((name) => getOwnPropertyDescriptor(prototype, name).get);
    return (view) => new Uint8Array(apply(buffer, view, []), apply(offset, view, []), apply(length, view, []));
  };
  const ofTypedArray = getters(getPrototypeOf(Uint8Array));
  const ofDataView = getters(DataView);
  const ofBuffer = ({ prototype }) => {
    const { get } = getOwnPropertyDescriptor(prototype, 'byteLength');
    return (buffer) => new Uint8Array(buffer, 0, apply(get, buffer, []));
  };
  const ofUnshared = ofBuffer(ArrayBuffer);
  const ofShared = ofBuffer(SharedArrayBuffer);
  const { get: lengthOf } = getOwnPropertyDescriptor(getPrototypeOf(Uint8Array).prototype, 'length');
  const memory = new WeakMap();

  const bytesOf = (source) => {
    try {
      return ofTypedArray(source);
    } catch {}
    try {
      return ofDataView(source);
    } catch {}
    try {
      return ofUnshared(source);
    } catch {}
    return ofShared(source);
  };
  /** What a module takes that is made of these bytes; 0 for another value, such as a module. https://webassembly.github.io/spec/core/binary/modules.html */
  const sizeOf = (source) => {
    let bytes;
    try {
      bytes = bytesOf(source);
    } catch {
      return 0;
    }
    const length = apply(lengthOf, bytes, []);
    let size = length;
    for (let at = 8; at < length; ) {
      const id = bytes[at++];
      let inner = 0;
      for (let shift = 0; shift < 35; shift += 7) {
        const next = bytes[at++];
        inner += (next & 127) * 2 ** shift;
        if (!(next & 128)) break;
      }
      const within = inner < length - at ? inner : length - at;
      if (within > 0) size += within * (factors[id] ?? factors.other);
      at += inner;
    }
    return size;
  };
  const replace = (name, handler) => {
    const property = getOwnPropertyDescriptor(WebAssembly, name);
    // A proxy of a built-in function has the text of one.
    const value = new Proxy(property.value, { __proto__: null, ...handler });
    defineProperty(WebAssembly, name, { ...property, value });
    return value;
  };

  const Module = replace('Module', {
    construct: (original, parameters, target) => {
      const buffer = new ArrayBuffer(sizeOf(parameters[0]));
      const module = construct(original, parameters, target);
      apply(set, memory, [module, buffer]);
      return module;
    },
  });
  defineProperty(Module.prototype, 'constructor', { ...getOwnPropertyDescriptor(Module.prototype, 'constructor'), value: Module });
  const counted = (moduleOf) => ({
    apply: (original, self, parameters) => {
      const size = sizeOf(parameters[0]);
      const result = apply(original, self, parameters);
      if (size === 0) return result;
      const buffer = new ArrayBuffer(size);
      return apply(then, result, [
        (value) => {
          apply(set, memory, [moduleOf(value), buffer]);
          return value;
        },
      ]);
    },
  });
  replace('compile', counted((module) => module));
  replace('instantiate', counted(({ module }) => module));
}`;

/** @type {vm.Script | undefined} */
let script;

/** Counts the memory of the modules of WebAssembly in a realm. @param {object} context in which no page has run */
function countWasmMemory(context) {
  script ??= new vm.Script(SOURCE, { filename: __filename });
  script.runInContext(context);
}

module.exports = { countWasmMemory };
