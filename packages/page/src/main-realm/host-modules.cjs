'use strict';

// Loads our own modules and jsdom's into a realm of a page thread.
//
// Three kinds of realm live in a page thread. The *main* realm is Node's and holds everything that can reach files, sockets and other
// threads. The *DOM* realm holds jsdom and our own code for it. Each window has a *window* realm. Code of a page can reach every object of
// its window's realm and of the DOM realm, so those two hold no object of the main realm.

const path = require('node:path');
const vm = require('node:vm');

const { isOwnError } = require('./own-objects.cjs');

const PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname', 'mainRealm'];

/** @typedef {{ exports: any }} Module */

/**
 * Compiles a CommonJS module to a function, in another function whose parameters hide globals. A module may still declare these names.
 *
 * @param {string} file
 * @param {string[]} globals names of the hidden globals
 * @param {string} source
 * @param {Buffer | undefined} cachedData
 */
function compile(file, globals, source, cachedData) {
  const head = `(function (${globals.join(', ')}) { return function (${PARAMETERS.join(', ')}) {`;
  return new vm.Script(`${head}${source}\n}})`, { filename: file, columnOffset: -head.length, cachedData });
}

/**
 * What stands in for a module: another file, a value, or what another file would resolve the specifier to.
 *
 * @typedef {(specifier: string, from: string) => { file: string } | { value: unknown } | { as: string } | undefined} Redirect
 */

class HostModules {
  #context;
  #store;
  #realmKind;
  #make;
  #redirect;
  #globals;
  #globalsFor;
  /** CommonJS modules by file. @type {Map<string, Module>} */
  #modules = new Map();
  /** ES modules by file. @type {Map<string, vm.SourceTextModule | vm.SyntheticModule>} */
  #linked = new Map();

