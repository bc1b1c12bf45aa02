'use strict';

// The global object of a dedicated worker. https://html.spec.whatwg.org/multipage/workers.html#the-global-scope

const {
  callErrorHandler,
  defineAttribute,
  defineHandler,
  defineOperations,
  exposeInterface,
  requireArguments,
} = require('./webidl-members.cjs');
const host = require('selfprof:host');
const { installConsole } = require('./worker-console.cjs');
const { makeLocation, makeNavigator } = require('./worker-navigator.cjs');
const { installTimers } = require('./worker-timers.cjs');
const { serializeForWorker } = require('./worker-api.cjs');

/** Types of events with handlers, beside `error`. */
const HANDLED = 'message messageerror languagechange offline online rejectionhandled unhandledrejection';

// Only the host makes objects of these classes.
class WorkerGlobalScope extends EventTarget {
  constructor() {
    super();
    throw new TypeError('Illegal constructor');
  }
}

class DedicatedWorkerGlobalScope extends WorkerGlobalScope {}

/** Throws for a `this` other than the global object or none. @param {unknown} value */
function requireGlobal(value) {
  if (value !== undefined && value !== null && value !== globalThis) throw new TypeError('Illegal invocation');
}

/**
 * https://html.spec.whatwg.org/multipage/workers.html#importing-scripts-and-libraries
 *
 * @param {'classic' | 'module'} type of the worker
 * @param {unknown[]} urls
 */
function importScripts(type, urls) {
  const context = "Failed to execute 'importScripts' on 'WorkerGlobalScope'";
  if (type === 'module') throw new TypeError(`${context}: Module scripts don't support importScripts().`);
  const parsed = urls.map((text) => {
    try {
      return new URL(`${text}`, host.baseUrl()).href;
    } catch {
      throw new DOMException(`${context}: The URL '${text}' is invalid.`, 'SyntaxError');
    }
  });
  for (const url of parsed) {
    const refused = (/** @type {string} */ reason) =>
      new DOMException(`${context}: The script at '${url}' failed to load${reason}.`, 'NetworkError');
    const script = host.importScript(url);
    if (script === undefined) throw refused('');
    if (!script.muted) {
      host.runImported(script);
      continue;
    }
    try {
      host.runImported(script);
    } catch {
      // The page must not get what a script of another origin threw.
      throw refused(': it threw');
    }
  }
}

/**
 * https://html.spec.whatwg.org/multipage/webappapis.html#atob
 *
 * @param {string | undefined} converted
 * @param {string} context
 * @param {string} message
 */
function requireConverted(converted, context, message) {
  if (converted === undefined) throw new DOMException(`${context}: ${message}`, 'InvalidCharacterError');
  return converted;
}

/**
 * Defines a read-only attribute that scripts may replace. https://webidl.spec.whatwg.org/#Replaceable
 *
 * @param {string} name
 * @param {unknown} value
 */
function defineReplaceable(name, value) {
  const attribute = {
    get [name]() {
      return value;
    },
    set [name](/** @type {unknown} */ other) {
      Object.defineProperty(globalThis, name, { value: other, writable: true, enumerable: true, configurable: true });
    },
  };
  Object.defineProperty(globalThis, name, { ...Object.getOwnPropertyDescriptor(attribute, name), enumerable: true });
}

/** @param {import('./contracts.js').WorkerScope} scope */
function installWorkerScope({ url, origin, name, type, userAgent, crypto }) {
  exposeInterface(WorkerGlobalScope);
  exposeInterface(DedicatedWorkerGlobalScope);
  Object.setPrototypeOf(globalThis, DedicatedWorkerGlobalScope.prototype);

  const [location, navigator] = [makeLocation(url), makeNavigator(userAgent)];
  defineAttribute('location', () => location);
  defineAttribute('navigator', () => navigator);
  defineAttribute('self', () => globalThis);
  defineAttribute('crypto', () => crypto);
  defineReplaceable('name', name);
  defineReplaceable('origin', origin);

  defineOperations({
    /** @this {unknown} @param {...unknown} urls */
    importScripts(...urls) {
      requireGlobal(this);
      importScripts(type, urls);
    },
    /**
     * @this {unknown}
     * @param {unknown} message
     * @param {any} [options] of the page
     */
    postMessage(message, options = undefined) {
      requireGlobal(this);
      requireArguments(arguments.length, "Failed to execute 'postMessage' on 'DedicatedWorkerGlobalScope'");
      host.postToOwner(serializeForWorker(message, options));
    },
    /** @this {unknown} */
    close() {
      requireGlobal(this);
      host.close();
    },
    /** @param {any} callback of the page */
    queueMicrotask(callback) {
      if (typeof callback !== 'function')
        throw new TypeError(
          "Failed to execute 'queueMicrotask' on 'WorkerGlobalScope': parameter 1 is not of type 'Function'.",
        );
      microtask(callback);
    },
    /** @param {unknown} error */
    reportError(error) {
      requireArguments(arguments.length, "Failed to execute 'reportError' on 'WorkerGlobalScope'");
      host.reportException(error);
    },
    /** @param {unknown} text */
    atob(text) {
      const context = "Failed to execute 'atob' on 'WorkerGlobalScope'";
      requireArguments(arguments.length, context);
      return requireConverted(host.atob(`${text}`), context, 'The string to be decoded is not correctly encoded.');
    },
    /** @param {unknown} text */
    btoa(text) {
      const context = "Failed to execute 'btoa' on 'WorkerGlobalScope'";
      requireArguments(arguments.length, context);
      const message = 'The string to be encoded contains characters outside of the Latin1 range.';
      return requireConverted(host.btoa(`${text}`), context, message);
    },
  });
  installTimers();
  installConsole();

  for (const type of HANDLED.split(' ')) defineHandler(globalThis, type);
  defineHandler(globalThis, 'error', () => {}, callErrorHandler);
}

/**
 * https://html.spec.whatwg.org/multipage/timers-and-user-prompts.html#microtask-queuing
 *
 * @param {() => void} callback
 */
function microtask(callback) {
  Promise.resolve().then(() => {
    try {
      host.apply(callback, undefined, []);
    } catch (error) {
      host.reportException(error);
    }
  });
}

module.exports = { installWorkerScope };
