'use strict';

// What V8's serializer has written, roughly: how much of it are numbers, long texts and memory.
//
// The format is that of V8's value-serializer.cc: a tag of one byte, and what belongs to it. Values are read one after the other, whatever
// they are nested in.

/** What follows a tag. */
const Payload = { none: 1, number: 2, twoNumbers: 3, eightBytes: 4, text: 5, memory: 6, bigint: 7, view: 8 };

/** By tag; 0 for those that are not read: regular expressions, errors, WebAssembly, and what is unknown. */
const PAYLOADS = new Uint8Array(256);
for (const [tags, payload] of /** @type {[string, number][]} */ ([
  ["\0_0TFxy-so;'", Payload.none],
  ['IU^{Aa:,tu\\?', Payload.number],
  ['$@', Payload.twoNumbers],
  ['NDn', Payload.eightBytes],
  ['"cS', Payload.text],
  ['B', Payload.memory],
  ['Zz', Payload.bigint],
  ['V', Payload.view],
]))
  for (const tag of tags) PAYLOADS[tag.charCodeAt(0)] = payload;

/** 1 for the tags of numbers, and of maps and sets. */
const NUMBERS = new Uint8Array(256);
const COLLECTIONS = new Uint8Array(256);
for (const tag of 'IUNZ') NUMBERS[tag.charCodeAt(0)] = 1;
for (const tag of ";'") COLLECTIONS[tag.charCodeAt(0)] = 1;

const HEADER = 0xff;

/** The hash of a longer text is its length. */
const MAX_HASHED_TEXT = 16_383;

/**
 * @typedef {object} SerializedSize
 * @property {number} numbers how many there are, BigInts among them
 * @property {number} collections how many maps and sets
 * @property {number} longTexts how many texts of which V8 hashes no more than the length
 * @property {number} longTextBytes how many bytes they have
 * @property {number} memory how many bytes buffers have
 * @property {boolean} isComplete whether all was understood, and counted
 */

/** @param {Uint8Array} bytes @returns {SerializedSize} */
function serializedSize(bytes) {
  const size = { numbers: 0, collections: 0, longTexts: 0, longTextBytes: 0, memory: 0, isComplete: false };
  let at = 0;
  const readNumber = () => {
    let value = 0;
    for (let factor = 1; at < bytes.length; factor *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * factor;
      if (byte < 128) break;
    }
    return value;
  };
  /** @param {number} length */
  const skip = (length) => {
    at += length;
    return length;
  };

  if (bytes[0] === HEADER) {
    skip(1);
    readNumber();
  }
  while (at < bytes.length) {
    const tag = bytes[at++];
    switch (PAYLOADS[tag]) {
      case Payload.none:
        break;
      case Payload.number:
        readNumber();
        break;
      case Payload.twoNumbers:
        readNumber();
        readNumber();
        break;
      case Payload.eightBytes:
        skip(8);
        break;
      case Payload.text: {
        const length = skip(readNumber());
        if (length <= MAX_HASHED_TEXT) break;
        size.longTexts += 1;
        size.longTextBytes += length;
        break;
      }
      case Payload.memory:
        size.memory += skip(readNumber());
        break;
      case Payload.bigint:
        // The first bit is the sign, the others are the number of bytes.
        skip(Math.floor(readNumber() / 2));
        break;
      case Payload.view:
        // The type, the offset, the length and flags.
        skip(1);
        readNumber();
        readNumber();
        readNumber();
        break;
      default:
        return size;
    }
    size.numbers += NUMBERS[tag];
    size.collections += COLLECTIONS[tag];
  }
  size.isComplete = at === bytes.length;
  return size;
}

module.exports = { serializedSize };
