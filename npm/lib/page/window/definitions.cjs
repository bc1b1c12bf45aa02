'use strict';

// Members of the global object as WebIDL has them. https://webidl.spec.whatwg.org/#define-the-global-property-references

const { defineProperty, getOwnPropertyDescriptor } = Reflect;

function defineInterfaceObject(name, value) {
  defineProperty(globalThis, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
}

/** An operation of the global object. */
function defineOperation(name, value) {
  defineProperty(globalThis, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
}

/** A read-only attribute of the global object. */
function defineAttribute(name, read) {
  const attribute = {
    get [name]() {
      if (this !== undefined && this !== null && this !== globalThis) throw new TypeError('Illegal invocation');
      return read();
    },
  };
  defineProperty(globalThis, name, { __proto__: null, ...getOwnPropertyDescriptor(attribute, name), enumerable: true, configurable: true });
}

module.exports = { defineAttribute, defineInterfaceObject, defineOperation };
