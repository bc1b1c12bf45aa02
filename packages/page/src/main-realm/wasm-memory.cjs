'use strict';

// What WebAssembly takes outside of V8's heap, and V8 does not count.
//
// A module holds its bytes, a table of its functions, and their machine code once they run. As the objects of `Intl`, it gets a buffer of that
// size, see intl-memory.cjs.
//
// While V8 compiles a function, it has a list of all locals for each block that is open, and a node for each local at each loop. So a function of
// a few kilobytes can take gigabytes, which count towards no limit and cannot be interrupted. Modules with such functions are refused, as V8
// refuses functions that are too large.
//
// Each call that waits for a promise (`WebAssembly.promising`) has a stack of its own, and V8 ends the process when it can get no more of them.
// Pages that look for these functions go on without them, as in browsers that do not have them.

const vm = require('node:vm');

/** How many bytes a byte takes at most, as measured with Node 24: by the number of its section, and in each other section. */
const FACTORS = { 0: 1, 3: 128, 10: 8, 11: 1, other: 24 };

/**
 * How much V8 may have to do for a function: locals times blocks, results times calls, and fields of structs times instructions that make
 * structs, each with a weight. V8 takes up to 150 bytes for each, as measured with Node 24.
 */
const MAX_WORK = 1 << 22;
const CALL_WORK = 3;
const STRUCT_WORK = 4;

/** How many memories a module may have: V8 reserves gigabytes of addresses for each, see address-space.cjs. */
const MAX_MEMORIES = 10;

/** How many fields V8 allows a struct to have. */
const MAX_FIELDS = 10_000;

