'use strict';

// Tells objects of the main realm from those of pages without running code of a page, as `instanceof` does: it asks each proxy on the chain of
// prototypes, and what a proxy's trap throws would end the thread with a value of the page, which Node inspects in the main realm.

const { types } = require('node:util');

const { getPrototypeOf } = Reflect;

/** @param {unknown} value @param {object} prototype of this realm, which no page can reach */
function inherits(value, prototype) {
  /** @type {unknown} */
  let holder = value;
  while ((typeof holder === 'object' && holder !== null) || typeof holder === 'function') {
    if (types.isProxy(holder)) return false;
    if (holder === prototype) return true;
    holder = getPrototypeOf(holder);
  }
  return false;
}

/** @param {unknown} value @returns {value is Error} */
function isOwnError(value) {
  return inherits(value, Error.prototype);
}

/** @param {unknown} value @returns {value is Promise<unknown>} */
function isOwnPromise(value) {
  return inherits(value, Promise.prototype);
}

module.exports = { isOwnError, isOwnPromise };
