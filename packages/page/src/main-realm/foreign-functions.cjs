'use strict';

// Functions of hostile realms, as the main realm calls them. When a function is a `Proxy`, or is bound to one, V8 makes the list of arguments
// that its trap gets in the realm that calls. So a function of the DOM realm makes the calls, and no object of the main realm is made for them.

const vm = require('node:vm');

const SOURCE = `'use strict'; {
  const { apply } = Reflect;
  const { toString } = Error.prototype;
  ({
    __proto__: null,
    call(callee, a, b, c) { callee(a, b, c); },
    errorText: (error) => apply(toString, error, []),
  });
}`;

/** @typedef {(a?: unknown, b?: unknown, c?: unknown) => void} Callback */

class ForeignFunctions {
  #foreign;

  /** @param {object} context of the DOM realm, in which no page has run */
  constructor(context) {
    /** @type {{ call(callee: Function, a: unknown, b: unknown, c: unknown): void, errorText(error: unknown): string }} */
    this.#foreign = vm.runInContext(SOURCE, context, { filename: __filename });
  }

  /**
   * Makes a function of this realm that calls one of another realm, and returns nothing: `await` would call a method of what it returns.
   *
   * @param {Function} callee
   * @returns {Callback}
   */
  callable(callee) {
    const { call } = this.#foreign;
    return (a, b, c) => call(callee, a, b, c);
  }

  /** `Error.prototype.toString`, which may run getters. @param {unknown} error */
  errorText(error) {
    const { errorText } = this.#foreign;
    return errorText(error);
  }
}

module.exports = { ForeignFunctions };