const SOURCE = `'use strict'; {
  for (const name of ['promising', 'Suspending', 'SuspendError'])
    if (!delete WebAssembly[name]) throw new Error('WebAssembly keeps ' + name);

  const factors = { __proto__: null, ...${JSON.stringify(FACTORS)} };
  const { ArrayBuffer, DataView, Promise, Proxy, SharedArrayBuffer, Uint8Array, WeakMap } = globalThis;
  const { CompileError } = WebAssembly;
  const { customSections } = WebAssembly.Module;
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
  let bytes;
  let at = 0;
  /** Reads a number. Beyond the end there are zeros. */
  const number = () => {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const next = bytes[at++] ?? 0;
      value += (next & 127) * 2 ** shift;
      if (next < 128) break;
    }
    return value;
  };
  const type = () => {
    const first = bytes[at++];
    // (ref null type) and (ref type), and the same of exactly this type.
    if (first !== 0x63 && first !== 0x64) return;
    if (bytes[at] === 0x62) at++;
    number();
  };
  const types = (end) => {
    const count = number();
    for (let index = 0; index < count && at < end; index++) type();
    return count;
  };
  /** Notes the parameters of functions by their types, and the most results and fields of a type. https://webassembly.github.io/spec/core/binary/types.html */
  const typesOf = (end) => {
    const known = { __proto__: null, fields: 0, parameters: { __proto__: null }, count: 0, results: 0 };
    for (let left = number(); left > 0 && at < end; left--) {
      let form = bytes[at++];
      if (form === 0x4e) {
        left += number();
        continue;
      }
      if (form === 0x50 || form === 0x4f) {
        for (let above = number(); above > 0 && at < end; above--) number();
        form = bytes[at++];
      }
      if (form === 0x60) {
        const parameters = types(end);
        const results = types(end);
        known.parameters[known.count] = parameters;
        if (results > known.results) known.results = results;
      } else if (form === 0x5f) {
        const fields = number();
        if (fields > known.fields) known.fields = fields;
        for (let index = 0; index < fields && at < end; index++) {
          type();
          at++;
        }
      } else if (form === 0x5e) {
        type();
        at++;
      } else {
        // Of a later version of the format: nothing is known of this type and of those behind it.
        known.fields = ${MAX_FIELDS};
        break;
      }
      known.count++;
    }
    return known;
  };
  const skip = () => {
    while (bytes[at++] & 128);
  };
  const skipMany = () => {
    for (let left = number(); left > 0 && at < bytes.length; left--) skip();
  };
  /** The address of a load or store. */
  const skipAddress = () => {
    if (number() & 64) skip();
    skip();
  };
  /** Reads what follows an opcode. Returns false for one that is not known. https://webassembly.github.io/spec/core/binary/instructions.html */
  const skipImmediates = (opcode) => {
    if (opcode <= 0x1f) {
      if (opcode === 0x0e) {
        skipMany();
        skip();
      } else if (opcode === 0x1c) types(bytes.length);
      else if (opcode === 0x1f) {
        type();
        for (let left = number(); left > 0 && at < bytes.length; left--) {
          if (bytes[at++] < 2) skip();
          skip();
        }
      } else if (opcode === 0x11 || opcode === 0x13) {
        skip();
        skip();
      } else if (opcode >= 0x02 && opcode <= 0x06 && opcode !== 0x05) {
        // A type or the number of one.
        if (bytes[at] >= 128) skip();
        else type();
      } else if ((opcode >= 0x07 && opcode <= 0x09) || (opcode >= 0x0c && opcode <= 0x18 && opcode !== 0x0f)) skip();
      return opcode !== 0x16 && opcode !== 0x17 && opcode !== 0x1d && opcode !== 0x1e;
    }
    if (opcode <= 0x26) skip();
    else if (opcode >= 0x28 && opcode <= 0x3e) skipAddress();
    else if (opcode <= 0x42) skip();
    else if (opcode === 0x43) at += 4;
    else if (opcode === 0x44) at += 8;
    else if (opcode === 0xd0 || opcode === 0xd2 || opcode === 0xd5 || opcode === 0xd6) skip();
    else if (opcode === 0xfb) {
      const operation = number();
      if (operation > 30) return false;
      if (operation === 24 || operation === 25) at++;
      const operands = [1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 2, 1, 1, 1, 1, 0, 1, 2, 2, 2, 1, 1, 1, 1, 3, 3, 0, 0, 0, 0, 0][operation];
      for (let left = operands; left > 0; left--) skip();
    } else if (opcode === 0xfc) {
      const operation = number();
      if (operation > 17) return false;
      const operands = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1][operation];
      for (let left = operands; left > 0; left--) skip();
    } else if (opcode === 0xfd) {
      const operation = number();
      if (operation <= 11 || (operation >= 84 && operation <= 93)) skipAddress();
      if (operation === 12 || operation === 13) at += 16;
      if ((operation >= 21 && operation <= 34) || (operation >= 84 && operation <= 91)) at++;
    } else if (opcode === 0xfe) {
      if (number() === 3) at++;
      else skipAddress();
    } else return opcode <= 0xc4 || opcode === 0xd1 || opcode === 0xd3 || opcode === 0xd4;
    return true;
  };
  const BLOCKS = 1;
  const STRUCTS = 2;
  const CALLS = 3;
  const kinds = new Uint8Array(256);
  for (const block of [0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x19, 0x1f]) kinds[block] = BLOCKS;
  for (const call of [0x0c, 0x0d, 0x0e, 0x10, 0x11, 0x14]) kinds[call] = CALLS;
  kinds[0xfb] = STRUCTS;
  /** Counts the instructions that take V8 more than others. Behind one that is not known, each byte counts that may begin one. */
  const countInstructions = (end) => {
    const counts = [0, 0, 0, 0];
    let isKnown = true;
    while (at < end) {
      const opcode = bytes[at++];
      const kind = kinds[opcode];
      // struct.new and struct.new_default.
      if (kind !== STRUCTS || (bytes[at] & 126) === 0) counts[kind]++;
      if (isKnown) isKnown = skipImmediates(opcode);
    }
    return counts;
  };
  /** What V8 may have to do for the function that takes most. https://webassembly.github.io/spec/core/binary/modules.html#code-section */
  const workOf = (end, known, typesOfFunctions) => {
    let most = 0;
    const count = number();
    for (let index = 0; index < count && at < end; index++) {
      const length = number();
      const last = at + length < end ? at + length : end;
      let locals = known.parameters[typesOfFunctions[index]] ?? 0;
      for (let groups = number(); groups > 0 && at < last; groups--) {
        locals += number();
        type();
      }
      const weight = locals > known.fields ? locals : known.fields;
      if (${STRUCT_WORK} * (last - at) * (weight + known.results) > ${MAX_WORK}) {
        const counts = countInstructions(last);
        const blocks = counts[BLOCKS] * (locals + known.results);
        const calls = ${CALL_WORK} * counts[CALLS] * known.results;
        const work = blocks + calls + ${STRUCT_WORK} * counts[STRUCTS] * known.fields;
        if (work > most) most = work;
      }
      at = last;
    }
    return most;
  };
  /**
   * What a module takes that is made of these bytes, and why it is refused, if it is; a size of 0 for another value. V8 gets the \`source\` of
   * the result: the page cannot change that after it was measured.
   * https://webassembly.github.io/spec/core/binary/modules.html
   */
  const measure = (source) => {
    const measured = { __proto__: null, source: undefined, size: 0, problem: undefined };
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
    const length = apply(lengthOf, bytes, []);
    measured.size = length;
    let known = { __proto__: null, fields: 0, parameters: { __proto__: null }, results: 0 };
    const typesOfFunctions = { __proto__: null };
    at = 8;
    while (at < length) {
      const id = bytes[at++];
      const inner = number();
      const next = at + inner;
      const end = next < length ? next : length;
      if (end > at) measured.size += (end - at) * (factors[id] ?? factors.other);
      if (id === 1) known = typesOf(end);
      else if (id === 3) {
        const count = number();
        for (let index = 0; index < count && at < end; index++) typesOfFunctions[index] = number();
      } else if (id === 5 && number() > ${MAX_MEMORIES}) measured.problem = 'the module has too many memories';
      else if (id === 10 && workOf(end, known, typesOfFunctions) > ${MAX_WORK})
        measured.problem = 'a function is too expensive to compile';
      at = next;
    }
    bytes = undefined;
    return measured;
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
      const { source, size, problem } = measure(parameters[0]);
      if (problem !== undefined) throw new CompileError('WebAssembly.Module(): ' + problem);
      const buffer = new ArrayBuffer(size);
      const module = construct(original, [source, parameters[1]], target);
      apply(set, memory, [module, buffer]);
      return module;
    },
  });
  defineProperty(Module.prototype, 'constructor', { ...getOwnPropertyDescriptor(Module.prototype, 'constructor'), value: Module });
  const counted = (name, moduleOf) => ({
    apply: (original, self, parameters) => {
      const { source, size, problem } = measure(parameters[0]);
      if (problem !== undefined) {
        const error = new CompileError('WebAssembly.' + name + '(): ' + problem);
        return new Promise((_resolve, reject) => reject(error));
      }
      const result = apply(original, self, [source, parameters[1], parameters[2]]);
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
  replace('compile', counted('compile', (module) => module));
  replace('instantiate', counted('instantiate', ({ module }) => module));
  replace('validate', {
    apply: (original, self, parameters) => {
      const { source, problem } = measure(parameters[0]);
      return problem === undefined && apply(original, self, [source, parameters[1]]);
    },
  });
}`;

/** @type {vm.Script | undefined} */
let script;

/** Counts the memory of the modules of WebAssembly in a realm. @param {object} context in which no page has run */
function countWasmMemory(context) {
  script ??= new vm.Script(SOURCE, { filename: __filename });
  script.runInContext(context);
}

module.exports = { countWasmMemory };
