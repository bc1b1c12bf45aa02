'use strict';

// Limits the address space that pages reserve. A resizable buffer has the addresses of its greatest length, and a memory of WebAssembly has
// gigabytes of them, however little of that they use. No limit of memory holds them, and V8 ends the process when the system has no more.
//
// Memory that threads share is limited here, too: V8 counts it for none of them.
//
// How much a process has reserved is measured by the addon, because a page can keep a memory alive in ways that no one sees, as through a
// function in a table.

const vm = require('node:vm');

const native = require('selfprof/internal/native.cjs');

const { PAGE_STATE } = require('../any-realm/page-state.cjs');

/** The greatest length of a resizable buffer, in bytes: that of the longest typed array. */
const MAX_LENGTH = 2 ** 33;

/** How many resizable buffers one cloned value may hold. V8 reserves their addresses one after the other when it reads the value. */
const MAX_CLONED = 100;

/** How many memories an instance may have, see crates/node/src/wasm_cost.rs. */
const MAX_MEMORIES = 10;

/** The byte that a resizable buffer begins with in a value that V8 has written. */
const TAG = '~'.charCodeAt(0);

const SOURCE = `'use strict'; ((reserve, noteResizable, noteShared) => {
  const { ArrayBuffer, Promise, Proxy, RangeError, SharedArrayBuffer } = globalThis;
  const { apply, construct, defineProperty, getOwnPropertyDescriptor } = Reflect;

  /** @throws {RangeError} of this realm, also when the stack is too full to find out */
  const requireRoom = (message, count) => {
    let hasRoom = false;
    try {
      hasRoom = reserve(count);
    } catch {}
    if (hasRoom !== true) throw new RangeError(message);
  };
  const noted = () => {
    try {
      noteResizable();
      return;
    } catch {}
    throw new RangeError('Maximum call stack size exceeded');
  };
  const failed = 'Array buffer allocation failed';
  /** Shared memory counts as what all threads of the page have made together, and still have. */
  const shared = (buffer, message = failed) => {
    let hasRoom = false;
    try {
      hasRoom = noteShared(buffer);
    } catch {}
    if (hasRoom !== true) throw new RangeError(message);
    return buffer;
  };
  const replace = (holder, name, handler) => {
    const property = getOwnPropertyDescriptor(holder, name);
    // A proxy of a built-in function has the text of one.
    const value = new Proxy(property.value, { __proto__: null, ...handler });
    defineProperty(holder, name, { ...property, value });
    const { prototype } = value;
    if (prototype === undefined) return;
    defineProperty(prototype, 'constructor', { ...getOwnPropertyDescriptor(prototype, 'constructor'), value });
  };

  // https://tc39.es/ecma262/#sec-arraybuffer-constructor
  const buffer = (made) => ({
    construct: (original, parameters, target) => {
      const options = parameters[1];
      if ((typeof options !== 'object' || options === null) && typeof options !== 'function') return made(construct(original, [parameters[0]], target));
      // In this order, and each once: a page may see the conversions.
      const length = +parameters[0];
      let greatest = options.maxByteLength;
      if (greatest === undefined) return made(construct(original, [length], target));
      greatest = +greatest;
      if (greatest > ${MAX_LENGTH}) throw new RangeError(failed);
      requireRoom(failed, 1);
      noted();
      return made(construct(original, [length, { __proto__: null, maxByteLength: greatest }], target));
    },
  });
  replace(globalThis, 'ArrayBuffer', buffer((made) => made));
  replace(globalThis, 'SharedArrayBuffer', buffer(shared));
  replace(SharedArrayBuffer.prototype, 'slice', {
    apply: (original, self, parameters) => shared(apply(original, self, parameters)),
  });

  const limited = (message, count, made) => ({
    construct: (original, parameters, target) => {
      requireRoom(message, count);
      return made(construct(original, parameters, target));
    },
  });
  const noInstance = 'Out of memory: Cannot allocate Wasm memory for new instance';
  const noMemory = 'WebAssembly.Memory(): could not allocate memory';
  const { get: bufferOf } = getOwnPropertyDescriptor(WebAssembly.Memory.prototype, 'buffer');
  const memory = (made) => {
    shared(apply(bufferOf, made, []), noMemory);
    return made;
  };
  replace(WebAssembly, 'Memory', limited(noMemory, 1, memory));
  replace(WebAssembly, 'Instance', limited('WebAssembly.Instance(): ' + noInstance, ${MAX_MEMORIES}, (made) => made));
  replace(WebAssembly, 'instantiate', {
    apply: (original, self, parameters) => {
      try {
        requireRoom('WebAssembly.instantiate(): ' + noInstance, ${MAX_MEMORIES});
      } catch (error) {
        return new Promise((_resolve, reject) => reject(error));
      }
      return apply(original, self, parameters);
    },
  });
  if (WebAssembly.Memory.prototype.toResizableBuffer !== undefined)
    replace(WebAssembly.Memory.prototype, 'toResizableBuffer', {
      apply: (original, self, parameters) => {
        noted();
        return apply(original, self, parameters);
      },
    });
})`;

/** @type {vm.Script | undefined} */
let script;

class AddressSpace {
  #pageState;
  #memoryLimit;

  /**
   * @param {Int32Array} pageState see any-realm/page-state.cjs
   * @param {number} memoryLimit in megabytes
   */
  constructor(pageState, memoryLimit) {
    this.#pageState = pageState;
    this.#memoryLimit = memoryLimit * 2 ** 20;
  }

  /** Limits what the constructors of a realm reserve. @param {object} context in which no page has run */
  limit(context) {
    script ??= new vm.Script(SOURCE, { filename: __filename });
    script.runInContext(context)(
      (/** @type {number} */ count) => native.reserveAddressSpace(count),
      () => void Atomics.store(this.#pageState, PAGE_STATE.hasResizable, 1),
      (/** @type {unknown} */ buffer) =>
        native.noteSharedMemory(buffer, this.#pageState[PAGE_STATE.number], this.#memoryLimit),
    );
  }

  /**
   * Whether a value may be read, which reserves addresses for each of its resizable buffers. Text can have the same bytes as they: in a page
   * that has such buffers, it is counted with them.
   *
   * @param {ArrayBuffer} bytes that V8 has written
   */
  mayRead(bytes) {
    if (Atomics.load(this.#pageState, PAGE_STATE.hasResizable) === 0) return true;
    const view = new Uint8Array(bytes);
    let count = 0;
    for (let at = view.indexOf(TAG); at >= 0; at = view.indexOf(TAG, at + 1)) if (++count > MAX_CLONED) return false;
    return count === 0 || native.reserveAddressSpace(count);
  }
}

module.exports = { AddressSpace };
