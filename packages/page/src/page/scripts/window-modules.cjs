'use strict';

// Module scripts: resolving, fetching, linking, running.
// https://html.spec.whatwg.org/multipage/webappapis.html#module-script
//
// V8 compiles and links modules (crates/node/src/pages/scripts.rs); this file fetches what they import. Modules are
// always fetched with CORS, so none is muted.

const native = require('selfprof/internal/native.cjs');
const { withoutFragment } = require('../../fetch/without-fragment.cjs');
const { getHeader } = require('../../fetch/headers.cjs');
const { isJavaScript, isJson } = require('../../fetch/mime-type.cjs');
const { ImportMap } = require('./import-map.cjs');

/** @typedef {import('../../fetch/request.cjs').Response} Response */
/** @typedef {import('../thread-messages.js').Credentials} Credentials */

/** A module could not be loaded: an `error` event of its element, or a TypeError with the message. */
class ModuleNotLoaded extends Error {
  /** Why, for the page's user; undefined when the message says it. @type {string | undefined} */
  reason;
}

/** @typedef {'javascript' | 'json'} ModuleType */

/** @typedef {{ credentials: Credentials, referrer: string, integrity?: string }} ModuleFetchOptions */

/**
 * A module script.
 *
 * @typedef {object} ModuleScript
 * @property {string} url its base URL
 * @property {boolean} isFetched whether it was fetched from its base URL
 * @property {import('selfprof/internal/native.js').ScriptModule | undefined} compiled undefined when it could not be
 *   compiled
 * @property {{ thrown: unknown } | undefined} failure what it throws instead of running
 * @property {ModuleScript[] | undefined} imported in the order of its requests, once they are fetched
 * @property {boolean} isLinked
 */

/** The modules of a window. */
class WindowModules {
  #thread;
  #window;
  /** By type and URL. A URL that failed is not requested again. @type {Map<string, Promise<ModuleScript>>} */
  #map = new Map();
  #importMap = new ImportMap();

  /**
   * @param {import('../page-thread.cjs').PageThread} thread
   * @param {import('../windows/page-window.cjs').PageWindow} window
   */
  constructor(thread, window) {
    this.#thread = thread;
    this.#window = window;
  }

  /** @param {string} text @param {string} base @throws {TypeError} of the window */
  registerImportMap(text, base) {
    const problem = this.#importMap.register(text, base);
    if (problem !== '') throw this.#window.code.makeError('TypeError', problem);
  }

  /**
   * Resolves a module specifier.
   *
   * @param {string} specifier
   * @param {string} base
   * @returns {string}
   * @throws {ModuleNotLoaded}
   */
  resolve(specifier, base) {
    const url = this.#importMap.resolve(specifier, base);
    if (url === undefined)
      throw new ModuleNotLoaded(`Failed to resolve module specifier '${specifier}', which ${base} imports`);
    return url;
  }

  /** Adds a module that was fetched elsewhere: a worker's own script. @param {Response} response */
  preload(response) {
    this.#map.set(
      keyOf('javascript', response.url),
      Promise.resolve(this.#compile(new TextDecoder().decode(response.body), response.url, { isFetched: true })),
    );
  }

  /**
   * Fetches a module and everything that it imports, and links it.
   *
   * @param {ModuleFetchOptions & { url: string }} options
   * @returns {Promise<ModuleScript>} what `run` takes
   * @throws {ModuleNotLoaded}
   */
  async prepare({ url, ...options }) {
    return this.#loadAndLink(await this.#load(url, 'javascript', options), options.credentials);
  }

  /**
   * The same for an inline script.
   *
   * @param {{ source: string, url: string, base: string, line: number, column: number, credentials: Credentials }}
   *   options `url` is what stack traces show
   * @returns {Promise<ModuleScript>}
   * @throws {ModuleNotLoaded}
   */
  async prepareInline({ source, url, credentials, ...options }) {
    return this.#loadAndLink(this.#compile(source, withoutFragment(url), options), credentials);
  }

