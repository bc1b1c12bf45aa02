'use strict';

// The global object of a dedicated worker. https://html.spec.whatwg.org/multipage/workers.html#the-global-scope

const host = require('selfprof:host');
const { callErrorHandler, defineAttribute, defineHandler, defineInterfaceObject, defineOperation } = require('./definitions.cjs');
const { tooMuch } = require('./ports.cjs');
const { installTimers } = require('./timers.cjs');
const { serializeForWorker } = require('./workers.cjs');

const { URL } = globalThis;

const illegal = () => new TypeError('Illegal constructor');

/* eslint-disable constructor-super -- nobody but the host makes these */
class WorkerGlobalScope extends EventTarget {
  constructor() {
    throw illegal();
  }
}

class DedicatedWorkerGlobalScope extends WorkerGlobalScope {
  constructor() {
    throw illegal();
  }
}
/* eslint-enable constructor-super */

/** Operations of the global object may be called without it, but not on another one. */
function requireGlobal(value) {
  if (value !== undefined && value !== null && value !== globalThis) throw new TypeError('Illegal invocation');
}

/** Makes the one object of an interface whose attributes have values that do not change. */
function makeOnly(name, values, operations = {}) {
  const { [name]: Interface } = {
    [name]: class {
      constructor() {
        throw illegal();
      }
    },
  };
  const only = Object.create(Interface.prototype);
  const requireOnly = (value) => {
    if (value !== only) throw new TypeError('Illegal invocation');
  };
  for (const [key, value] of Object.entries(values)) {
    const attribute = {
      get [key]() {
        requireOnly(this);
        return value;
      },
    };
    Object.defineProperty(Interface.prototype, key, { get: Object.getOwnPropertyDescriptor(attribute, key).get, enumerable: true, configurable: true });
  }
  for (const [key, value] of Object.entries(operations)) {
    Object.defineProperty(Interface.prototype, key, { value, writable: true, enumerable: true, configurable: true });
  }
  Object.defineProperty(Interface.prototype, Symbol.toStringTag, { value: name, configurable: true });
  defineInterfaceObject(name, Interface);
  return only;
}

/** https://html.spec.whatwg.org/multipage/workers.html#worker-locations */
function makeLocation(text) {
  const { href, origin, protocol, host: authority, hostname, port, pathname, search, hash } = new URL(text);
  const values = { href, origin, protocol, host: authority, hostname, port, pathname, search, hash };
  const { toString } = {
    toString() {
      return this.href;
    },
  };
  return makeOnly('WorkerLocation', values, { toString });
}

/** https://html.spec.whatwg.org/multipage/workers.html#the-workernavigator-object */
function makeNavigator(userAgent) {
  return makeOnly('WorkerNavigator', {
    appCodeName: 'Mozilla',
    appName: 'Netscape',
    appVersion: '4.0',
    hardwareConcurrency: 2,
    language: 'en-US',
    languages: Object.freeze(['en-US', 'en']),
    onLine: true,
    platform: '',
    product: 'Gecko',
    userAgent,
  });
}

/** https://html.spec.whatwg.org/multipage/workers.html#importing-scripts-and-libraries */
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
    const refused = (reason) => new DOMException(`${context}: The script at '${url}' failed to load${reason}.`, 'NetworkError');
    const { handle, muted, error } = host.importScript(url);
    if (error !== undefined) throw refused('');
    if (!muted) {
      host.runImported(handle);
      continue;
    }
    try {
      host.runImported(handle);
    } catch {
      // What it threw is another origin's.
      throw refused(': it threw');
    }
  }
}

/** https://html.spec.whatwg.org/multipage/webappapis.html#atob */
function base64(name, convert, message) {
  const { [name]: operation } = {
    [name](text) {
      if (arguments.length < 1) throw new TypeError(`Failed to execute '${name}' on 'WorkerGlobalScope': 1 argument required, but only 0 present.`);
      const converted = convert(`${text}`);
      if (converted === undefined) throw new DOMException(`Failed to execute '${name}' on 'WorkerGlobalScope': ${message}`, 'InvalidCharacterError');
      return converted;
    },
  };
  defineOperation(name, operation);
}

const LOGS = [
  'assert', 'clear', 'count', 'countReset', 'debug', 'dir', 'dirxml', 'error', 'group', 'groupCollapsed', 'groupEnd', 'info', 'log',
  'table', 'time', 'timeEnd', 'timeLog', 'trace', 'warn',
];

/** https://console.spec.whatwg.org/ */
function installConsole() {
  const console = {};
  for (const method of LOGS) {
    const { [method]: log } = {
      [method](...values) {
        host.log(method, values);
      },
    };
    console[method] = log;
  }
  Object.defineProperty(console, Symbol.toStringTag, { value: 'console', configurable: true });
  Object.defineProperty(globalThis, 'console', { value: console, writable: true, enumerable: false, configurable: true });
}

/** A read-only attribute that a script may replace. https://webidl.spec.whatwg.org/#Replaceable */
function defineReplaceable(name, value) {
  const attribute = {
    get [name]() {
      return value;
    },
    set [name](other) {
      Object.defineProperty(globalThis, name, { value: other, writable: true, enumerable: true, configurable: true });
    },
  };
  Object.defineProperty(globalThis, name, { ...Object.getOwnPropertyDescriptor(attribute, name), enumerable: true });
}

/** @param {{ url: string, origin: string, name: string, type: 'classic' | 'module', userAgent: string, crypto: object }} scope */
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
    importScripts(...urls) {
      requireGlobal(this);
      importScripts(type, urls);
    },
    postMessage(message, options = undefined) {
      requireGlobal(this);
      if (arguments.length < 1) {
        throw new TypeError("Failed to execute 'postMessage' on 'DedicatedWorkerGlobalScope': 1 argument required, but only 0 present.");
      }
      if (!host.postToOwner(serializeForWorker(message, options))) throw tooMuch();
    },
    close() {
      requireGlobal(this);
      host.close();
    },
    queueMicrotask(callback) {
      if (typeof callback !== 'function') throw new TypeError("Failed to execute 'queueMicrotask' on 'WorkerGlobalScope': parameter 1 is not of type 'Function'.");
      microtask(callback);
    },
    reportError(error) {
      if (arguments.length < 1) throw new TypeError("Failed to execute 'reportError' on 'WorkerGlobalScope': 1 argument required, but only 0 present.");
      host.reportException(error);
    },
  };
  for (const [key, operation] of Object.entries(operations)) defineOperation(key, operation);
  for (const key of ['postMessage', 'queueMicrotask', 'reportError']) Object.defineProperty(globalThis[key], 'length', { value: 1, configurable: true });
  base64('atob', host.atob, 'The string to be decoded is not correctly encoded.');
  base64('btoa', host.btoa, 'The string to be encoded contains characters outside of the Latin1 range.');
  installTimers();
  installConsole();

  for (const event of ['message', 'messageerror', 'languagechange', 'offline', 'online', 'rejectionhandled', 'unhandledrejection']) {
    defineHandler(globalThis, event);
  }
  defineHandler(globalThis, 'error', () => {}, callErrorHandler);
}

const { then } = Promise.prototype;
const resolved = Promise.resolve();

/** https://html.spec.whatwg.org/multipage/timers-and-user-prompts.html#microtask-queuing */
function microtask(callback) {
  Reflect.apply(then, resolved, [
    () => {
      try {
        callback();
      } catch (error) {
        host.reportException(error);
      }
    },
  ]);
}

module.exports = { installWorkerScope };
