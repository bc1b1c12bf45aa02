'use strict';

// Module scripts: resolving, fetching, linking, running. https://html.spec.whatwg.org/multipage/webappapis.html#module-script
//
// V8 compiles and links (crates/node/src/scripts.rs); what it imports is fetched here. Modules are always fetched with CORS,
// so none is muted.

const native = require('../../native.cjs');
const { isJavaScript, isJson } = require('../network/mime.cjs');
const { ImportMap } = require('./import-map.cjs');
const { compileModule } = require('./scripts.cjs');

/** How many modules a document may have: each import of one that is made up is another request. */
const MAX_MODULES = 20_000;

/** A module could not be had: the `error` event of its element, or a TypeError. */
class ModuleNotLoaded extends Error {}

/**
 * A module script.
 *
 * @typedef {object} ModuleScript
 * @property {string} url its base URL
 * @property {object | undefined} compiled the native module; undefined when it could not be compiled
 * @property {{ thrown: unknown } | undefined} failure what it throws instead of being run
 * @property {ModuleScript[] | undefined} imported in the order of its requests, once they are fetched
 * @property {boolean} isLinked
 */

/** The modules of a window. */
class WindowModules {
  #window;
  #fetch;
  /** By type and URL: promises of module scripts. A URL that failed is not asked again. */
  #map = new Map();
  #importMap = new ImportMap();
  #prepared = new Map();
  #nextHandle = 1;

  /**
   * @param {import('./windows.cjs').WindowRecord} window
   * @param {(request: object) => Promise<import('../network/fetch.cjs').Response>} fetch
   */
  constructor(window, fetch) {
    this.#window = window;
    this.#fetch = fetch;
  }

  /** @returns {string} what is wrong with it, empty when nothing is */
  registerImportMap(text, base) {
    return this.#importMap.register(text, base);
  }

  /**
   * Resolves a module specifier.
   *
   * @returns {string}
   * @throws {ModuleNotLoaded}
   */
  resolve(specifier, base) {
    const url = this.#importMap.resolve(specifier, base);
    if (url === undefined) throw new ModuleNotLoaded(`Failed to resolve module specifier '${specifier}', which ${base} imports`);
    return url;
  }

  /** Takes a module that was fetched elsewhere: a worker's own. */
  preload(response) {
    this.#map.set(keyOf('javascript', response.url), Promise.resolve(this.#compile(new TextDecoder().decode(response.body), response.url)));
  }

  /**
   * Fetches a module and everything that it imports, and links it.
   *
   * @param {{ url?: string, source?: string, base: string, line?: number, column?: number, name?: string,
   *   credentials: string, referrer: string }} wish a URL, or the text of an inline script
   * @returns {Promise<number>} a handle to run it by
   * @throws {ModuleNotLoaded}
   */
  async prepare(wish) {
    const { credentials, referrer } = wish;
    const script =
      wish.url === undefined
        ? this.#compile(wish.source, wish.name, { line: wish.line, column: wish.column, base: wish.base })
        : await this.#load(wish.url, 'javascript', { credentials, referrer, integrity: wish.integrity });
    await this.#loadImports(script, credentials, new Set());
    this.#link(script);
    const handle = this.#nextHandle++;
    this.#prepared.set(handle, script);
    return handle;
  }

  /**
   * Runs a module that was prepared.
   *
   * @param {(thrown: unknown) => void} onRejected
   * @throws what it throws instead of being run
   */
  run(handle, onRejected) {
    const script = this.#prepared.get(handle);
    if (script === undefined) throw new Error('the module is not there');
    this.#prepared.delete(handle);
    if (script.failure !== undefined) throw script.failure.thrown;
    this.#window.code.settle(script.compiled.evaluate(), () => {}, onRejected);
  }

  /** `import(specifier)`: settles the native promise. */
  async import(id, specifier, attributes, base) {
    const fail = (thrown) => native.settleImport(id, false, thrown);
    let script;
    try {
      const type = this.#typeOf(attributes);
      script = await this.#load(this.resolve(specifier, base), type, { credentials: 'same-origin', referrer: base });
      await this.#loadImports(script, 'same-origin', new Set());
      this.#link(script);
    } catch (error) {
      // Errors of the main realm stay there.
      fail(this.#window.code.makeError('TypeError', error instanceof Error ? String(error.message) : 'import() failed'));
      return;
    }
    if (script.failure !== undefined) {
      fail(script.failure.thrown);
      return;
    }
    this.#window.code.settle(script.compiled.evaluate(), () => native.settleImport(id, true, script.compiled.namespace), fail);
  }

  #typeOf(attributes) {
    let type = 'javascript';
    for (let at = 0; at < attributes.length; at += 2) {
      if (attributes[at] !== 'type') throw new ModuleNotLoaded(`the import attribute '${attributes[at]}' is not supported`);
      if (attributes[at + 1] !== 'json') throw new ModuleNotLoaded(`modules of type '${attributes[at + 1]}' are not supported`);
      type = 'json';
    }
    return type;
  }