  /**
   * @param {ModuleScript} script
   * @param {Credentials} credentials
   */
  async #loadAndLink(script, credentials) {
    await this.#loadImports(script, credentials);
    this.#link(script);
    return script;
  }

  /**
   * Runs a module that was prepared.
   *
   * @param {ModuleScript} script
   * @throws what it throws instead of running
   */
  run(script) {
    if (script.failure !== undefined) throw script.failure.thrown;
    const onRejected = (/** @type {unknown} */ thrown) => this.#thread.report(thrown, this.#window.window);
    this.#window.code.settle(compiledOf(script).evaluate(), () => {}, onRejected);
  }

  /**
   * `import(specifier)`: settles the addon's promise.
   *
   * @param {number} id of the promise
   * @param {string} specifier
   * @param {string[]} attributes names and values
   * @param {string} base
   */
  async import(id, specifier, attributes, base) {
    const fail = (/** @type {unknown} */ thrown) => native.settleImport(id, false, thrown);
    const { makeError, settle } = this.#window.code;
    /** @type {ModuleScript} */
    let script;
    try {
      const type = typeOf(attributes);
      const referrer = this.#window.referrerOf(base);
      script = await this.#load(this.resolve(specifier, base), type, { credentials: 'same-origin', referrer });
      await this.#loadAndLink(script, 'same-origin');
    } catch (error) {
      if (error instanceof ModuleNotLoaded && error.reason !== undefined)
        this.#thread.reports.loadFailure({ window: this.#window, initiator: 'module', url: specifier }, error);
      fail(makeError('TypeError', error instanceof Error ? String(error.message) : 'import() failed'));
      return;
    }
    if (script.failure !== undefined) {
      fail(script.failure.thrown);
      return;
    }
    const compiled = compiledOf(script);
    settle(compiled.evaluate(), () => native.settleImport(id, true, compiled.namespace), fail);
  }

  /**
   * @param {string} url
   * @param {ModuleType} type
   * @param {ModuleFetchOptions} options
   */
  #load(url, type, options) {
    const key = keyOf(type, url);
    let loading = this.#map.get(key);
    if (loading === undefined) {
      loading = this.#request(url, type, options);
      loading.catch(() => {});
      this.#map.set(key, loading);
    }
    return loading;
  }

  /**
   * @param {string} url
   * @param {ModuleType} type
   * @param {ModuleFetchOptions} options
   */
  async #request(url, type, { credentials, referrer, integrity = '' }) {
    /** @type {Response} */
    let response;
    try {
      const destination = type === 'json' ? 'json' : 'module';
      const source = { window: this.#window, initiator: 'script' };
      const request = { url, mode: /** @type {const} */ ('cors'), credentials, referrer, destination, integrity };
      response = await this.#thread.loader.fetchUnfiltered({ ...request, ...source });
    } catch (error) {
      const failure = new ModuleNotLoaded(`Failed to fetch the module ${url}`);
      failure.reason = error instanceof Error ? error.message : String(error);
      throw failure;
    }
    if (response.status < 200 || response.status > 299) throw new ModuleNotLoaded(`${url} answered ${response.status}`);
    const media = getHeader(response.headers, 'content-type');
    if (!(type === 'json' ? isJson(media) : isJavaScript(media))) {
      throw new ModuleNotLoaded(
        `${url} is served as '${media ?? ''}', which is not ${type === 'json' ? 'JSON' : 'JavaScript'}`,
      );
    }
    const text = new TextDecoder().decode(response.body);
    return type === 'json'
      ? this.#compileJson(text, response.url)
      : this.#compile(text, response.url, { isFetched: true });
  }

  /**
   * @param {string} source
   * @param {string} url
   * @param {{ line?: number, column?: number, base?: string, isFetched?: boolean }} [options]
   */
  #compile(source, url, { line = 0, column = 0, base = url, isFetched = false } = {}) {
    /** @type {ModuleScript} */
    const script = {
      url: base,
      isFetched,
      compiled: undefined,
      failure: undefined,
      imported: undefined,
      isLinked: false,
    };
    try {
      script.compiled = this.#window.realm.compileModule(source, url, { line, column, muted: false });
    } catch (thrown) {
      script.failure = { thrown };
    }
    return script;
  }

  /**
   * A JSON module: a module whose default export is the value.
   *
   * @param {string} text
   * @param {string} url
   * @returns {ModuleScript}
   */
  #compileJson(text, url) {
    try {
      JSON.parse(text);
    } catch (error) {
      const { makeError } = this.#window.code;
      const thrown = makeError('SyntaxError', String(/** @type {Error} */ (error).message));
      return { url, isFetched: true, compiled: undefined, failure: { thrown }, imported: undefined, isLinked: false };
    }
    return this.#compile(`export default JSON.parse(${JSON.stringify(text)});`, url);
  }

  /**
   * Fetches what a module imports, and what that imports.
   *
   * @param {ModuleScript} script
   * @param {Credentials} credentials
   * @param {Set<ModuleScript>} [visited]
   */
  async #loadImports(script, credentials, visited = new Set()) {
    if (visited.has(script) || script.compiled === undefined) return;
    visited.add(script);
    if (script.imported === undefined) {
      const requests = script.compiled.requests.map(([specifier, ...attributes]) => ({
        type: typeOf(attributes),
        url: this.resolve(specifier, script.url),
      }));
      // The base URL of an inline script is the page's choice.
      const referrer = script.isFetched ? script.url : this.#window.referrerOf(script.url);
      script.imported = await Promise.all(
        requests.map(({ url, type }) => this.#load(url, type, { credentials, referrer })),
      );
    }
    await Promise.all(script.imported.map((imported) => this.#loadImports(imported, credentials, visited)));
  }

  /**
   * Links a module with everything that it imports. If one of those has failed, so has the module.
   *
   * @param {ModuleScript} root
   */
  #link(root) {
    /** @type {Set<ModuleScript>} */
    const reachable = new Set();
    const waiting = [root];
    for (let script = waiting.pop(); script !== undefined; script = waiting.pop()) {
      if (reachable.has(script)) continue;
      reachable.add(script);
      // The first import comes next.
      for (const imported of script.imported?.toReversed() ?? []) waiting.push(imported);
    }
    const failed = [...reachable].find(({ failure }) => failure !== undefined);
    if (failed !== undefined) {
      root.failure ??= failed.failure;
      return;
    }
    for (const script of reachable) {
      if (script.isLinked) continue;
      script.isLinked = true;
      compiledOf(script).link((script.imported ?? []).map(compiledOf));
    }
    try {
      compiledOf(root).instantiate();
    } catch (thrown) {
      root.failure = { thrown };
    }
  }
}

/** @param {ModuleScript} script */
function compiledOf({ compiled, url }) {
  if (compiled === undefined) throw new Error(`the module ${url} was not compiled`);
  return compiled;
}

/** @param {string[]} attributes of an import: names and values @returns {ModuleType} @throws {ModuleNotLoaded} */
function typeOf([name, value, ...rest]) {
  if (name === undefined) return 'javascript';
  if (name !== 'type' || rest.length > 0) throw new ModuleNotLoaded(`the import attribute '${name}' is not supported`);
  if (value !== 'json') throw new ModuleNotLoaded(`modules of type '${value}' are not supported`);
  return 'json';
}

/**
 * @param {ModuleType} type
 * @param {string} url
 */
function keyOf(type, url) {
  return `${type} ${withoutFragment(url)}${new URL(url).hash}`;
}

module.exports = { ModuleNotLoaded, WindowModules };
