'use strict';

// jsdom's platform objects in structured clone.
// https://html.spec.whatwg.org/multipage/structured-data.html#serializable-objects

const { types } = require('node:util');

const native = require('selfprof/internal/native.cjs');
const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const Blob = require('jsdom/lib/generated/idl/Blob.js');
const DOMException = require('jsdom/lib/generated/idl/DOMException.js');
const DOMRect = require('jsdom/lib/generated/idl/DOMRect.js');
const DOMRectReadOnly = require('jsdom/lib/generated/idl/DOMRectReadOnly.js');
const File = require('jsdom/lib/generated/idl/File.js');
const FormData = require('jsdom/lib/generated/idl/FormData.js');
const { concatTypedArrays } = require('jsdom/lib/jsdom/living/helpers/binary-data.js');
const { utf8Decode } = require('jsdom/lib/jsdom/living/helpers/encoding.js');
const { serializeEntryList } = require('jsdom/lib/jsdom/living/xhr/multipart-form-data.js');

/**
 * The prototypes of our own interfaces in all windows. Their objects are platform objects that are not serializable.
 * @type {WeakSet<object>}
 */
const ownPrototypes = new WeakSet();

/** Whether an object is of one of our own interfaces. @param {object} object */
function isOwnObject(object) {
  for (
    let prototype = Object.getPrototypeOf(object);
    prototype !== null;
    prototype = Object.getPrototypeOf(prototype)
  ) {
    if (ownPrototypes.has(prototype)) return true;
  }
  return false;
}

/** @param {object} object which cannot be cloned */
function refusalOf(object) {
  return `${Object.prototype.toString.call(object).slice(8, -1)} object could not be cloned.`;
}

/** @param {unknown} value */
function implOf(value) {
  return typeof value === 'object' && value !== null ? (idlUtils.implForWrapper(value) ?? undefined) : undefined;
}

/**
 * @param {Jsdom.Window} window the realm that objects are made for
 * @returns {import('../../window/contracts.js').WindowPlatform}
 */
function platformObjectsOf(window) {
  return /** @type {import('../../window/contracts.js').WindowPlatform} */ ({
    isError: types.isNativeError,
    isArrayBuffer: types.isAnyArrayBuffer,
    // V8's serializer. It runs getters of the value, and the functions given; what they throw is thrown.
    write: (value, isHostObject, writeHostObject, shareMemory, dataCloneError, transferred) => {
      const functions = { isHostObject, writeHostObject, shareMemory, dataCloneError };
      return native.serializeValue(value, { anchor: isHostObject, ...functions, transferred });
    },
    // The lists have to be of this realm.
    read: (bytes, hostObjects, shared, transferred, anchor) =>
      native.deserializeValue(bytes, {
        anchor,
        hostObjects: [...hostObjects],
        shared: [...shared],
        transferred: [...transferred],
      }),
    dataCloneError: (message) => DOMException.create(window, [message, 'DataCloneError']),
    refuse: (Interface) => void ownPrototypes.add(Interface.prototype),
    serialize(object) {
      const impl = idlUtils.implForWrapper(object);
      if (impl === null || impl === undefined) {
        return object === window || isOwnObject(object) ? refusalOf(object) : undefined;
      }
      if (File.isImpl(impl)) {
        return { type: 'File', bytes: impl._bytes, media: impl.type, name: impl.name, lastModified: impl.lastModified };
      }
      if (Blob.isImpl(impl)) return { type: 'Blob', bytes: impl._bytes, media: impl.type };
      if (DOMException.isImpl(impl)) return { type: 'DOMException', name: impl.name, message: impl.message };
      if (DOMRectReadOnly.isImpl(impl)) {
        const { x, y, width, height } = impl;
        return { type: DOMRect.isImpl(impl) ? 'DOMRect' : 'DOMRectReadOnly', x, y, width, height };
      }
      return refusalOf(object);
    },
    blobOf(object) {
      const impl = implOf(object);
      return impl !== undefined && Blob.isImpl(impl) ? { bytes: impl._bytes, type: impl.type } : undefined;
    },
    bodyOf(object) {
      const impl = implOf(object);
      if (impl === undefined) return undefined;
      if (Blob.isImpl(impl)) return { bytes: impl._bytes, type: impl.type === '' ? null : impl.type };
      if (!FormData.isImpl(impl)) return undefined;
      const { boundary, outputChunks } = serializeEntryList(impl._entries);
      return { bytes: concatTypedArrays(outputChunks), type: `multipart/form-data; boundary=${utf8Decode(boundary)}` };
    },
    deserialize(data) {
      switch (data.type) {
        case 'File':
          return File.create(window, [[data.bytes], data.name, { type: data.media, lastModified: data.lastModified }]);
        case 'Blob':
          return Blob.create(window, [[data.bytes], { type: data.media }]);
        case 'DOMException':
          return DOMException.create(window, [data.message, data.name]);
        case 'DOMRect':
          return DOMRect.create(window, [data.x, data.y, data.width, data.height]);
        case 'DOMRectReadOnly':
          return DOMRectReadOnly.create(window, [data.x, data.y, data.width, data.height]);
        default:
          throw new TypeError('the record of a value is damaged');
      }
    },
  });
}

module.exports = { platformObjectsOf };
