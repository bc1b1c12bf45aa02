'use strict';

// The conversions of WebIDL that the interfaces here need. https://webidl.spec.whatwg.org/#js-type-mapping

/**
 * Converts a value to a dictionary: gets its members in the order in which they are given, and converts each before the
 * next is looked at.
 *
 * @param {unknown} value what the script passed
 * @param {string} type the dictionary's name
 * @param {Record<string, { convert: Function, required?: boolean, fallback?: unknown }>} members in lexicographical order
 * @param {string} context begins each message
 * @returns {Record<string, unknown>} the converted members
 */
function toDictionary(value, type, members, context) {
  if (value !== undefined && value !== null && typeof value !== 'object' && typeof value !== 'function') {
    throw new TypeError(`${context}: the provided value is not of type '${type}'.`);
  }
  const dictionary = {};
  for (const [member, { convert, required = false, fallback }] of Object.entries(members)) {
    const given = value?.[member];
    if (given !== undefined) dictionary[member] = convert(given, `${context}: member ${member}`);
    else if (required) throw new TypeError(`${context}: required member ${member} is undefined.`);
    else dictionary[member] = fallback;
  }
  return dictionary;
}

/** `ToNumber`; what kind of number it has to be is checked by the addon. Throws a TypeError for symbols and BigInts. */
const toNumber = (value) => +value;

/** `boolean` */
const toBoolean = (value) => Boolean(value);

/** `[EnforceRange] unsigned long` */
function toEnforcedUnsignedLong(value, subject) {
  const number = Math.trunc(+value);
  if (!(number >= 0 && number <= 2 ** 32 - 1)) {
    throw new TypeError(`${subject} is not an integer from 0 to ${2 ** 32 - 1}.`);
  }
  // Not -0.
  return number + 0;
}

/** An enumeration with these values. */
const toEnumeration = (values) => (value, subject) => {
  const text = `${value}`;
  if (!values.includes(text)) throw new TypeError(`${subject} is '${text}', which is not one of ${values.join(', ')}.`);
  return text;
};

/**
 * Makes a call of the addon that does the last of a conversion, whose errors carry the name of their constructor.
 *
 * @template T
 * @param {() => T} call
 * @param {string} context begins each message
 * @returns {T}
 */
function checked(call, context) {
  try {
    return call();
  } catch (error) {
    if (error.code === 'NotAllowedError') throw new DOMException(`${context}: ${error.message}.`, 'NotAllowedError');
    const Constructor = error.code === 'RangeError' ? RangeError : TypeError;
    throw new Constructor(`${context}: ${error.message}.`);
  }
}

/**
 * Gives an interface's prototype the property attributes of WebIDL: operations and attributes are enumerable, and
 * `Symbol.toStringTag` names the interface. So are static operations, on the interface object.
 *
 * @param {Function} constructor the interface object, a class
 * @param {string[]} members its operations and attributes
 * @param {string[]} [statics] its static operations
 */
function defineInterface(constructor, members, statics = []) {
  for (const member of members) Object.defineProperty(constructor.prototype, member, { enumerable: true });
  for (const member of statics) Object.defineProperty(constructor, member, { enumerable: true });
  Object.defineProperty(constructor.prototype, Symbol.toStringTag, { value: constructor.name, configurable: true });
}

module.exports = { checked, defineInterface, toBoolean, toDictionary, toEnforcedUnsignedLong, toEnumeration, toNumber };
