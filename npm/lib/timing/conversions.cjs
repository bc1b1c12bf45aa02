'use strict';

// WebIDL's conversions of JavaScript values, with the errors of one realm. https://webidl.spec.whatwg.org/#js-type-mapping

/**
 * @param {object} realm
 * @returns the conversions. A message begins with `context`; `member` is `[name, dictionary]` where a member of a dictionary
 *   is converted.
 */
function makeConversions({ TypeError }) {
  function refusal(context, member, reason) {
    const place = member === undefined ? '' : `Failed to read the '${member[0]}' property from '${member[1]}': `;
    return new TypeError(`${context}: ${place}${reason}`);
  }

  /** https://webidl.spec.whatwg.org/#js-DOMString */
  function toDOMString(value, context, member) {
    if (typeof value === 'string') return value;
    if (typeof value === 'symbol') throw refusal(context, member, 'Cannot convert a Symbol value to a string.');
    return `${value}`;
  }

  /** https://webidl.spec.whatwg.org/#js-double */
  function toDouble(value, context, member) {
    if (typeof value === 'symbol' || typeof value === 'bigint') {
      throw refusal(context, member, `Cannot convert a ${typeof value} to a number.`);
    }
    const number = +value;
    if (!Number.isFinite(number)) throw refusal(context, member, 'The provided double value is non-finite.');
    return number;
  }

  /** `(DOMString or double)`: https://webidl.spec.whatwg.org/#js-union */
  function toDOMStringOrDouble(value, context, member) {
    return typeof value === 'number' ? toDouble(value, context, member) : toDOMString(value, context, member);
  }

  /**
   * What the members of a dictionary are read from, null when it has none. They are to be read and converted in
   * lexicographical order, each before the next: https://webidl.spec.whatwg.org/#js-dictionary
   */
  function toDictionary(value, dictionary, context) {
    if (value === undefined || value === null) return null;
    if (typeof value !== 'object' && typeof value !== 'function') {
      throw refusal(context, undefined, `The provided value is not of type '${dictionary}'.`);
    }
    return value;
  }

  /** `sequence<DOMString>`: https://webidl.spec.whatwg.org/#create-sequence-from-iterable */
  function toDOMStringSequence(value, context, member) {
    const refuse = () => refusal(context, member, 'The provided value cannot be converted to a sequence.');
    if (!isObject(value)) throw refuse();
    const method = value[Symbol.iterator];
    if (typeof method !== 'function') throw refuse();
    const iterator = Reflect.apply(method, value, []);
    if (!isObject(iterator)) throw refuse();
    // Not a loop of for-of: WebIDL leaves the iterator alone when an item does not convert.
    const { next } = iterator;
    const strings = [];
    for (;;) {
      const result = Reflect.apply(next, iterator, []);
      if (!isObject(result)) throw refuse();
      if (result.done) return strings;
      strings.push(toDOMString(result.value, context, member));
    }
  }

  /** Throws unless as many arguments were passed as are required, which nowhere here is more than one. */
  function requireArguments(present, required, context) {
    if (present >= required) return;
    throw new TypeError(`${context}: ${required} argument required, but only ${present} present.`);
  }

  return { toDOMString, toDouble, toDOMStringOrDouble, toDictionary, toDOMStringSequence, requireArguments };
}

function isObject(value) {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

module.exports = { makeConversions };
