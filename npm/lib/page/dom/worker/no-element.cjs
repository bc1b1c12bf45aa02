'use strict';

// Stands for jsdom's modules of elements where there are none: what is given for one is not one.

exports.is = () => false;
exports.isImpl = () => false;
exports.convert = (globalObject, value, { context = 'The provided value' } = {}) => {
  throw new globalObject.TypeError(`${context} is not of the required type.`);
};