  #load(url, type, options) {
    const key = keyOf(type, url);
    let loading = this.#map.get(key);
    if (loading === undefined) {
      if (this.#map.size >= MAX_MODULES) throw new ModuleNotLoaded(`a document may have no more than ${MAX_MODULES} modules`);
      loading = this.#request(url, type, options);
      loading.catch(() => {});
      this.#map.set(key, loading);
    }
    return loading;
  }

  async #request(url, type, { credentials, referrer, integrity = '' }) {
    let response;
    try {
      const destination = type === 'json' ? 'json' : 'module';
      response = await this.#fetch({ url, mode: 'cors', credentials, referrer, destination, integrity });
    } catch (error) {
      throw new ModuleNotLoaded(`Failed to fetch the module ${url}: ${error.message}`);
    }
    if (response.status < 200 || response.status > 299) throw new ModuleNotLoaded(`${url} answered ${response.status}`);
    const media = response.headers.find(([name]) => name === 'content-type')?.[1];
    if (!(type === 'json' ? isJson(media) : isJavaScript(media))) {
      throw new ModuleNotLoaded(`${url} is served as '${media ?? ''}', which is not ${type === 'json' ? 'JSON' : 'JavaScript'}`);
    }
    const text = new TextDecoder().decode(response.body);
    return type === 'json' ? this.#compileJson(text, response.url) : this.#compile(text, response.url);
  }

  #compile(source, url, { line = 0, column = 0, base = url } = {}) {
    const { anchor, realm } = this.#window;
    const script = { url: base, compiled: undefined, failure: undefined, imported: undefined, isLinked: false };
    try {
      script.compiled = compileModule(anchor, source, url, { line, column, realm });
    } catch (thrown) {
      if (thrown instanceof Error) throw thrown;
      script.failure = { thrown };
    }
    return script;
  }

  /** A JSON module, as a module whose default export is the text as an expression. */
  #compileJson(text, url) {
    try {
      JSON.parse(text);
    } catch (error) {
      const thrown = this.#window.code.makeError('SyntaxError', String(error.message));
      return { url, compiled: undefined, failure: { thrown }, imported: [], isLinked: true };
    }
    // In an object literal that key alone means something else.
    const literal = text.replace(/("(?:[^"\\]|\\.)*")(\s*:)?/g, (whole, key, colon) =>
      colon !== undefined && JSON.parse(key) === '__proto__' ? `[${key}]:` : whole,
    );
    return this.#compile(`export default (${literal});`, url);
  }

  /** Fetches what a module imports, and what that imports. */
  async #loadImports(script, credentials, visited) {
    if (visited.has(script) || script.compiled === undefined) return;
    visited.add(script);
    if (script.imported === undefined) {
      const requests = script.compiled.requests.map(([specifier, ...attributes]) => ({
        type: this.#typeOf(attributes),
        url: this.resolve(specifier, script.url),
      }));
      script.imported = await Promise.all(
        requests.map(({ url, type }) => this.#load(url, type, { credentials, referrer: script.url })),
      );
    }
    await Promise.all(script.imported.map((imported) => this.#loadImports(imported, credentials, visited)));
  }

  /** Links a module with all that it imports. A failure below is its own, too. */
  #link(root) {
    const reachable = new Set();
    const visit = (script) => {
      if (reachable.has(script)) return;
      reachable.add(script);
      for (const imported of script.imported ?? []) visit(imported);
    };
    visit(root);
    const failed = [...reachable].find(({ failure }) => failure !== undefined);
    if (failed !== undefined) {
      root.failure ??= failed.failure;
      return;
    }
    for (const script of reachable) {
      if (script.isLinked) continue;
      script.isLinked = true;
      script.compiled.link(script.imported.map(({ compiled }) => compiled));
    }
    try {
      root.compiled.instantiate();
    } catch (thrown) {
      if (thrown instanceof Error) throw thrown;
      root.failure = { thrown };
    }
  }
}

function keyOf(type, url) {
  return `${type} ${url.split('#')[0]}${new URL(url).hash}`;
}

module.exports = { ModuleNotLoaded, WindowModules };
