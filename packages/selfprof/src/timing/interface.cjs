'use strict';

// The property attributes that WebIDL gives the members of an interface.
// https://webidl.spec.whatwg.org/#js-interfaces

/**
 * Makes a class an interface of its realm: operations and attributes are enumerable, `Symbol.toStringTag` names the
 * interface, and functions have the length that their required arguments give them.
 *
 * @param {import('./types.js').Realm} realm
 * @param {Function} constructor the interface object, a class
 * @param {{ lengths?: Record<string, number>, statics?: string[], inherits?: boolean }} [shape] `lengths` has the
 *   number of required arguments of operations, and of the constructor under `constructor`
 */
function defineInterface(realm, constructor, { lengths = {}, statics = [], inherits = false } = {}) {
  const { prototype } = constructor;
  const lengthOf = (/** @type {string} */ key) => (Object.hasOwn(lengths, key) ? lengths[key] : 0);
  /**
   * @param {object} object
   * @param {string} key
   */
  const define = (object, key) => {
    const member = Object.getOwnPropertyDescriptor(object, key) ?? {};
    for (const callable of [member.value, member.get, member.set]) {
      if (typeof callable !== 'function') continue;
      adopt(realm, callable);
      if (callable === member.value) setLength(callable, lengthOf(key));
    }
    Object.defineProperty(object, key, { enumerable: true });
  };
  for (const key of Object.getOwnPropertyNames(prototype)) if (key !== 'constructor') define(prototype, key);
  for (const key of statics) define(constructor, key);
  setLength(constructor, lengthOf('constructor'));
  Object.defineProperty(prototype, Symbol.toStringTag, { value: constructor.name, configurable: true });
  if (!inherits) {
    adopt(realm, constructor);
    if (realm.Object !== Object) Object.setPrototypeOf(prototype, realm.Object.prototype);
  }
}

/**
 * Functions that scripts of another realm see inherit from that realm's Function.prototype.
 *
 * @param {import('./types.js').Realm} realm
 * @param {Function} callable
 */
function adopt(realm, callable) {
  if (realm.Function !== Function) Object.setPrototypeOf(callable, realm.Function.prototype);
}

/**
 * @param {Function} callable
 * @param {number} length
 */
function setLength(callable, length) {
  Object.defineProperty(callable, 'length', { value: length, configurable: true });
}

module.exports = { defineInterface };
