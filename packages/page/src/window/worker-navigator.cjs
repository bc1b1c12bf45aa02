'use strict';

// `location` and `navigator` of a worker.

const { defineInterfaceObject } = require('./webidl-members.cjs');

/**
 * Makes the only object of an interface whose attributes are constant.
 *
 * @param {string} name
 * @param {Record<string, unknown>} values
 * @param {Record<string, Function>} [operations]
 */
function makeOnly(name, values, operations = {}) {
  const { [name]: Interface } = {
    [name]: class {
      constructor() {
        throw new TypeError('Illegal constructor');
      }
    },
  };
  const only = Object.create(Interface.prototype);
  const requireOnly = (/** @type {unknown} */ value) => {
    if (value !== only) throw new TypeError('Illegal invocation');
  };
  for (const [key, value] of Object.entries(values)) {
    const attribute = {
      /** @this {unknown} */
      get [key]() {
        requireOnly(this);
        return value;
      },
    };
    Object.defineProperties(Interface.prototype, Object.getOwnPropertyDescriptors(attribute));
  }
  for (const [key, value] of Object.entries(operations)) {
    Object.defineProperty(Interface.prototype, key, { value, writable: true, enumerable: true, configurable: true });
  }
  Object.defineProperty(Interface.prototype, Symbol.toStringTag, { value: name, configurable: true });
  defineInterfaceObject(name, Interface);
  return only;
}

/** https://html.spec.whatwg.org/multipage/workers.html#worker-locations @param {string} text */
function makeLocation(text) {
  const { href, origin, protocol, host: authority, hostname, port, pathname, search, hash } = new URL(text);
  const values = { href, origin, protocol, host: authority, hostname, port, pathname, search, hash };
  const { toString } = {
    /** @this {any} */
    toString() {
      return this.href;
    },
  };
  return makeOnly('WorkerLocation', values, { toString });
}

/** https://html.spec.whatwg.org/multipage/workers.html#the-workernavigator-object @param {string} userAgent */
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

module.exports = { makeLocation, makeNavigator };
