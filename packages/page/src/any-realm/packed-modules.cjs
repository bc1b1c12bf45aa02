'use strict';

// What one thread has loaded of the host's modules, for threads that start later: source texts, V8's cached code, and what specifiers
// resolve to. All bytes are in one piece of shared memory, so that another thread gets them without a copy.

/** @typedef {[from: number, to: number]} Range in the bytes */

/**
 * @typedef {object} ModuleEntry
 * @property {string} file
 * @property {'cjs' | 'esm' | 'json'} [kind]
 * @property {Range} [source]
 * @property {Record<string, Range>} code by the kind of realm that it was compiled for
 * @property {Record<string, number>} resolved numbers of entries, by the specifiers in this file
 */

/**
 * @typedef {object} PackedModules
 * @property {Uint8Array} bytes
 * @property {string} index JSON of `ModuleEntry[]`, which is faster to copy than the objects
 */

class Packer {
  /** @type {{ at: number, piece: Uint8Array }[]} */
  #pieces = [];
  #length = 0;

  /** @param {Uint8Array} piece @returns {Range} its place */
  add(piece) {
    const at = this.#length;
    this.#pieces.push({ at, piece });
    this.#length += piece.byteLength;
    return [at, this.#length];
  }

  /** @param {ModuleEntry[]} entries @returns {PackedModules} */
  pack(entries) {
    const bytes = new Uint8Array(new SharedArrayBuffer(this.#length));
    for (const { at, piece } of this.#pieces) bytes.set(piece, at);
    return { bytes, index: JSON.stringify(entries) };
  }
}

module.exports = { Packer };
