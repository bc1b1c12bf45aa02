'use strict';

// Stands in for jsdom's `generated/idl/EventListener.js`, and replaces one step of it: how the function of a listener
// that is an object is looked up. It may be a getter of a muted script, so what that throws is noted.
// https://webidl.spec.whatwg.org/#call-a-user-objects-operation

const utils = require('jsdom/lib/generated/idl/utils.js');

const handleEventOf = (/** @type {{ handleEvent: unknown }} */ listener) => listener.handleEvent;

/**
 * @param {any} globalObject
 * @param {any} value
 * @param {{ context?: string }} [options]
 */
function convert(globalObject, value, { context = 'The provided value' } = {}) {
  if (!utils.isObject(value)) throw new globalObject.TypeError(`${context} is not an object.`);
  const listener = /** @this {unknown} @param {unknown} event */ function (event) {
    let self = utils.tryWrapperForImpl(this);
    let operation = value;
    if (typeof value !== 'function') {
      operation = Reflect.apply(handleEventOf, undefined, [value]);
      if (typeof operation !== 'function')
        throw new globalObject.TypeError(`${context} does not correctly implement EventListener.`);
      self = value;
    }
    Reflect.apply(operation, self, [utils.tryWrapperForImpl(event)]);
  };
  return Object.assign(listener, { [utils.wrapperSymbol]: value, objectReference: value });
}

module.exports = { convert, install() {} };
