'use strict';

const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, setPrototypeOf } = Reflect;

/**
 * Gives an object the methods of its prototype as its own, so that it works the same after a program has replaced
 * those.
 *
 * @template {object} Holder
 * @param {Holder} object a `Map`, a `Set` or the like
 * @returns {Holder} the object
 */
function withOwnMethods(object) {
  const prototype = /** @type {object} */ (getPrototypeOf(object));
  for (const key of ownKeys(prototype)) {
    const property = /** @type {PropertyDescriptor} */ (getOwnPropertyDescriptor(prototype, key));
    // What a program has put on `Object.prototype` must not count either.
    setPrototypeOf(property, null);
    if (key !== 'constructor') defineProperty(object, key, property);
  }
  return object;
}

module.exports = { withOwnMethods };
