'use strict';

// The conversions of WebIDL that the interfaces here need. https://webidl.spec.whatwg.org/#js-type-mapping

/**
 * How a member of a dictionary is converted. `subject` names the member in messages.
 *
 * @template T
 * @typedef {{ convert: (value: unknown, subject: string) => T, required: boolean, fallback?: T }} Member
 */

/**
 * The members of a dictionary, in lexicographical order. They inherit nothing that a program may define later.
 *
 * @template {Record<string, { convert: (value: unknown, subject: string) => unknown, required?: boolean, fallback?:
 *   unknown }>} Members
 * @param {Members} members
 * @returns {{ [name in keyof Members]: Member<ReturnType<Members[name]['convert']>> }}
 */
function defineMembers(members) {
  /** @type {Record<string, unknown>} */
  const defined = { __proto__: null };
  for (const [name, { convert, required = false, fallback }] of Object.entries(members)) {
    defined[name] = { __proto__: null, convert, required, fallback };
  }
  return /** @type {{ [name in keyof Members]: Member<ReturnType<Members[name]['convert']>> }} */ (defined);
}

/**
 * Converts a value to a dictionary: reads its members in the order in which they are given, and converts each before it
 * reads the next.
 *
 * @template {Record<string, Member<unknown>>} Members
 * @param {unknown} value
 * @param {string} type the dictionary's name
 * @param {Members} members see `defineMembers`
 * @param {string} context the start of each message
 * @returns {{ [name in keyof Members]: ReturnType<Members[name]['convert']> }} the converted members
 */
function toDictionary(value, type, members, context) {
  if (value !== undefined && value !== null && typeof value !== 'object' && typeof value !== 'function') {
    throw new TypeError(`${context}: the provided value is not of type '${type}'.`);
  }
  const given = /** @type {Record<string, unknown> | null | undefined} */ (value);
  // Programs may have put anything on `Object.prototype`, or replaced its functions.
  /** @type {Record<string, unknown>} */
  const dictionary = { __proto__: null };
  for (const name in members) {
    const { convert, required, fallback } = members[name];
    const member = given?.[name];
    if (member !== undefined) dictionary[name] = convert(member, `${context}: member ${name}`);
    else if (required) throw new TypeError(`${context}: required member ${name} is undefined.`);
    else dictionary[name] = fallback;
  }
  return /** @type {{ [name in keyof Members]: ReturnType<Members[name]['convert']> }} */ (dictionary);
}

/**
 * `ToNumber`; the addon checks what kind of number it is. Throws a TypeError for symbols and BigInts.
 *
 * @param {unknown} value
 */
const toNumber = (value) => +(/** @type {number} */ (value));

/**
 * `boolean`
 *
 * @param {unknown} value
 */
const toBoolean = (value) => Boolean(value);

/**
 * `[EnforceRange] unsigned long`
 *
 * @param {unknown} value
 * @param {string} subject
 */
function toEnforcedUnsignedLong(value, subject) {
  const number = Math.trunc(toNumber(value));
  if (!(number >= 0 && number <= 2 ** 32 - 1)) {
    throw new TypeError(`${subject} is not an integer from 0 to ${2 ** 32 - 1}.`);
  }
  // Turns -0 into 0.
  return number + 0;
}

/**
 * The conversion to an enumeration.
 *
 * @template {string} T
 * @param {readonly T[]} values
 * @returns {(value: unknown, subject: string) => T}
 */
const toEnumeration = (values) => (value, subject) => {
  const text = `${value}`;
  const known = values.find((candidate) => candidate === text);
  if (known === undefined) throw new TypeError(`${subject} is '${text}', which is not one of ${values.join(', ')}.`);
  return known;
};

/**
 * Calls the addon, which does the last step of a conversion. The `code` of its errors is the name of the constructor to
 * throw.
 *
 * @template T
 * @param {() => T} call
 * @param {string} context the start of each message
 * @returns {T}
 */
function checked(call, context) {
  try {
    return call();
  } catch (error) {
    const { code, message } = /** @type {{ code?: string, message: string }} */ (error);
    if (code === 'NotAllowedError' || code === 'InvalidStateError')
      throw new DOMException(`${context}: ${message}.`, code);
    const Constructor = code === 'RangeError' ? RangeError : TypeError;
    throw new Constructor(`${context}: ${message}.`);
  }
}

/**
 * Gives the members of an interface the property attributes of WebIDL: operations and attributes are enumerable, and
 * `Symbol.toStringTag` names the interface.
 *
 * @param {Function} constructor the interface object, a class
 * @param {string[]} members operations and attributes
 * @param {string[]} [statics] static operations
 */
function defineInterface(constructor, members, statics = []) {
  for (const member of members) Object.defineProperty(constructor.prototype, member, { enumerable: true });
  for (const member of statics) Object.defineProperty(constructor, member, { enumerable: true });
  Object.defineProperty(constructor.prototype, Symbol.toStringTag, { value: constructor.name, configurable: true });
}

module.exports = {
  checked,
  defineInterface,
  defineMembers,
  toBoolean,
  toDictionary,
  toEnforcedUnsignedLong,
  toEnumeration,
  toNumber,
};
