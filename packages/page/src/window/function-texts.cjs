'use strict';

// `Function.prototype.toString` of a realm that pages reach: functions of the host look like those of a browser.

const { apply, defineProperty, getOwnPropertyDescriptor } = Reflect;

/** The text of a function that shows only its name. */
const NATIVE = '';

/** @param {Function} part */
function nativeTextOf(part) {
  const name = getOwnPropertyDescriptor(part, 'name')?.value;
  return `function ${typeof name === 'string' ? name : ''}() { [native code] }`;
}

/**
 * @param {Function} prototype `Function.prototype` of the realm
 * @param {import('./contracts.js').WindowHost['functionTexts']} texts
 */
function replaceToString(prototype, texts) {
  const { toString: original } = prototype;
  const { get, set } = texts;
  const { toString } = {
    /** @this {Function} */
    toString() {
      const text = get(this);
      if (text === undefined) return apply(original, this, []);
      return text === NATIVE ? nativeTextOf(this) : text;
    },
  };
  set(toString, NATIVE);
  defineProperty(prototype, 'toString', { __proto__: null, value: toString, writable: true, configurable: true });
}

module.exports = { NATIVE, replaceToString };
