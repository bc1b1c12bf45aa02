'use strict';

// The global object of a dedicated worker. https://html.spec.whatwg.org/multipage/workers.html#the-global-scope

const {
  callErrorHandler,
  defineAttribute,
  defineHandler,
  defineInterfaceObject,
  defineOperation,
} = require('./webidl-members.cjs');
const host = require('./worker-host.cjs');
const { installConsole } = require('./worker-console.cjs');
const { makeLocation, makeNavigator } = require('./worker-navigator.cjs');
const { installTimers } = require('./worker-timers.cjs');
const { serializeForWorker } = require('./worker-api.cjs');

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
 * Defines `atob` or `btoa`. https://html.spec.whatwg.org/multipage/webappapis.html#atob
 *
 * @param {string} name
 * @param {(text: string) => string | undefined} convert
 * @param {string} message
 */
function base64(name, convert, message) {
  const { [name]: operation } = {
    /** @param {unknown} text */
    [name](text) {
      if (arguments.length < 1)
        throw new TypeError(
          `Failed to execute '${name}' on 'WorkerGlobalScope': 1 argument required, but only 0 present.`,
        );
      const converted = convert(`${text}`);
      if (converted === undefined)
        throw new DOMException(
          `Failed to execute '${name}' on 'WorkerGlobalScope': ${message}`,
          'InvalidCharacterError',
        );
      return converted;
    },
  };
  defineOperation(name, operation);
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
  for (const Interface of [WorkerGlobalScope, DedicatedWorkerGlobalScope]) {
    Object.defineProperty(Interface.prototype, Symbol.toStringTag, { value: Interface.name, configurable: true });
    defineInterfaceObject(Interface.name, Interface);
  }
  Object.setPrototypeOf(globalThis, DedicatedWorkerGlobalScope.prototype);

  const [location, navigator] = [makeLocation(url), makeNavigator(userAgent)];
  defineAttribute('location', () => location);
  defineAttribute('navigator', () => navigator);
  defineAttribute('self', () => globalThis);
  defineAttribute('crypto', () => crypto);
  defineReplaceable('name', name);
  defineReplaceable('origin', origin);

  const operations = {
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
      if (arguments.length < 1) {
        throw new TypeError(
          "Failed to execute 'postMessage' on 'DedicatedWorkerGlobalScope': 1 argument required, but only 0 present.",
        );
      }
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
      if (arguments.length < 1)
        throw new TypeError(
          "Failed to execute 'reportError' on 'WorkerGlobalScope': 1 argument required, but only 0 present.",
        );
      host.reportException(error);
    },
  };
  for (const [key, operation] of Object.entries(operations)) defineOperation(key, operation);
  for (const operation of [operations.postMessage, operations.queueMicrotask, operations.reportError])
    Object.defineProperty(operation, 'length', { value: 1, configurable: true });
  base64('atob', host.atob, 'The string to be decoded is not correctly encoded.');
  base64('btoa', host.btoa, 'The string to be encoded contains characters outside of the Latin1 range.');
  installTimers();
  installConsole();

  for (const event of [
    'message',
    'messageerror',
    'languagechange',
    'offline',
    'online',
    'rejectionhandled',
    'unhandledrejection',
  ]) {
    defineHandler(globalThis, event);
  }
  defineHandler(globalThis, 'error', () => {}, callErrorHandler);
}

/** https://html.spec.whatwg.org/multipage/timers-and-user-prompts.html#microtask-queuing @param {() => void} callback */
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
