'use strict';

// crypto.subtle, by Node's. Its promises, errors and results belong to the window, and its keys to Node.
// https://w3c.github.io/webcrypto/

const host = require('selfprof:host');
const { defineAttributes, defineInterfaceObject, defineOperations, exposeInterface } = require('./webidl-members.cjs');

const { CryptoKey } = host;
const { parse, stringify } = JSON;

/** How many arguments each operation requires. */
const OPERATIONS = {
  encrypt: 3,
  decrypt: 3,
  sign: 3,
  verify: 4,
  digest: 2,
  generateKey: 3,
  deriveKey: 5,
  deriveBits: 2,
  importKey: 5,
  exportKey: 2,
  wrapKey: 4,
  unwrapKey: 7,
};

const TOKEN = Symbol('internal');

/** @type {(value: any) => boolean} */
let isOwn;

class SubtleCrypto {
  #isOwn = true;

  /** @param {symbol} token */
  constructor(token) {
    if (token !== TOKEN) throw new TypeError("Failed to construct 'SubtleCrypto': Illegal constructor");
  }

  static {
    isOwn = (value) => typeof value === 'object' && value !== null && #isOwn in value && value.#isOwn;
  }
}

/** A result as an object of this realm. @param {any} value */
function adopt(value) {
  if (typeof value !== 'object' || value instanceof CryptoKey) return value;
  // It belongs to Node's realm.
  if (Object.prototype.toString.call(value) === '[object ArrayBuffer]')
    return new Uint8Array(new Uint8Array(value)).buffer;
  return value.privateKey instanceof CryptoKey ? { ...value } : parse(stringify(value));
}

/**
 * @param {string} name of the operation
 * @param {number} length how many arguments it requires
 */
function operation(name, length) {
  const { [name]: value } = {
    /** @this {unknown} @param {unknown[]} parameters */
    [name](...parameters) {
      return new Promise((resolve, reject) => {
        if (!isOwn(this)) throw new TypeError('Illegal invocation');
        host.encrypt(
          name,
          parameters,
          (result) => resolve(adopt(result)),
          (error, message) => reject(error === 'TypeError' ? new TypeError(message) : new DOMException(message, error)),
        );
      });
    },
  };
  return Object.defineProperty(value, 'length', { value: length, configurable: true });
}

function installSubtleCrypto() {
  const operations = Object.entries(OPERATIONS).map(([name, length]) => [name, operation(name, length)]);
  defineOperations(Object.fromEntries(operations), SubtleCrypto.prototype);
  host.platform.refuse(SubtleCrypto);
  host.platform.refuse(CryptoKey);
  exposeInterface(SubtleCrypto);
  defineInterfaceObject('CryptoKey', CryptoKey);
  const subtle = new SubtleCrypto(TOKEN);
  defineAttributes(globalThis.Crypto, ['subtle'], () => subtle);
}

module.exports = { installSubtleCrypto };
