'use strict';

// The property attributes that WebIDL gives what an interface is made of.
// https://webidl.spec.whatwg.org/#js-interfaces

/**
 * Makes a class an interface of its realm: operations and attributes are enumerable, `Symbol.toStringTag` names the
 * interface, and functions have the length that their required arguments give them.
 *
 * @param {object} realm
 * @param {Function} constructor the interface object, a class
 * @param {{ lengths?: Record<string, number>, statics?: string[], inherits?: boolean }} [shape] `lengths` names the
 *   operations, and the constructor as `constructor`, that have required arguments
 */
function defineInterface(realm, constructor, { lengths = {}, statics = [], inherits = false } = {}) {
  const { prototype } = constructor;
  const lengthOf = (key) => (Object.hasOwn(lengths, key) ? lengths[key] : 0);
  const define = (object, key) => {
    const member = Object.getOwnPropertyDescriptor(object, key);
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

/** A function that another realm's script sees inherits from that realm's Function.prototype. */
function adopt(realm, callable) {
  if (realm.Function !== Function) Object.setPrototypeOf(callable, realm.Function.prototype);
}

function setLength(callable, length) {
  Object.defineProperty(callable, 'length', { value: length, configurable: true });
}

module.exports = { defineInterface };
