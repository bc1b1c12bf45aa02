'use strict';

// The values of `Page.evaluate`, as bytes of V8's serializer. The process of the pages passes on what a page has
// written, so a value is made once, here.

const v8 = require('node:v8');

/**
 * The result of a script.
 *
 * @typedef {{ bytes: Uint8Array, objects: unknown[] }} ClonedValue `objects` describes the platform objects in it
 */

class ValueWriter extends v8.Serializer {
  /** V8 throws what this makes. @param {string} message */
  _getDataCloneError(message) {
    return new DOMException(`${message}\n\nhint: pass plain data to the page`, 'DataCloneError');
  }

  /** Memory is not shared between processes. @returns {never} */
  _getSharedArrayBufferId() {
    throw this._getDataCloneError('A SharedArrayBuffer could not be cloned.');
  }
}

class ValueReader extends v8.Deserializer {
  #objects;

  /** @param {ClonedValue} value */
  constructor({ bytes, objects }) {
    super(bytes);
    this.#objects = objects.map(toPlatformObject);
  }

  _readHostObject() {
    return this.#objects[this.readUint32()];
  }
}

/** Platform objects of a page that this realm has, too; all others become plain data. @param {any} data */
function toPlatformObject(data) {
  switch (data?.type) {
    case 'Blob':
      return new Blob([data.bytes], { type: data.media });
    case 'File':
      return new File([data.bytes], data.name, { type: data.media, lastModified: data.lastModified });
    case 'DOMException':
      return new DOMException(data.message, data.name);
    default: {
      const { type, ...members } = data ?? {};
      return members;
    }
  }
}

/** @param {unknown} value @returns {Uint8Array} @throws {DOMException} `DataCloneError` */
function writeValue(value) {
  const writer = new ValueWriter();
  writer.writeHeader();
  writer.writeValue(value);
  return writer.releaseBuffer();
}

/** @param {ClonedValue} value */
function readValue(value) {
  const reader = new ValueReader(value);
  reader.readHeader();
  return reader.readValue();
}

module.exports = { readValue, writeValue };
