'use strict';

// The values that `Page.evaluate` sends to a page and gets back, by structured clone.

const { randomBytes } = require('node:crypto');

const { deserialize, serialize } = require('../any-realm/structured-clone.cjs');
const { assertRoom } = require('../cloning/heap-room.cjs');

/** Of this thread and all page threads that it starts: see cloning/value-serializer.cjs. */
const cloneKey = new Uint8Array(randomBytes(32));

/** @type {import('../cloning/value-serializer.cjs').ValueSerializer | undefined} */
let values;
/** Loaded on first use, because it needs the addon. `new PageHost()` reports the versions of Node that have none. */
function valueSerializer() {
  const { ValueSerializer } = require('../cloning/value-serializer.cjs');
  values ??= new ValueSerializer(cloneKey);
  return values;
}

/** Platform objects of a page that become objects of this realm; all others become plain data. @type {import('../any-realm/realm-contracts.js').Platform} */
const PLATFORM = {
  write: (...parameters) => valueSerializer().write(...parameters),
  read: (...parameters) => valueSerializer().read(...parameters),
  dataCloneError: (message) => new DOMException(message, 'DataCloneError'),
  /** @param {any} data sent by a page, so it may be anything */
  deserialize(data) {
    switch (data?.type) {
      case 'Blob':
        return new Blob([bytesOf(data)], { type: textOf(data.media) });
      case 'File':
        return new File([bytesOf(data)], textOf(data.name), {
          type: textOf(data.media),
          lastModified: typeof data.lastModified === 'number' ? data.lastModified : 0,
        });
      case 'DOMException':
        return new DOMException(textOf(data.message), textOf(data.name));
      default: {
        const { type, ...members } = data ?? {};
        return members;
      }
    }
  },
};

/** The text of a list can be half a gigabyte long, so nothing is converted. @param {unknown} value */
function textOf(value) {
  return typeof value === 'string' ? value : '';
}

/** @param {{ bytes: unknown }} data @returns {Uint8Array<ArrayBuffer>} */
function bytesOf({ bytes }) {
  if (!(bytes instanceof Uint8Array)) throw new TypeError('the record of a value is damaged');
  return /** @type {Uint8Array<ArrayBuffer>} */ (bytes);
}

/** @param {unknown[]} parameters @returns {object} a record for a page @throws {DOMException} `DataCloneError` */
function serializeParameters(parameters) {
  return serialize(parameters, PLATFORM);
}

/** @param {any} record of a page, see main-realm/dom-messages.cjs */
function deserializeResult(record) {
  if (record === undefined) throw new TypeError('the page has given no result');
  assertRoom(record.heap, 'run node with a larger --max-old-space-size');
  return deserialize(record, PLATFORM).value;
}

module.exports = { cloneKey, deserializeResult, serializeParameters };
