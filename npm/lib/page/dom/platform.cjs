'use strict';

// jsdom's objects in structured clone. https://html.spec.whatwg.org/multipage/structured-data.html#serializable-objects

const gate = require('selfprof:gate');
const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const Blob = require('jsdom/lib/generated/idl/Blob.js');
const DOMException = require('jsdom/lib/generated/idl/DOMException.js');
const DOMRectReadOnly = require('jsdom/lib/generated/idl/DOMRectReadOnly.js');
const File = require('jsdom/lib/generated/idl/File.js');
const FormData = require('jsdom/lib/generated/idl/FormData.js');
const { concatTypedArrays } = require('jsdom/lib/jsdom/living/helpers/binary-data.js');
const { utf8Decode } = require('jsdom/lib/jsdom/living/helpers/encoding.js');
const { serializeEntryList } = require('jsdom/lib/jsdom/living/xhr/multipart-form-data.js');

const { NotCloneable } = require('../clone.cjs');

/** The prototypes of our own interfaces, of all windows: their objects are platform objects that are not serializable. */
const ownPrototypes = new WeakSet();

function isOwnObject(object) {
  for (let prototype = Object.getPrototypeOf(object); prototype !== null; prototype = Object.getPrototypeOf(prototype)) {
    if (ownPrototypes.has(prototype)) return true;
  }
  return false;
}

function implOf(value) {
  return typeof value === 'object' && value !== null ? (idlUtils.implForWrapper(value) ?? undefined) : undefined;
}

/**
 * @param {object} window the realm that objects are made for
 * @returns {import('../clone.cjs').Platform}
 */
function platformOf(window) {
  return {
    kindOf: gate.kindOf,
    /** Lets no object of an interface be cloned. */
    refuse: (Interface) => void ownPrototypes.add(Interface.prototype),
    serialize(object) {
      const impl = idlUtils.implForWrapper(object);
      if (impl === null || impl === undefined) {
        if (object === window || object._globalProxy === object) throw new NotCloneable('a Window could not be cloned');
        if (isOwnObject(object)) throw new NotCloneable(`${Object.prototype.toString.call(object).slice(8, -1)} object could not be cloned`);
        return undefined;
      }
      if (File.isImpl(impl)) {
        return { type: 'File', bytes: impl._bytes, media: impl.type, name: impl.name, lastModified: impl.lastModified };
      }
      if (Blob.isImpl(impl)) return { type: 'Blob', bytes: impl._bytes, media: impl.type };
      if (DOMException.isImpl(impl)) return { type: 'DOMException', name: impl.name, message: impl.message };
      if (DOMRectReadOnly.isImpl(impl)) {
        const { x, y, width, height } = impl;
        return { type: object instanceof window.DOMRect ? 'DOMRect' : 'DOMRectReadOnly', x, y, width, height };
      }
      throw new NotCloneable(`${Object.prototype.toString.call(object).slice(8, -1)} object could not be cloned`);
    },
    /** The bytes of a Blob, `undefined` for anything else. */
    blobOf(object) {
      const impl = implOf(object);
      return impl !== undefined && Blob.isImpl(impl) ? { bytes: impl._bytes, type: impl.type } : undefined;
    },
    /** The bytes of a Blob or FormData as a request's body. */
    bodyOf(object) {
      const impl = implOf(object);
      if (impl === undefined) return undefined;
      if (Blob.isImpl(impl)) return { bytes: impl._bytes, type: impl.type === '' ? null : impl.type };
      if (!FormData.isImpl(impl)) return undefined;
      const { boundary, outputChunks } = serializeEntryList(impl._entries);
      return { bytes: concatTypedArrays(outputChunks), type: `multipart/form-data; boundary=${utf8Decode(boundary)}` };
    },
    deserialize(record) {
      switch (record.type) {
        case 'File':
          return File.create(window, [[record.bytes], record.name, { type: record.media, lastModified: record.lastModified }]);
        case 'Blob':
          return Blob.create(window, [[record.bytes], { type: record.media }]);
        case 'DOMException':
          return DOMException.create(window, [record.message, record.name]);
        case 'DOMRect':
        case 'DOMRectReadOnly':
          return new window[record.type](record.x, record.y, record.width, record.height);
        default:
          throw new TypeError('the record of a value is damaged');
      }
    },
  };
}

module.exports = { platformOf };
