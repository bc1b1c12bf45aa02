'use strict';

// Stands in for jsdom's modules of elements in workers, which have no elements: no value is one.

exports.is = () => false;
exports.isImpl = () => false;
/**
 * @param {Jsdom.Window} globalObject
 * @param {unknown} _value
 * @param {{ context?: string }} [options]
 */
exports.convert = (globalObject, _value, { context = 'The provided value' } = {}) => {
  throw new globalObject.TypeError(`${context} is not of the required type.`);
};
