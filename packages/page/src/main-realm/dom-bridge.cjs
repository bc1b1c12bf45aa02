'use strict';

// The main realm's side of the bridge to the DOM realm (the other side is dom-realm/main-realm-bridge.cjs): everything that code in the DOM
// realm can have the host do.
//
// A page can reach the DOM realm's objects, so each function here treats its caller as hostile: it checks its arguments, returns primitives
// or objects of the page's own realms, and lets no error of the main realm out.

const {
  constants: { MAX_STRING_LENGTH },
} = require('node:buffer');
const { randomBytes, randomUUID } = require('node:crypto');
const { MessageChannel } = require('node:worker_threads');

const native = require('selfprof/internal/native.cjs');
const { coarsened } = require('./coarse-time.cjs');
const { bytesOf, setBytes, unsharedBytesOf } = require('./foreign-bytes.cjs');
const { numberOf } = require('./foreign-values.cjs');
const { kindOf } = require('./kind-of.cjs');
const { isOwnError } = require('./own-objects.cjs');
const { callingRealm } = require('./page-code.cjs');
const { runClassicScript, syntaxErrorOfBody, syntaxErrorPosition } = require('./script-compilation.cjs');

/** @typedef {import('../any-realm/realm-contracts.js').MainRealmFunctions} MainRealmFunctions */

/** @param {unknown[]} values */
function isString(...values) {
  return values.every((value) => typeof value === 'string');
}

/** https://html.spec.whatwg.org/multipage/webappapis.html#getting-the-current-value-of-the-event-handler */
const HANDLER_PARAMETERS = new Set(['event', 'event, source, lineno, colno, error']);

/** The names of scripts that the page's user runs. */
const USER_SCRIPTS = new Set(['evaluate', 'execute']);

/** How many random bytes a page gets at once. https://w3c.github.io/webcrypto/#Crypto-method-getRandomValues */
const MAX_RANDOM = 65_536;

/** Node ends the process when the result would be longer than V8's longest text. */
const MAX_BTOA = 3 * Math.floor(MAX_STRING_LENGTH / 4);

class DomBridge {
  #thread;
  /** What the last code of a page returned or threw. @type {unknown} */
  #completion;
  /** @type {Map<number, NodeJS.Timeout>} */
  #timers = new Map();
  #nextTimer = 1;

  /** @param {import('./page-thread.cjs').PageThread} thread */
  constructor(thread) {
    this.#thread = thread;
  }

