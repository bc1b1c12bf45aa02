'use strict';

// structuredClone(). https://html.spec.whatwg.org/multipage/structured-data.html#structured-cloning

const host = require('selfprof:host');
const { deserialize, isNotCloneable, serialize } = require('../clone.cjs');
const { defineOperation } = require('./definitions.cjs');

const sharing = { __proto__: host.platform, mayShareMemory: true };

/** Takes a value down; throws a DataCloneError of this realm. */
function serializeHere(value, transferList = [], mayShareMemory = false) {
  try {
    return serialize(value, mayShareMemory ? sharing : host.platform, transferList);
  } catch (error) {
    if (isNotCloneable(error, host.platform)) throw new DOMException(error.message, 'DataCloneError');
    throw error;
  }
}

/** `sequence<object>` */
function toTransferList(value) {
  if (value === undefined) return [];
  const list = [];
  for (const object of value) {
    if ((typeof object !== 'object' || object === null) && typeof object !== 'function') {
      throw new TypeError('What is transferred has to be an object.');
    }
    list.push(object);
  }
  return list;
}

function installCloning() {
  const { structuredClone } = {
    structuredClone(value, options = undefined) {
      if (arguments.length === 0) {
        throw new TypeError("Failed to execute 'structuredClone' on 'Window': 1 argument required, but only 0 present.");
      }
      return deserialize(serializeHere(value, toTransferList(options?.transfer)), host.platform).value;
    },
  };
  Object.defineProperty(structuredClone, 'length', { value: 1, configurable: true });
  defineOperation('structuredClone', structuredClone);
}

module.exports = { installCloning, serializeHere, toTransferList };
