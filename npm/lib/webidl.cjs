'use strict';

// The conversions of WebIDL that the interfaces here need. https://webidl.spec.whatwg.org/#js-type-mapping

/**
 * Converts a value to a dictionary whose members are all required numbers: gets and converts them in lexicographical
 * order, each before the next is looked at.
 *
 * @param {unknown} value what the script passed
 * @param {string[]} members in lexicographical order
 * @param {string} context begins each message
 * @returns {Record<string, number>} the members after `ToNumber`
 */
function requiredNumbers(value, members, context) {
  if (value !== undefined && value !== null && typeof value !== 'object' && typeof value !== 'function') {
    throw new TypeError(`${context}: the provided value is not of type 'ProfilerInitOptions'.`);
  }
  const numbers = {};
  for (const member of members) {
    const given = value?.[member];
    if (given === undefined) throw new TypeError(`${context}: required member ${member} is undefined.`);
    // Unary plus is ToNumber: it throws a TypeError for symbols and BigInts.
    numbers[member] = +given;
  }
  return numbers;
}

/**
 * Gives an interface's prototype the property attributes of WebIDL: operations and attributes are enumerable, and
 * `Symbol.toStringTag` names the interface.
 *
 * @param {Function} constructor the interface object, a class
 * @param {string[]} members its operations and attributes
 */
function defineInterface(constructor, members) {
  for (const member of members) Object.defineProperty(constructor.prototype, member, { enumerable: true });
  Object.defineProperty(constructor.prototype, Symbol.toStringTag, { value: constructor.name, configurable: true });
}

module.exports = { requiredNumbers, defineInterface };
