'use strict';

/**
 * Puts the interfaces on a global object, with the attributes that WebIDL gives interface objects and
 * `[Replaceable] readonly attribute Performance performance`.
 *
 * @param {object} global
 * @param {object} performance
 * @param {Record<string, Function>} interfaces by name
 * @param {object} [holder] the object with the attribute: the global object, or a prototype of it
 */
function defineGlobals(global, performance, interfaces, holder = global) {
  for (const [name, value] of Object.entries(interfaces)) {
    Object.defineProperty(global, name, { value, writable: true, enumerable: false, configurable: true });
  }
  const attribute = {
    get performance() {
      requireGlobal(this, global);
      return performance;
    },
    // https://webidl.spec.whatwg.org/#Replaceable
    set performance(value) {
      requireGlobal(this, global);
      Object.defineProperty(global, 'performance', { value, writable: true, enumerable: true, configurable: true });
    },
  };
  const descriptor = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(attribute, 'performance'));
  Object.defineProperty(holder, 'performance', descriptor);
}

/**
 * Members of the global object may be called without a `this`.
 *
 * @param {unknown} value
 * @param {object} global
 */
function requireGlobal(value, global) {
  if (value !== undefined && value !== null && value !== global) throw new TypeError('Illegal invocation');
}

module.exports = { defineGlobals };
