'use strict';

// The host's modules as a thread finds them on disk: source texts, the scripts that they are compiled to, and what specifiers resolve to.
// All realms of the thread use it, and it can start with what another thread has loaded. Packages do not change while a program runs.

const fs = require('node:fs');

const { Packer } = require('../any-realm/packed-modules.cjs');
const { kindOf, resolve } = require('./module-resolution.cjs');

/** @typedef {import('../any-realm/packed-modules.cjs').PackedModules} PackedModules */
/** @typedef {import('../any-realm/packed-modules.cjs').ModuleEntry} ModuleEntry */
/** @typedef {import('../any-realm/packed-modules.cjs').Range} Range */
/** @typedef {'dom' | 'window'} RealmKind the realms of a kind compile a file in the same way */

/** What is known of a file. */
class KnownFile {
  /** @type {string | undefined} */
  source;
  /** @type {ReturnType<typeof kindOf> | undefined} */
  kind;
  /** Files by the specifiers in this file. @type {Map<string, string>} */
  resolved = new Map();
  /** @type {Map<RealmKind, import('node:vm').Script>} */
  scripts = new Map();
}

class ModuleStore {
  /** By path. @type {Map<string, KnownFile>} */
  #files = new Map();
  #packed;
  /** What another thread has loaded, by path. @type {Map<string, ModuleEntry>} */
  #entries = new Map();
  /** @type {ModuleEntry[]} */
  #numbered = [];

  /** @param {PackedModules} [packed] what another thread has loaded */
  constructor(packed) {
    this.#packed = packed;
    if (packed === undefined) return;
    this.#numbered = JSON.parse(packed.index);
    for (const entry of this.#numbered) this.#entries.set(entry.file, entry);
  }

  /** @param {string} file */
  #file(file) {
    let known = this.#files.get(file);
    if (known === undefined) {
      known = new KnownFile();
      this.#files.set(file, known);
    }
    return known;
  }

  /** The bytes at a place in what another thread has loaded. @param {Range | undefined} range */
  #bytes(range) {
    if (range === undefined || this.#packed === undefined) return undefined;
    const { buffer, byteOffset } = this.#packed.bytes;
    return Buffer.from(/** @type {ArrayBuffer} */ (buffer), byteOffset + range[0], range[1] - range[0]);
  }

  /** @param {string} file */
  source(file) {
    const known = this.#file(file);
    known.source ??= this.#bytes(this.#entries.get(file)?.source)?.toString('utf8') ?? fs.readFileSync(file, 'utf8');
    return known.source;
  }

  /** @param {string} file */
  kind(file) {
    const known = this.#file(file);
    known.kind ??= this.#entries.get(file)?.kind ?? kindOf(file);
    return known.kind;
  }

  /**
   * @param {string} specifier
   * @param {string} from the file that requires or imports it
   * @returns {string} an absolute path
   */
  resolve(specifier, from) {
    const { resolved } = this.#file(from);
    let file = resolved.get(specifier);
    if (file === undefined) {
      const entry = this.#entries.get(from);
      if (entry !== undefined && Object.hasOwn(entry.resolved, specifier))
        file = this.#numbered[entry.resolved[specifier]].file;
      else file = resolve(specifier, from, this.kind(from) === 'esm' ? 'esm' : 'cjs');
      resolved.set(specifier, file);
    }
    return file;
  }

  /**
   * The script of a file, which may run in any number of realms of the kind.
   *
   * @param {RealmKind} realm
   * @param {string} file
   * @param {(source: string, cachedData: Buffer | undefined) => import('node:vm').Script} compile
   */
  script(realm, file, compile) {
    const { scripts } = this.#file(file);
    let script = scripts.get(realm);
    if (script === undefined) {
      script = compile(this.source(file), this.#bytes(this.#entries.get(file)?.code[realm]));
      scripts.set(realm, script);
    }
    return script;
  }

  /** What this thread has loaded, with the code of the functions that have run, for other threads. @returns {PackedModules} */
  pack() {
    if (this.#packed !== undefined) return this.#packed;
    const packer = new Packer();
    /** @type {Map<string, number>} */
    const numbers = new Map();
    const numberOf = (/** @type {string} */ file) => {
      const number = numbers.get(file) ?? numbers.size;
      numbers.set(file, number);
      return number;
    };
    for (const [file, { resolved }] of this.#files) {
      numberOf(file);
      for (const other of resolved.values()) numberOf(other);
    }
    const entries = Array.from(numbers.keys(), (file) => {
      const { source, kind, resolved, scripts } = this.#files.get(file) ?? new KnownFile();
      /** @type {ModuleEntry} */
      const entry = { file, code: {}, resolved: {} };
      if (kind !== undefined) entry.kind = kind;
      if (source !== undefined) entry.source = packer.add(Buffer.from(source, 'utf8'));
      for (const [realm, script] of scripts) entry.code[realm] = packer.add(script.createCachedData());
      for (const [specifier, other] of resolved) entry.resolved[specifier] = numberOf(other);
      return entry;
    });
    return packer.pack(entries);
  }
}

module.exports = { ModuleStore };
