'use strict';

// structuredClone(). https://html.spec.whatwg.org/multipage/structured-data.html#structured-cloning

const host = require('selfprof:host');
const { deserialize, serialize } = require('./structured-clone.cjs');
const { defineOperation } = require('./webidl-members.cjs');

/** @type {import('./contracts.js').Platform} */
const sharingPlatform = Object.setPrototypeOf({ mayShareMemory: true }, host.platform);

/**
 * Serializes a value; throws a DataCloneError of this realm.
 *
 * @param {unknown} value
 * @param {object[]} [transferList]
 * @param {boolean} [mayShareMemory]
 */
function serializeHere(value, transferList = [], mayShareMemory = false) {
  return serialize(value, mayShareMemory ? sharingPlatform : host.platform, transferList);
}

/** Converts a value of the page to `sequence<object>`. @param {any} value */
function toTransferList(value) {
  if (value === undefined) return [];
  /** @type {object[]} */
  const list = [];
  for (const object of value) {
    if ((typeof object !== 'object' || object === null) && typeof object !== 'function') {
      throw new TypeError('Only objects can be transferred.');
    }
    list.push(object);
  }
  return list;
}

function installCloning() {
  const { structuredClone } = {
    /**
     * @param {unknown} value
     * @param {any} [options] of the page
     */
    structuredClone(value, options = undefined) {
      if (arguments.length === 0) {
        throw new TypeError(
          "Failed to execute 'structuredClone' on 'Window': 1 argument required, but only 0 present.",
        );
      }
      return deserialize(serializeHere(value, toTransferList(options?.transfer)), host.platform).value;
    },
  };
  Object.defineProperty(structuredClone, 'length', { value: 1, configurable: true });
  defineOperation('structuredClone', structuredClone);
}

module.exports = { installCloning, serializeHere, toTransferList };
