'use strict';

// WebIDL's conversions of JavaScript values, with the errors of one realm. https://webidl.spec.whatwg.org/#js-type-mapping

/**
 * @param {object} realm
 * @returns the conversions; `context` begins each message
 */
function makeConversions({ TypeError }) {
  /** https://webidl.spec.whatwg.org/#js-DOMString */
  function toDOMString(value, context) {
    if (typeof value === 'string') return value;
    if (typeof value === 'symbol') throw new TypeError(`${context}: Cannot convert a Symbol value to a string.`);
    return `${value}`;
  }

  /** https://webidl.spec.whatwg.org/#js-double */
  function toDouble(value, context) {
    if (typeof value === 'symbol' || typeof value === 'bigint') {
      throw new TypeError(`${context}: Cannot convert a ${typeof value} to a number.`);
    }
    const number = +value;
    if (!Number.isFinite(number)) throw new TypeError(`${context}: The provided double value is non-finite.`);
    return number;
  }

  /** `(DOMString or double)`: https://webidl.spec.whatwg.org/#js-union */
  function toDOMStringOrDouble(value, context) {
    return typeof value === 'number' ? toDouble(value, context) : toDOMString(value, context);
  }

  /**
   * Reads the members of a dictionary, in the order given, which WebIDL wants to be lexicographical: each is got and
   * converted before the next. Members that are undefined stay away.
   *
   * @param {unknown} value
   * @param {[string, (value: unknown, context: string) => unknown][]} members names and conversions
   */
  function toDictionary(value, members, name, context) {
    const dictionary = { __proto__: null };
    if (value === undefined || value === null) return dictionary;
    if (typeof value !== 'object' && typeof value !== 'function') {
      throw new TypeError(`${context}: The provided value is not of type '${name}'.`);
    }
    for (const [member, convert] of members) {
      const given = value[member];
      if (given !== undefined) {
        dictionary[member] = convert(given, `${context}: Failed to read the '${member}' property from '${name}'`);
      }
    }
    return dictionary;
  }

  /** `sequence<DOMString>`: https://webidl.spec.whatwg.org/#create-sequence-from-iterable */
  function toDOMStringSequence(value, context) {
    const refuse = () => new TypeError(`${context}: The provided value cannot be converted to a sequence.`);
    if ((typeof value !== 'object' || value === null) && typeof value !== 'function') throw refuse();
    const method = value[Symbol.iterator];
    if (typeof method !== 'function') throw refuse();
    const iterator = Reflect.apply(method, value, []);
    if ((typeof iterator !== 'object' || iterator === null) && typeof iterator !== 'function') throw refuse();
    // Not a loop of for-of: WebIDL leaves the iterator alone when an item does not convert.
    const { next } = iterator;
    const strings = [];
    for (;;) {
      const result = Reflect.apply(next, iterator, []);
      if ((typeof result !== 'object' || result === null) && typeof result !== 'function') throw refuse();
      if (result.done) return strings;
      strings.push(toDOMString(result.value, context));
    }
  }

  /** Throws unless as many arguments were passed as are required. */
  function requireArguments(present, required, context) {
    if (present >= required) return;
    throw new TypeError(
      `${context}: ${required} argument${required > 1 ? 's' : ''} required, but only ${present} present.`,
    );
  }

  return { toDOMString, toDouble, toDOMStringOrDouble, toDictionary, toDOMStringSequence, requireArguments };
}

const asIs = (value) => value;

module.exports = { makeConversions, asIs };
