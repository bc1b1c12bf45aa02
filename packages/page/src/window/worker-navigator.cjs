'use strict';

// `location` and `navigator` of a worker.

const { defineAttributes, defineOperations, exposeInterface } = require('./webidl-members.cjs');

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
  defineAttributes(Interface, Object.keys(values), (object, key) => {
    if (object !== only) throw new TypeError('Illegal invocation');
    return values[key];
  });
  defineOperations(operations, Interface.prototype);
  exposeInterface(Interface);
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