  /**
   * Completes as code of a page does: see `withCompletion` in dom-realm/main-realm-bridge.cjs.
   *
   * @param {() => unknown} work
   */
  #complete(work) {
    try {
      this.#completion = work();
      return 'returned';
    } catch (error) {
      if (isOwnError(error)) return `The page host failed: ${error.message}`;
      this.#completion = error;
      return 'threw';
    }
  }

  /**
   * As {@link #complete}, of work that runs no code of a page. What it throws does not leave it: an error that is made where the
   * stack is full may be of a window's realm before that was restricted.
   *
   * @param {() => unknown} work
   */
  #completeAlone(work) {
    const outcome = this.#complete(work);
    if (outcome !== 'threw') return outcome;
    this.#completion = undefined;
    return 'The page host failed: the stack is full';
  }

  /** Copies bytes to memory of the DOM realm. @param {Uint8Array} bytes */
  bytesForDom(bytes) {
    const copy = this.#thread.dom.allocate(bytes.byteLength);
    setBytes(copy, bytes);
    return copy;
  }

  /** Runs a function of the DOM realm, or of a page. @param {Function} callback */
  #enter(callback) {
    this.#thread.enter(this.#thread.foreign.callable(callback));
  }

  /**
   * @param {() => void} callback
   * @param {number} delay in milliseconds
   * @param {boolean} repeats
   */
  #startTimer(callback, delay, repeats) {
    const id = this.#nextTimer++;
    const run = () => {
      if (!repeats) this.#timers.delete(id);
      this.#enter(callback);
    };
    const wait = Number.isFinite(delay) ? Math.min(Math.max(delay, 0), 0x7fffffff) : 0;
    this.#timers.set(id, repeats ? setInterval(run, wait) : setTimeout(run, wait));
    return id;
  }

  /** The functions that the DOM realm gets. @returns {MainRealmFunctions} */
  functions() {
    const thread = this.#thread;
    return {
      take: () => {
        const completion = this.#completion;
        this.#completion = undefined;
        return completion;
      },
      timeOrigin: coarsened(performance.timeOrigin, false),
      now: () => thread.coarseNow(),
      postToHost: (text, record) => thread.domMessages.post(text, record),
      // For events of ports, which Node fires in the DOM realm directly.
      enter: (callback) => {
        if (typeof callback === 'function') this.#enter(callback);
      },
      setTimer: (callback, delay, repeats) =>
        typeof callback === 'function' && typeof delay === 'number'
          ? this.#startTimer(callback, delay, repeats === true)
          : 0,
      clearTimer: (id) => {
        clearTimeout(this.#timers.get(id));
        this.#timers.delete(id);
      },
      setImmediate: (callback) => {
        if (typeof callback === 'function') setImmediate(() => this.#enter(callback));
      },
      runPromiseJobs: () => thread.runPromiseJobs(),
      decode: (label, fatal, ignoreBOM, memory) => {
        if (!isString(label)) return undefined;
        try {
          const options = { fatal: fatal === true, ignoreBOM: ignoreBOM === true };
          return new TextDecoder(label, options).decode(unsharedBytesOf(memory));
        } catch {
          return undefined;
        }
      },
      utf8Length: (text) => (isString(text) ? Buffer.byteLength(text) : 0),
      encodeInto: (text, memory) => {
        const bytes = bytesOf(memory);
        if (isString(text) && bytes !== undefined) new TextEncoder().encodeInto(text, bytes);
      },
      atob: (text) => {
        if (!isString(text)) return undefined;
        try {
          return atob(text);
        } catch {
          return undefined;
        }
      },
      btoa: (text) => {
        if (!isString(text) || text.length > MAX_BTOA) return undefined;
        try {
          return btoa(text);
        } catch {
          return undefined;
        }
      },
      randomFill: (memory) => {
        const bytes = bytesOf(memory);
        if (bytes !== undefined && bytes.byteLength <= MAX_RANDOM) bytes.set(randomBytes(bytes.byteLength));
      },
      randomUUID: () => randomUUID(),
      kindOf: (value) => kindOf(value),
      writeValue: (...parameters) => this.#complete(() => thread.values.write(...parameters)),
      readValue: (...parameters) => this.#complete(() => thread.values.read(...parameters)),
      apply: thread.apply,
      takeMuted: (window, thrown) => {
        const place = native.mutedException(thrown);
        if (place === undefined) return false;
        thread.reports.laterMutedException(thread.windows.frameOf(window), place, thrown);
        return true;
      },
      syntaxErrorPosition: (thrown) => syntaxErrorPosition(thrown),
      createContext: (document, frame, mayBeIsolated, around, allowsScripts) =>
        this.#completeAlone(() =>
          thread.windows.create(numberOf(document), numberOf(frame), {
            mayBeIsolated: mayBeIsolated === true,
            around: numberOf(around),
            allowsScripts: allowsScripts !== false,
          }),
        ),
      newNamedProperties: (...parameters) =>
        this.#completeAlone(() => thread.fixedPrototypes.newNamedProperties(...parameters)),
      enterWindow: (window, host) => this.#completeAlone(() => thread.windows.enter(window, host)),
      runScript: (window, source, url, line, column, base) =>
        this.#complete(() => {
          if (!isString(source, url)) throw new Error('a script is text');
          const { realm, bases } = thread.windows.withScripts(window);
          const shown = thread.windows.scriptUrlOf(window, url);
          if (isString(base) && base !== '') bases.set(shown, base);
          return runClassicScript(realm, source, shown, { line: numberOf(line) | 0, column: numberOf(column) | 0 });
        }),
      runUserScript: (window, source, name, column, base) =>
        this.#complete(() => {
          if (!isString(source) || !USER_SCRIPTS.has(name)) throw new Error('this is no script of the user');
          const { realm, bases } = thread.windows.get(window);
          thread.fixedPrototypes.fix(window);
          if (isString(base) && base !== '') bases.set(name, base);
          return runClassicScript(realm, source, name, { line: 0, column: numberOf(column) | 0 });
        }),
      checkFunctionBody: (window, parameters, body) =>
        this.#complete(() => {
          if (!isString(parameters, body)) throw new Error('a function is text');
          // Node ends the process for parameters that are no names.
          if (!HANDLER_PARAMETERS.has(parameters)) throw new Error('these are not the parameters of an event handler');
          const { makeError } = thread.windows.withScripts(window).code;
          const message = syntaxErrorOfBody(parameters.split(', '), body);
          if (message !== undefined) throw makeError('SyntaxError', message);
        }),
      runFetchedScript: (window, handle) => this.#complete(() => thread.loader.run(window, handle)),
      loadModule: (window, request, onDone) => thread.loader.loadModule(window, request, onDone),
      runModule: (window, handle) =>
        this.#complete(() =>
          thread.windows.withScripts(window).modules.run(handle, (thrown) => thread.report(thrown, window)),
        ),
      registerImportMap: (window, text, base) =>
        isString(text, base)
          ? thread.windows.get(window).modules.registerImportMap(text, base)
          : 'an import map is text',
      closeWindow: (window) => thread.windows.close(window),
      fetchScript: (request, onDone) => thread.loader.fetchScript(request, onDone),
      fetch: (request, body, onDone) => thread.loader.fetch(request, body, onDone),
      abortFetch: (id) => thread.loader.abort(id),
      callingWindow: () => thread.windows.ofRealm(callingRealm())?.window,
      describeWindow: (window) => this.#completeAlone(() => thread.windows.describe(window)),
      useDocument: (window, document) => thread.windows.use(window, document),
      fetchFrame: (request, onDone) => thread.loader.fetchFrame(request, onDone),
      createObjectUrl: (memory, type) => {
        const bytes = bytesOf(memory);
        return bytes !== undefined && isString(type) ? thread.blobs.add(bytes, type) : '';
      },
      revokeObjectUrl: (url) => {
        if (isString(url)) thread.blobs.remove(url);
      },
      newPipes: (onPipes) => {
        if (typeof onPipes !== 'function') return;
        const { port1, port2 } = new MessageChannel();
        thread.foreign.callable(onPipes)(thread.moveToDom(port1), thread.moveToDom(port2));
      },
      startWorker: (window, request, onPipe, onFailure) =>
        typeof onPipe === 'function' && typeof onFailure === 'function'
          ? thread.workers.start(thread.windows.get(window), request, onPipe, onFailure)
          : 0,
      endWorker: (id) => thread.workers.end(id),
      importScript: (url) => (isString(url) ? thread.workerScripts.importScript(url) : ''),
      closeWorker: () => thread.close(),
      getCookies: (window, url) => (isString(url) ? thread.cookiesForScript(window, url) : ''),
      setCookie: (window, url, text) => {
        if (isString(url, text)) thread.setCookieByScript(window, url, text);
      },
    };
  }

  /** Stops the timers, which would still call into the DOM realm. */
  close() {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}

module.exports = { DomBridge };
