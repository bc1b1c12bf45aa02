'use strict';

/** @typedef {import('./types.js').Realm} Realm */

/**
 * The realm of a global object.
 *
 * @param {Partial<Realm>} [intrinsics] constructors of another realm; those of this realm replace what is missing
 * @returns {Realm}
 */
function makeRealm(intrinsics = {}) {
  for (const name of /** @type {const} */ ([
    'Array',
    'DOMException',
    'EventTarget',
    'Function',
    'Object',
    'TypeError',
    'structuredClone',
  ])) {
    if (intrinsics[name] !== undefined && typeof intrinsics[name] !== 'function') {
      throw new TypeError(`selfprof: intrinsics.${name} is not a function`);
    }
  }
  return {
    Array: intrinsics.Array ?? Array,
    DOMException: intrinsics.DOMException ?? DOMException,
    EventTarget: intrinsics.EventTarget ?? EventTarget,
    Function: intrinsics.Function ?? Function,
    Object: intrinsics.Object ?? Object,
    TypeError: intrinsics.TypeError ?? TypeError,
    structuredClone: intrinsics.structuredClone ?? structuredClone,
  };
}

module.exports = { makeRealm };
