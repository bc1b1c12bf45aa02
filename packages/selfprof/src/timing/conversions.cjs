'use strict';

// WebIDL's conversions of JavaScript values, with the errors of one realm.
// https://webidl.spec.whatwg.org/#js-type-mapping

/**
 * The member of a dictionary that is converted: its name, and the name of the dictionary.
 *
 * @typedef {readonly [name: string, dictionary: string]} Member
 */

/** @typedef {ReturnType<typeof makeConversions>} Conversions */

/**
 * The conversions of a realm. Messages start with `context`, and name the `member` of a dictionary if one is converted.
 *
 * @param {import('./types.js').Realm} realm
 */
function makeConversions({ TypeError }) {
  /**
   * @param {string} context
   * @param {Member | undefined} member
   * @param {string} reason
   */
  function conversionError(context, member, reason) {
    const place = member === undefined ? '' : `Failed to read the '${member[0]}' property from '${member[1]}': `;
    return new TypeError(`${context}: ${place}${reason}`);
  }

  /**
   * https://webidl.spec.whatwg.org/#js-DOMString
   *
   * @param {unknown} value
   * @param {string} context
   * @param {Member} [member]
   */
  function toDOMString(value, context, member) {
    if (typeof value === 'string') return value;
    if (typeof value === 'symbol') {
      throw conversionError(context, member, 'Cannot convert a Symbol value to a string.');
    }
    return `${value}`;
  }

  /**
   * https://webidl.spec.whatwg.org/#js-double
   *
   * @param {unknown} value
   * @param {string} context
   * @param {Member} [member]
   */
  function toDouble(value, context, member) {
    if (typeof value === 'symbol' || typeof value === 'bigint') {
      throw conversionError(context, member, `Cannot convert a ${typeof value} to a number.`);
    }
    const number = +(/** @type {number} */ (value));
    if (!Number.isFinite(number)) throw conversionError(context, member, 'The provided double value is non-finite.');
    return number;
  }

  /**
   * `(DOMString or double)`: https://webidl.spec.whatwg.org/#js-union
   *
   * @param {unknown} value
   * @param {string} context
   * @param {Member} [member]
   */
  function toDOMStringOrDouble(value, context, member) {
    return typeof value === 'number' ? toDouble(value, context, member) : toDOMString(value, context, member);
  }

  /**
   * The object to read the members of a dictionary from; null when there is none. Read and convert the members in
   * lexicographical order, each before the next: https://webidl.spec.whatwg.org/#js-dictionary
   *
   * @param {unknown} value
   * @param {string} dictionary
   * @param {string} context
   * @returns {Record<string, unknown> | null}
   */
  function toDictionary(value, dictionary, context) {
    if (value === undefined || value === null) return null;
    if (!isObject(value)) {
      throw conversionError(context, undefined, `The provided value is not of type '${dictionary}'.`);
    }
    return value;
  }

  /**
   * `sequence<DOMString>`: https://webidl.spec.whatwg.org/#create-sequence-from-iterable
   *
   * @param {unknown} value
   * @param {string} context
   * @param {Member} [member]
   */
  function toDOMStringSequence(value, context, member) {
    const notASequence = () =>
      conversionError(context, member, 'The provided value cannot be converted to a sequence.');
    if (!isObject(value)) throw notASequence();
    const method = value[Symbol.iterator];
    if (typeof method !== 'function') throw notASequence();
    const iterator = Reflect.apply(method, value, []);
    if (!isObject(iterator)) throw notASequence();
    // Not a for-of loop: WebIDL does not close the iterator when an item fails to convert.
    const next = /** @type {Function} */ (iterator.next);
    /** @type {string[]} */
    const strings = [];
    for (;;) {
      const result = Reflect.apply(next, iterator, []);
      if (!isObject(result)) throw notASequence();
      if (result.done) return strings;
      strings.push(toDOMString(result.value, context, member));
    }
  }

  /**
   * Throws unless the required arguments are present. No operation here requires more than one.
   *
   * @param {number} present
   * @param {number} required
   * @param {string} context
   */
  function requireArguments(present, required, context) {
    if (present >= required) return;
    throw new TypeError(`${context}: ${required} argument required, but only ${present} present.`);
  }

  return { toDOMString, toDouble, toDOMStringOrDouble, toDictionary, toDOMStringSequence, requireArguments };
}

/**
 * @param {unknown} value
 * @returns {value is Record<PropertyKey, unknown>}
 */
function isObject(value) {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

module.exports = { makeConversions };
