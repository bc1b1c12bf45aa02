'use strict';

// Looks for maps and sets of numbers in what V8's serializer has written. The hashes of numbers are known, so a page can choose some that
// collide; those of texts have a random seed, and those of objects are random.
//
// The format is that of V8's value-serializer.cc: a tag of one byte, and what belongs to it. Values are read one after the other, whatever
// they are nested in.

/** What follows a tag. */
const Payload = { none: 1, number: 2, twoNumbers: 3, eightBytes: 4, bytes: 5, bigint: 6, regexp: 7, view: 8 };

/** By tag; 0 for those that are not understood. */
const PAYLOADS = new Uint8Array(256);
for (const [tags, payload] of /** @type {[string, number][]} */ ([
  ["\0_0TFxy-so;'", Payload.none],
  ['IU^{Aa:,tu\\?', Payload.number],
  ['$@', Payload.twoNumbers],
  ['NDn', Payload.eightBytes],
  ['"cSB', Payload.bytes],
  ['Zz', Payload.bigint],
  ['R', Payload.regexp],
  ['V', Payload.view],
]))
  for (const tag of tags) PAYLOADS[tag.charCodeAt(0)] = payload;

/** 1 for the tags of numbers, and of maps and sets. */
const NUMBERS = new Uint8Array(256);
const COLLECTIONS = new Uint8Array(256);
for (const tag of 'IUNZ') NUMBERS[tag.charCodeAt(0)] = 1;
for (const tag of ";'") COLLECTIONS[tag.charCodeAt(0)] = 1;

const HEADER = 0xff;

/**
 * Whether there is a map or a set in a value, and more numbers than so many.
 *
 * @param {Uint8Array} bytes
 * @param {number} few
 * @returns {boolean} also `true` for what is not understood
 */
function mayHaveNumericKeys(bytes, few) {
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
  };

  if (bytes[0] === HEADER) {
    skip(1);
    readNumber();
  }
  let numbers = 0;
  let collections = 0;
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
      case Payload.bytes:
        skip(readNumber());
        break;
      case Payload.bigint:
        // The first bit is the sign, the others are the number of bytes.
        skip(Math.floor(readNumber() / 2));
        break;
      case Payload.regexp:
        // A text with a tag of its own, and flags.
        skip(1);
        skip(readNumber());
        readNumber();
        break;
      case Payload.view:
        // The type, the offset, the length and flags.
        skip(1);
        readNumber();
        readNumber();
        readNumber();
        break;
      default:
        return true;
    }
    numbers += NUMBERS[tag];
    collections += COLLECTIONS[tag];
    if (collections > 0 && numbers > few) return true;
  }
  return at !== bytes.length;
}

module.exports = { mayHaveNumericKeys };
