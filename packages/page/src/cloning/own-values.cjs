'use strict';

// Reads objects of hostile realms without running code of a page: no getter, and no trap of a proxy.

const { types } = require('node:util');

const { getOwnPropertyDescriptor } = Reflect;

/**
 * The value of a property that an object has itself, and not by a getter.
 *
 * @param {unknown} object of any realm, or another value
 * @param {PropertyKey} key
 * @returns {any} undefined when there is none
 */
function ownValue(object, key) {
  if ((typeof object !== 'object' && typeof object !== 'function') || object === null || types.isProxy(object))
    return undefined;
  return getOwnPropertyDescriptor(object, key)?.value;
}

/**
 * The elements of an array up to its first gap, or getter: it may claim to be long.
 *
 * @param {unknown} list of any realm
 * @returns {unknown[]} empty for what is no array
 */
function elementsOf(list) {
  /** @type {unknown[]} */
  const elements = [];
  if (!Array.isArray(list) || types.isProxy(list)) return elements;
  for (let at = 0; ; at++) {
    const property = getOwnPropertyDescriptor(list, at);
    if (property === undefined || property.get !== undefined || property.set !== undefined) return elements;
    elements.push(property.value);
  }
}

module.exports = { elementsOf, ownValue };
