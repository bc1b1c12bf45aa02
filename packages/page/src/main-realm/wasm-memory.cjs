'use strict';

// What WebAssembly takes outside of V8's heap, and V8 does not count.
//
// A module holds its bytes, a table of its functions, and their machine code once they run. As the objects of `Intl`, it gets a buffer of that
// size, see intl-memory.cjs.
//
// While V8 compiles a function, it keeps lists of what is on the stack at each place where control branches, and so can take gigabytes for a
// function of a few kilobytes, which count towards no limit and cannot be interrupted. So the addon adds up what V8 may have to do for each
// function, see crates/node/src/wasm_cost.rs, and modules with functions for which that is too much are refused, as V8 refuses functions that are
// too large. The optimizing compiler of V8, for which there is no such sum, does not compile WebAssembly, see host/page-host.cjs.
//
// Each call that waits for a promise (`WebAssembly.promising`) has a stack of its own, and V8 ends the process when it can get no more of them.
// Pages that look for these functions go on without them, as in browsers that do not have them.

const vm = require('node:vm');

const native = require('selfprof/internal/native.cjs');

const SOURCE = `'use strict'; ((measureBytes, noteBuffer, addType) => {
  for (const name of ['promising', 'Suspending', 'SuspendError'])
    if (!delete WebAssembly[name]) throw new Error('WebAssembly keeps ' + name);

  const { ArrayBuffer, DataView, Math, Promise, Proxy, RangeError, SharedArrayBuffer, Uint8Array, WeakMap } = globalThis;
  const { CompileError } = WebAssembly;
  const { customSections } = WebAssembly.Module;
  const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const { min } = Math;
  // As many parameters as V8 allows, of which none has a name as long as this.
  const MAX_PARAMETERS = 1_000;
  const MAX_KEY = 20 * MAX_PARAMETERS;
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
  /** What a function of the main realm says. When the stack is too full for it, it throws an error of that realm. */
  const answered = (ask, value) => {
    try {
      return ask(value) === true;
    } catch {}
    throw new RangeError('Maximum call stack size exceeded');
  };
  const MAGIC = [0, 97, 115, 109, 1, 0, 0, 0];
  const isModule = (bytes) => {
    for (let at = 0; at < 8; at++) if (bytes[at] !== MAGIC[at]) return false;
    return true;
  };
  /**
   * What a module takes that is made of these bytes, and why it is refused, if it is; a size of 0 for another value. V8 gets the \`source\` of
   * the result: the page cannot change that after it was measured.
   */
  const measure = (source) => {
    const measured = { __proto__: null, source: undefined, size: 0, problem: undefined };
    let bytes;
    try {
      bytes = new Uint8Array(bytesOf(source));
    } catch {
      try {
        customSections(source, '');
        measured.source = source;
      } catch {}
      // What is neither bytes nor a module is an error.
      return measured;
    }
    measured.source = bytes;
    // V8 says what else is wrong, at once.
    if (!isModule(bytes)) return measured;
    let result;
    try {
      result = measureBytes(bytes);
    } catch {}
    // The stack is too full to find out.
    if (result === undefined) throw new RangeError('Maximum call stack size exceeded');
    if (typeof result === 'string') measured.problem = result;
    else measured.size = result;
    return measured;
  };
  /** The same, with the buffer that a new module gets; without one for another value. */
  const take = (source) => {
    const measured = measure(source);
    const { size, problem } = measured;
    const buffer = problem === undefined && size > 0 ? new ArrayBuffer(size) : undefined;
    if (buffer !== undefined && !answered(noteBuffer, buffer)) measured.problem = 'the process has no room for more modules';
    return { __proto__: null, ...measured, buffer };
  };
  const replaceIn = (holder, name, value) => defineProperty(holder, name, { ...getOwnPropertyDescriptor(holder, name), value });
  // A proxy of a built-in function has the text of one.
  const replace = (name, handler) => {
    replaceIn(WebAssembly, name, new Proxy(WebAssembly[name], { __proto__: null, ...handler }));
  };
  const replaceConstructor = (name, construct) => {
    replace(name, { construct });
    replaceIn(WebAssembly[name].prototype, 'constructor', WebAssembly[name]);
  };

  replaceConstructor('Module', (original, parameters, target) => {
    const { source, problem, buffer } = take(parameters[0]);
    if (problem !== undefined) throw new CompileError('WebAssembly.Module(): ' + problem);
    const module = construct(original, [source, parameters[1]], target);
    apply(set, memory, [module, buffer]);
    return module;
  });
  const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';
  // The types of a tag's parameters are read once. V8 says what is wrong with them.
  replaceConstructor('Tag', (original, parameters, target) => {
    if (!isObject(parameters[0])) return construct(original, parameters, target);
    const given = parameters[0].parameters;
    if (!isObject(given)) return construct(original, [{ __proto__: null, parameters: given }], target);
    const names = [];
    let key = '';
    const length = min(+given.length || 0, MAX_PARAMETERS + 1);
    for (let at = 0; at < length; at++) {
      const name = \`\${given[at]}\`;
      defineProperty(names, at, { __proto__: null, value: name, writable: true, enumerable: true, configurable: true });
      if (key.length < MAX_KEY) key += name + ' ';
    }
    if (length <= MAX_PARAMETERS && key.length < MAX_KEY && !answered(addType, key)) throw new RangeError('WebAssembly.Tag(): too many types');
    return construct(original, [{ __proto__: null, parameters: names }], target);
  });
  const counted = (name, moduleOf) => ({
    apply: (original, self, parameters) => {
      const { source, problem, buffer } = take(parameters[0]);
      if (problem !== undefined) {
        const error = new CompileError('WebAssembly.' + name + '(): ' + problem);
        return new Promise((_resolve, reject) => reject(error));
      }
      const result = apply(original, self, [source, parameters[1], parameters[2]]);
      if (buffer === undefined) return result;
      return apply(then, result, [
        (value) => {
          apply(set, memory, [moduleOf(value), buffer]);
          return value;
        },
      ]);
    },
  });
  replace('compile', counted('compile', (module) => module));
  replace('instantiate', counted('instantiate', ({ module }) => module));
  replace('validate', {
    apply: (original, self, parameters) => {
      const { source, problem } = measure(parameters[0]);
      return problem === undefined && apply(original, self, [source, parameters[1]]);
    },
  });
})`;

/** @type {vm.Script | undefined} */
let script;

/**
 * Counts the memory of the modules of WebAssembly in a realm.
 *
 * @param {object} context in which no page has run
 * @param {number} memoryLimit in megabytes
 * @param {import('./wasm-types.cjs').WasmTypes} types of the page
 */
function countWasmMemory(context, memoryLimit, types) {
  script ??= new vm.Script(SOURCE, { filename: __filename });
  script.runInContext(context)(
    (/** @type {Uint8Array} */ bytes) => {
      const size = native.measureWasm(bytes, memoryLimit * 2 ** 20);
      return typeof size === 'string' || types.add(bytes) ? size : 'the page has too many types';
    },
    (/** @type {unknown} */ buffer) => native.noteWasmModule(buffer),
    (/** @type {string} */ name) => types.add(name),
  );
}

module.exports = { countWasmMemory };