  /**
   * @param {object} context a vm context
   * @param {import('./module-store.cjs').ModuleStore} store
   * @param {import('./module-store.cjs').RealmKind} realmKind of the context; the same globals are hidden in all realms of a kind
   * @param {Redirect} redirect is called before a specifier is resolved
   * @param {Record<string, unknown>} [globals] what modules see under these names in place of the properties of the global object, which a
   *   page may replace
   * @param {(file: string) => Record<string, unknown>} [globalsFor] more of them for a file: always the same names
   */
  constructor(context, store, realmKind, redirect, globals = {}, globalsFor = () => ({})) {
    this.#context = context;
    this.#store = store;
    this.#realmKind = realmKind;
    this.#redirect = redirect;
    this.#globals = globals;
    this.#globalsFor = globalsFor;
    // Module objects and `require` belong to the realm. Errors of the main realm are replaced by errors of the realm.
    this.#make = vm.runInContext(
      `'use strict'; ({
        module: () => ({ exports: {} }),
        // Both as functions that nobody has replaced: V8 makes the arguments of a proxy in the realm that calls it.
        json: (text) => JSON.parse(text),
        read: (object, key) => object[key],
        require: (load) => (specifier) => {
          const failure = { thrown: false, message: '', value: undefined };
          let exports;
          try {
            exports = load(specifier, failure);
          } catch {
            // The function catches everything within it, so this was thrown on the way in: the stack is full.
            throw new RangeError('Maximum call stack size exceeded');
          }
          if (failure.thrown) throw failure.message === '' ? failure.value : new Error(failure.message);
          return exports;
        },
        resolve: (specifier) => specifier,
      })`,
      context,
      { filename: __filename },
    );
  }

  /**
   * Requires a file into the realm.
   *
   * @param {string} file
   * @param {object} [mainRealm] what the module gets as `mainRealm`; modules that it requires do not get it
   * @returns {unknown} its exports
   */
  require(file, mainRealm) {
    return this.#store.kind(file) === 'esm' ? this.#requireEsm(file) : this.#requireCjs(file, mainRealm);
  }

  /**
   * @param {string} file
   * @param {object} [mainRealm]
   */
  #requireCjs(file, mainRealm) {
    const known = this.#modules.get(file);
    if (known !== undefined) return known.exports;
    /** @type {Module} */
    const module = this.#make.module();
    this.#modules.set(file, module);
    if (this.#store.kind(file) === 'json') {
      module.exports = this.#make.json(this.#store.source(file));
      return module.exports;
    }
    const require = this.#make.require((/** @type {string} */ specifier, /** @type {any} */ failure) => {
      try {
        return this.#follow(specifier, file);
      } catch (error) {
        failure.thrown = true;
        if (isOwnError(error)) failure.message = String(error.message) || 'unknown';
        // A module threw an error of its realm: it is thrown on as it is.
        else failure.value = error;
        return undefined;
      }
    });
    // Not by a function of the realm, which a page may have replaced: with `require`, it could read files.
    Reflect.defineProperty(require, 'resolve', { value: this.#make.resolve });
    const globals = { ...this.#globals, ...this.#globalsFor(file) };
    const script = this.#store.script(this.#realmKind, file, (source, cachedData) =>
      compile(file, Object.keys(globals), source, cachedData),
    );
    const run = script.runInContext(this.#context)(...Object.values(globals));
    // Not `run.call`: that would be the context's, and a page may have replaced it.
    Reflect.apply(run, module.exports, [module.exports, require, module, file, path.dirname(file), mainRealm]);
    return module.exports;
  }

  /**
   * @param {string} specifier
   * @param {string} from the file that requires it
   * @returns {{ file: string } | { value: unknown }}
   */
  #locate(specifier, from) {
    const found = this.#redirect(specifier, from);
    if (found !== undefined && !('as' in found)) return found;
    const file = this.#store.resolve(specifier, found?.as ?? from);
    // Redirects also stand in for files by their paths.
    const other = this.#redirect(file, from);
    return other === undefined || 'as' in other ? { file } : other;
  }

  /**
   * @param {string} specifier
   * @param {string} from
   */
  #follow(specifier, from) {
    const found = this.#locate(specifier, from);
    return 'value' in found ? found.value : this.require(found.file);
  }

  /** @param {string} file */
  #requireEsm(file) {
    const module = this.#link(file);
    if (module.status === 'linked' || module.status === 'unlinked') {
      /** @type {vm.SourceTextModule} */ (module).instantiate();
      // A module without a top-level await is evaluated when this returns.
      module.evaluate().catch(() => {});
    }
    if (module.status === 'evaluated') return module.namespace;
    throw module.status === 'errored' ? module.error : new Error(`${file} awaits at its top level`);
  }

  /** @param {string} file */
  #link(file) {
    const known = this.#linked.get(file);
    if (known !== undefined) return known;
    const module = new vm.SourceTextModule(this.#store.source(file), { context: this.#context, identifier: file });
    this.#linked.set(file, module);
    module.linkRequests(
      module.moduleRequests.map(({ specifier }) => {
        const found = this.#locate(specifier, file);
        if ('value' in found) return this.#synthetic(`${specifier} of ${file}`, found.value);
        return this.#store.kind(found.file) === 'esm'
          ? this.#link(found.file)
          : this.#synthetic(found.file, this.require(found.file));
      }),
    );
    return module;
  }

  /**
   * CommonJS exports as an ES module.
   *
   * @param {string} name
   * @param {any} exports
   */
  #synthetic(name, exports) {
    const known = this.#linked.get(name);
    if (known !== undefined) return known;
    const names = new Set(['default', ...Object.keys(exports)]);
    const module = new vm.SyntheticModule(
      [...names],
      () => {
        for (const key of names) module.setExport(key, key === 'default' ? exports : this.#make.read(exports, key));
      },
      { context: this.#context, identifier: name },
    );
    this.#linked.set(name, module);
    return module;
  }
}

module.exports = { HostModules };
