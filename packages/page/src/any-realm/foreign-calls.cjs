'use strict';

// Calls from a hostile realm to functions of the main realm.

const { RangeError } = globalThis;

/**
 * Makes a function of this realm that calls one of the main realm. What that one throws is an error of the main realm, as when the stack is
 * full, so it is replaced by an error of this realm.
 *
 * @template {(...parameters: any[]) => any} Call
 * @param {Call} call
 * @returns {Call}
 */
function callForeign(call) {
  const own = (
    /** @type {unknown} */ a,
    /** @type {unknown} */ b,
    /** @type {unknown} */ c,
    /** @type {unknown} */ d,
    /** @type {unknown} */ e,
    /** @type {unknown} */ f,
    /** @type {unknown} */ g,
  ) => {
    // No rest parameters: spreading them would run code that a page can replace.
    try {
      return call(a, b, c, d, e, f, g);
    } catch {
      throw new RangeError('Maximum call stack size exceeded');
    }
  };
  return /** @type {Call} */ (own);
}

module.exports = { callForeign };
