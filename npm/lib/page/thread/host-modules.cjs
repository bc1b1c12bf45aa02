'use strict';

// Our own modules and jsdom's, loaded into a realm of a page thread.
//
// Three kinds of realm live in a page thread. The *main* realm is Node's and holds everything that can reach files,
// sockets and other threads. The *DOM* realm holds jsdom and our own code for it. Each window has a *window* realm. Code of a
// page can get at every object of its window's realm and of the DOM realm, so those two hold no object of the main realm.

const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const { pack } = require('../code-cache.cjs');
const { kindOf, resolve } = require('./resolve.cjs');

const PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname', 'mainRealm'];

/** Source texts by file: several realms of a thread load the same modules. */
const sources = new Map();

function sourceOf(file) {
  let source = sources.get(file);
  if (source === undefined) {
    source = fs.readFileSync(file, 'utf8');
    sources.set(file, source);
  }
  return source;
}

/** A CommonJS module as a script that gives a function. */
function compile(file, globals, cachedData) {
  // A module may take the same names from the global object.
  const head = `(function (${globals.join(', ')}) { return function (${PARAMETERS.join(', ')}) {`;
  return new vm.Script(`${head}${sourceOf(file)}\n}})`, { filename: file, columnOffset: -head.length, cachedData });
}

/**
 * Where a module comes from that is not simply resolved: another file, a value, or as another file would resolve it.
 *
 * @typedef {(specifier: string, from: string) => { file: string } | { value: unknown } | { as: string } | undefined} Redirect
 */

class HostModules {
  #context;
  #make;
  #redirect;
  #globals;
  #modules = new Map();
  /** By file: what was compiled here, and what others have compiled. */
  #scripts = new Map();
  #code;
  #linked = new Map();

  /**
   * @param {object} context a vm context
   * @param {Redirect} redirect is asked before a specifier is resolved
   * @param {Record<string, unknown>} [globals] what modules find under these names instead of properties of the global
   *   object, which a page may replace
   * @param {ReturnType<typeof import('../code-cache.cjs').pack>} [code] what other threads made of these modules
   */
  constructor(context, redirect, globals = {}, code = undefined) {
    this.#context = context;
    this.#redirect = redirect;
    this.#globals = globals;
    this.#code = code;
    // Module objects and `require` belong to the realm; what goes wrong on our side is told in an error of the realm.
    this.#make = vm.runInContext(
      `'use strict'; ({
        module: () => ({ exports: {} }),
        json: JSON.parse,
        require: (load) => Object.assign((specifier) => {
          const failure = { thrown: false, message: '', value: undefined };
          let exports;
          try {
            exports = load(specifier, failure);
          } catch {
            // It catches what it can. What is left was thrown on the way in, in its realm.
            throw new RangeError('Maximum call stack size exceeded');
          }
          if (failure.thrown) throw failure.message === '' ? failure.value : new Error(failure.message);
          return exports;
        }, { resolve: (specifier) => specifier }),
      })`,
      context,
      { filename: __filename },
    );
  }

  /**
   * Requires a file into the realm.
   *
   * @param {string} file
   * @param {object} [mainRealm] what the module gets as `mainRealm`; none of its own modules sees it
   */
  require(file, mainRealm) {
    return kindOf(file) === 'esm' ? this.#requireEsm(file) : this.#requireCjs(file, mainRealm);
  }

  #requireCjs(file, mainRealm) {
    const known = this.#modules.get(file);
    if (known !== undefined) return known.exports;
    const module = this.#make.module();
    this.#modules.set(file, module);
    if (kindOf(file) === 'json') {
      module.exports = this.#make.json(sourceOf(file));
      return module.exports;
    }
    const require = this.#make.require((specifier, failure) => {
      try {
        return this.#follow(specifier, file, 'cjs');
      } catch (error) {
        failure.thrown = true;
        if (error instanceof Error) failure.message = String(error.message) || 'unknown';
        // An error of the realm itself, thrown by a module, goes on as it is.
        else failure.value = error;
        return undefined;
      }
    });
    const script = compile(file, Object.keys(this.#globals), this.#cached(file));
    if (this.#code === undefined) this.#scripts.set(file, script);
    const run = script.runInContext(this.#context)(...Object.values(this.#globals));
    run.call(module.exports, module.exports, require, module, file, path.dirname(file), mainRealm);
    return module.exports;
  }

  #cached(file) {
    const place = this.#code?.index.get(file);
    return place && this.#code.bytes.subarray(...place);
  }

  /** What V8 made of the modules, with the functions that have run, for other threads. */
  code() {
    return this.#code ?? pack(new Map(Array.from(this.#scripts, ([file, script]) => [file, script.createCachedData()])));
  }

  #locate(specifier, from, kind) {
    const found = this.#redirect(specifier, from);
    if (found !== undefined && !('as' in found)) return found;
    return this.#substitute(resolve(specifier, found?.as ?? from, kind), from);
  }

  /** A redirect may also name the file that a specifier resolved to. */
  #substitute(file, from) {
    return this.#redirect(file, from) ?? { file };
  }

  #follow(specifier, from, kind) {
    const found = this.#locate(specifier, from, kind);
    return 'value' in found ? found.value : this.require(found.file);
  }

  #requireEsm(file) {
    const module = this.#link(file);
    if (module.status === 'linked' || module.status === 'unlinked') {
      module.instantiate();
      // Without a top-level await it is evaluated when this returns.
      module.evaluate().catch(() => {});
    }
    if (module.status === 'evaluated') return module.namespace;
    throw module.status === 'errored' ? module.error : new Error(`${file} awaits at its top level`);
  }

  #link(file) {
    const known = this.#linked.get(file);
    if (known !== undefined) return known;
    const module = new vm.SourceTextModule(sourceOf(file), { context: this.#context, identifier: file });
    this.#linked.set(file, module);
    module.linkRequests(
      module.moduleRequests.map(({ specifier }) => {
        const found = this.#locate(specifier, file, 'esm');
        if ('value' in found) return this.#synthetic(`${specifier} of ${file}`, found.value);
        return kindOf(found.file) === 'esm' ? this.#link(found.file) : this.#synthetic(found.file, this.require(found.file));
      }),
    );
    return module;
  }

  /** CommonJS exports as a module. */
  #synthetic(name, exports) {
    const known = this.#linked.get(name);
    if (known !== undefined) return known;
    const names = new Set(['default', ...Object.keys(exports)]);
    const module = new vm.SyntheticModule(
      [...names],
      () => {
        for (const key of names) module.setExport(key, key === 'default' ? exports : exports[key]);
      },
      { context: this.#context, identifier: name },
    );
    this.#linked.set(name, module);
    return module;
  }
}

module.exports = { HostModules };
