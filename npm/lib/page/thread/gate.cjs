'use strict';

// The main realm's side of the gate (dom/gate.cjs): all that code in the DOM realm can have the host do.
//
// A page can reach the DOM realm's objects, so each function here takes its caller for hostile: it checks what it is given,
// returns primitives or objects of the page's own realms, and throws nothing of the main realm.

const { randomFillSync, randomUUID } = require('node:crypto');
const { types } = require('node:util');
const { MessageChannel } = require('node:worker_threads');

const { checkFunctionBody, placeOf, runClassicScript } = require('./scripts.cjs');

/** What `Object.prototype.toString` cannot be trusted with. */
const KINDS = [
  [types.isProxy, 'Proxy'],
  [types.isNativeError, 'Error'],
  [types.isDate, 'Date'],
  [types.isRegExp, 'RegExp'],
  [types.isMap, 'Map'],
  [types.isSet, 'Set'],
  [types.isAnyArrayBuffer, 'ArrayBuffer'],
  [types.isArrayBufferView, 'ArrayBufferView'],
  [types.isBoxedPrimitive, 'Boxed'],
  [types.isPromise, 'Promise'],
  [types.isWeakMap, 'WeakMap'],
  [types.isWeakSet, 'WeakSet'],
  [types.isGeneratorObject, 'Generator'],
  [types.isExternal, 'External'],
  [types.isModuleNamespaceObject, 'Module'],
];

function isString(...values) {
  return values.every((value) => typeof value === 'string');
}

/** Typed arrays of other realms are copied by their internal slots, which no code of a page can change. */
const setBytes = Function.prototype.call.bind(Uint8Array.prototype.set);

class Gate {
  #thread;
  #completion;
  #timers = new Map();
  #nextTimer = 1;

  /** @param {import('./main.cjs').PageThread} thread */
  constructor(thread) {
    this.#thread = thread;
  }

  /** Completes as code of a page does: see `completing` in dom/gate.cjs. */
  #complete(work) {
    try {
      this.#completion = work();
      return 'returned';
    } catch (error) {
      if (error instanceof Error) return `The page host failed: ${error.message}`;
      this.#completion = error;
      return 'threw';
    }
  }

  /** Gives the DOM realm a copy of bytes. */
  bytesForDom(bytes) {
    const copy = this.#thread.dom.allocate(bytes.byteLength);
    setBytes(copy, bytes);
    return copy;
  }

  #timer(callback, delay, repeats) {
    const id = this.#nextTimer++;
    const run = () => {
      if (!repeats) this.#timers.delete(id);
      this.#thread.enter(callback);
    };
    const wait = Number.isFinite(delay) ? Math.min(Math.max(delay, 0), 0x7fffffff) : 0;
    this.#timers.set(id, repeats ? setInterval(run, wait) : setTimeout(run, wait));
    return id;
  }

  /** The functions that the DOM realm gets. */
  functions() {
    const thread = this.#thread;
    return {
      take: () => {
        const completion = this.#completion;
        this.#completion = undefined;
        return completion;
      },
      timeOrigin: performance.timeOrigin,
      now: () => performance.now(),
      // Node calls the DOM realm's ports by itself.
      enter: (callback) => {
        if (typeof callback === 'function') thread.enter(callback);
      },
      setTimer: (callback, delay, repeats) =>
        typeof callback === 'function' && typeof delay === 'number' ? this.#timer(callback, delay, repeats === true) : 0,
      clearTimer: (id) => {
        clearTimeout(this.#timers.get(id));
        this.#timers.delete(id);
      },
      setImmediate: (callback) => {
        if (typeof callback === 'function') setImmediate(() => thread.enter(callback));
      },
      decode: (label, fatal, ignoreBOM, view) => {
        try {
          return new TextDecoder(label, { fatal: fatal === true, ignoreBOM: ignoreBOM === true }).decode(view);
        } catch {
          return undefined;
        }
      },
      utf8Length: (text) => (isString(text) ? Buffer.byteLength(text) : 0),
      encodeInto: (text, view) => {
        if (isString(text) && types.isUint8Array(view)) new TextEncoder().encodeInto(text, view);
      },
      atob: (text) => {
        try {
          return atob(text);
        } catch {
          return undefined;
        }
      },
      btoa: (text) => {
        try {
          return btoa(text);
        } catch {
          return undefined;
        }
      },
      randomFill: (view) => {
        if (types.isUint8Array(view)) randomFillSync(view);
      },
      randomUUID: () => randomUUID(),
      kindOf: (value) => {
        if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return typeof value;
        return KINDS.find(([is]) => is(value))?.[1] ?? typeof value;
      },
      placeOf: (thrown) => placeOf(thrown),
      createContext: (document, frame) => this.#complete(() => thread.windows.create(document, Number(frame))),
      enterWindow: (window, gate) => this.#complete(() => thread.windows.enter(window, gate)),
      runScript: (window, source, url, line, column, base) =>
        this.#complete(() => {
          if (!isString(source, url)) throw new Error('a script is text');
          const { anchor, realm, bases } = thread.windows.get(window);
          if (isString(base) && base !== '') bases.set(url, base);
          return runClassicScript(anchor, source, url, { line: line | 0, column: column | 0, muted: false, realm });
        }),
      checkFunctionBody: (window, parameters, body, url) =>
        this.#complete(() => {
          if (!isString(parameters, body, url)) throw new Error('a function is text');
          thread.windows.get(window);
          checkFunctionBody(window, parameters.split(', '), body, url);
        }),
      runFetchedScript: (window, handle) => this.#complete(() => thread.loader.run(window, handle)),
      loadModule: (window, request, onDone) => thread.loader.loadModule(window, request, onDone),
      runModule: (window, handle) =>
        this.#complete(() => thread.windows.get(window).modules.run(handle, (thrown) => thread.report(thrown, window))),
      registerImportMap: (window, text, base) =>
        isString(text, base) ? thread.windows.get(window).modules.registerImportMap(text, base) : 'an import map is text',
      closeWindow: (window) => thread.windows.close(window),
      fetchScript: (request, onDone) => thread.loader.fetchScript(request, onDone),
      fetch: (request, body, onDone) => thread.loader.fetch(request, body, onDone),
      abortFetch: (id) => thread.loader.abort(id),
      describeWindow: (window) => this.#complete(() => thread.windows.describe(window)),
      useDocument: (window, document) => thread.windows.use(window, document),
      fetchFrame: (request, onDone) => thread.loader.fetchFrame(request, onDone),
      createObjectUrl: (bytes, type) => (types.isUint8Array(bytes) && isString(type) ? thread.blobs.add(bytes, type) : ''),
      revokeObjectUrl: (url) => thread.blobs.remove(url),
      newPipes: (onPipes) => {
        if (typeof onPipes !== 'function') return;
        const { port1, port2 } = new MessageChannel();
        onPipes(thread.moveToDom(port1), thread.moveToDom(port2));
      },
      startWorker: (window, wish, onPipe, onFailure) =>
        typeof onPipe === 'function' && typeof onFailure === 'function'
          ? thread.workers.start(thread.windows.get(window), wish, onPipe, onFailure)
          : 0,
      endWorker: (id) => thread.workers.end(id),
      importScript: (url) => (isString(url) ? thread.loader.importScript(url) : ''),
      closeWorker: () => thread.close(),
      getCookies: (url) => (isString(url) ? thread.cookiesForScript(url) : ''),
      setCookie: (url, text) => {
        if (isString(url, text)) thread.setCookieByScript(url, text);
      },
    };
  }

  /** Ends what would still call into the DOM realm. */
  close() {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}

module.exports = { Gate };
