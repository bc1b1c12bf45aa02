'use strict';

// What a global object brings along: the constructors that its interfaces inherit from, create and throw. A page host has
// a realm for each window; Node's own is the default.

const NAMES = ['Array', 'DOMException', 'EventTarget', 'Function', 'Object', 'TypeError', 'structuredClone'];

/**
 * @param {Record<string, Function>} [intrinsics] those of another realm; what is missing is this one's, and others count for
 *   nothing
 */
function makeRealm(intrinsics = {}) {
  const realm = {};
  for (const name of NAMES) {
    const own = intrinsics[name];
    if (own !== undefined && typeof own !== 'function') {
      throw new TypeError(`selfprof: intrinsics.${name} is not a function`);
    }
    realm[name] = own ?? globalThis[name];
  }
  return realm;
}

module.exports = { makeRealm };
