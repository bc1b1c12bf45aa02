'use strict';

// crypto.subtle, by Node's. Its promises, errors and results belong to the window, and its keys to Node. https://w3c.github.io/webcrypto/

const host = require('selfprof:host');
const { defineInterfaceObject } = require('./webidl-members.cjs');

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

class SubtleCrypto {
  #isOwn = true;

  /** @param {symbol} token */
  constructor(token) {
    if (token !== TOKEN) throw new TypeError("Failed to construct 'SubtleCrypto': Illegal constructor");
  }

  /** @param {any} value */
  static is(value) {
    return typeof value === 'object' && value !== null && #isOwn in value && value.#isOwn;
  }
}
const { is } = SubtleCrypto;
Reflect.deleteProperty(SubtleCrypto, 'is');

/** A result as an object of this realm. @param {any} value */
function adopt(value) {
  if (typeof value !== 'object' || value instanceof CryptoKey) return value;
  // It belongs to Node's realm.
  if (Object.prototype.toString.call(value) === '[object ArrayBuffer]')
    return new Uint8Array(new Uint8Array(value)).buffer;
  return value.privateKey instanceof CryptoKey ? { ...value } : parse(stringify(value));
}

function installSubtleCrypto() {
  for (const [name, length] of Object.entries(OPERATIONS)) {
    const { [name]: value } = {
      /** @this {unknown} @param {unknown[]} parameters */
      [name](...parameters) {
        return new Promise((resolve, reject) => {
          if (!is(this)) throw new TypeError('Illegal invocation');
          host.encrypt(
            name,
            parameters,
            (result) => resolve(adopt(result)),
            (error, message) =>
              reject(error === 'TypeError' ? new TypeError(message) : new DOMException(message, error)),
          );
        });
      },
    };
    Object.defineProperty(value, 'length', { value: length, configurable: true });
    const attributes = { writable: true, enumerable: true, configurable: true };
    Object.defineProperty(SubtleCrypto.prototype, name, { value, ...attributes });
  }
  Object.defineProperty(SubtleCrypto.prototype, Symbol.toStringTag, { value: 'SubtleCrypto', configurable: true });
  host.platform.refuse(SubtleCrypto);
  host.platform.refuse(CryptoKey);
  defineInterfaceObject('SubtleCrypto', SubtleCrypto);
  defineInterfaceObject('CryptoKey', CryptoKey);
  const subtle = new SubtleCrypto(TOKEN);
  const attribute = {
    get subtle() {
      return subtle;
    },
  };
  Object.defineProperties(globalThis.Crypto.prototype, Object.getOwnPropertyDescriptors(attribute));
}

module.exports = { installSubtleCrypto };
