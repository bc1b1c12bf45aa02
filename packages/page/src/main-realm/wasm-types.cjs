'use strict';

// V8 keeps each type of WebAssembly once for the whole process, and for good, and ends the process when there are too many. So each page may
// add so many of them, see crates/node/src/wasm_types.rs.

const native = require('selfprof/internal/native.cjs');

const { PAGE_STATE } = require('../any-realm/page-state.cjs');

/** How many types a page may use that no other page has used before. Large modules of compilers for Dart and Kotlin have some thousands. */
const MAX_NEW = 20_000;

class WasmTypes {
  #pageState;

  /** @param {Int32Array} pageState see any-realm/page-state.cjs */
  constructor(pageState) {
    this.#pageState = pageState;
  }

  /** Whether the page may use these types. @param {Uint8Array | string} types a valid module, or a name that stands for one type */
  add(types) {
    const room = MAX_NEW - Atomics.load(this.#pageState, PAGE_STATE.wasmTypes);
    const added = native.noteWasmTypes(types, Math.max(0, room));
    if (added > 0) Atomics.add(this.#pageState, PAGE_STATE.wasmTypes, added);
    return added >= 0;
  }
}

module.exports = { WasmTypes };
