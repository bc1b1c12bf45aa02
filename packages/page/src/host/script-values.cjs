'use strict';

// The values that `Page.evaluate` sends to a page and gets back, by structured clone: the bytes are those of V8's serializer.

const v8 = require('node:v8');

/** @typedef {import('../window/contracts.js').CloneRecord} CloneRecord */

/** V8's own format, in which views of buffers are values like any other. */
class PlainSerializer extends v8.Serializer {
  /** Makes the error for what V8 cannot write. @param {string} message */
  _getDataCloneError(message) {
    return new DOMException(message, 'DataCloneError');
  }
}

/** Platform objects of a page become objects of this realm. @param {any} data @returns {object} */
function toPlatformObject({ type, ...data }) {
  switch (type) {
    case 'Blob':
      return new Blob([data.bytes], { type: data.media });
    case 'File':
      return new File([data.bytes], data.name, { type: data.media, lastModified: data.lastModified });
    case 'DOMException':
      return new DOMException(data.message, data.name);
    default:
      return data;
  }
}

/** @param {unknown[]} parameters @returns {CloneRecord} @throws {DOMException} `DataCloneError` */
function serializeParameters(parameters) {
  const serializer = new PlainSerializer();
  serializer.writeHeader();
  serializer.writeValue(parameters);
  const bytes = new Uint8Array(serializer.releaseBuffer()).buffer;
  return { bytes, buffers: [], shared: [], ports: [], objects: [] };
}

/** @param {CloneRecord | undefined} record */
function deserializeResult(record) {
  if (record === undefined) throw new TypeError('the page has given no result');
  const { bytes, objects } = record;
  class Deserializer extends v8.Deserializer {
    /** The number of a platform object is in the bytes. */
    _readHostObject() {
      return toPlatformObject(objects[this.readUint32()]);
    }
  }
  const deserializer = new Deserializer(new Uint8Array(bytes));
  deserializer.readHeader();
  return deserializer.readValue();
}

module.exports = { deserializeResult, serializeParameters };
