'use strict';

// How much of a heap is filled by reading what V8's serializer has written.
//
// The format is that of V8's value-serializer.cc: a tag of one byte, and what belongs to it. The tags of errors have meanings of their own
// in them, and the keys of objects may be indexes, so the values that are open are known.

const { Buffer } = require('node:buffer');

const { LONG_TEXT } = require('../any-realm/long-texts.cjs');
const { ShapeTree } = require('./object-shapes.cjs');

/** What follows a tag. */
const Payload = {
  none: 1,
  number: 2,
  twoNumbers: 3,
  eightBytes: 4,
  text: 5,
  memory: 6,
  resizableMemory: 7,
  bigint: 8,
  view: 9,
  regularExpression: 10,
};

/** By tag; 0 for those that are not read: WebAssembly, and what is unknown. */
const PAYLOADS = new Uint8Array(256);
for (const [tags, payload] of /** @type {[string, number][]} */ ([
  ["\0_0TFxy-so;'r", Payload.none],
  ['IU^{Aa:,tu\\?', Payload.number],
  ['$@', Payload.twoNumbers],
  ['NDn', Payload.eightBytes],
  ['"cS', Payload.text],
  ['B', Payload.memory],
  ['~', Payload.resizableMemory],
  ['Zz', Payload.bigint],
  ['V', Payload.view],
  ['R', Payload.regularExpression],
]))
  for (const tag of tags) PAYLOADS[tag.charCodeAt(0)] = payload;

/** What a tag means for the values around it: it begins or ends one that has others, or it is not a value. */
const Nesting = { begins: 1, ends: 2, continues: 3 };
const NESTING = new Uint8Array(256);
for (const tag of "oAa;'r") NESTING[tag.charCodeAt(0)] = Nesting.begins;
for (const tag of '{$@:,') NESTING[tag.charCodeAt(0)] = Nesting.ends;
// Before a text, before a value, and after the memory that it is a view of.
for (const tag of '\0?V') NESTING[tag.charCodeAt(0)] = Nesting.continues;

/**
 * What a value takes in a heap beside its texts, about, in bytes. Measured on Node 22 to 26, of many alike: what is most expensive of its
 * kind.
 */
const HEAP_BYTES = new Uint16Array(256);
for (const [tags, bytes] of /** @type {[string, number][]} */ ([
  ['N', 16],
  ['"cS', 32],
  ['D', 144],
  ['xynzs', 128],
  ['o', 160],
  ['A', 96],
  ['a', 208],
  [";'", 320],
  ['r', 800],
  ['R', 320],
  ['B~tuV', 320],
  // A platform object: a Blob, say.
  ['\\', 2_048],
]))
  for (const tag of tags) HEAP_BYTES[tag.charCodeAt(0)] = bytes;
/** A value in an array; in a map or a set; and with its key in an object, which may need a class that no other object has. */
const PLACE = 8;
const ENTRY = 64;
const PROPERTY = 72;
const NEW_PROPERTY = 320;

const INDEXES = new Set(Buffer.from('IUN'));
const COLLECTIONS = new Set(Buffer.from(";'"));

const HEADER = 0xff;
const VIEW = 'V'.charCodeAt(0);
const OBJECT = 'o'.charCodeAt(0);
const ARRAY = 'A'.charCodeAt(0);
const SPARSE_ARRAY = 'a'.charCodeAt(0);
const INTEGER = 'I'.charCodeAt(0);

/** The shapes without keys, by the tag of their objects. */
const NO_SHAPE = 0;
const SHAPES = new Int8Array(256);
SHAPES[OBJECT] = -1;
SHAPES[ARRAY] = SHAPES[SPARSE_ARRAY] = -2;

/** In an error: its kinds; and its message, stack and cause, each with a value. */
const ERROR = 'r'.charCodeAt(0);
const ERROR_ENDS = '.'.charCodeAt(0);
const ERROR_KINDS = new Set(Buffer.from('EFRSTU'));
const ERROR_MEMBERS = new Set(Buffer.from('msc'));

/** V8 makes room for all places of an array with gaps, up to so many. A longer array is a table of those that it has. */
const MAX_PLACES = 32 << 20;
/** It makes room for the places before an index, if it is no further than so much from the last one. */
const MAX_GAP = 1_024;
/** Of more places than so, nine tenths and more of them unused, it makes a table. */
const MAX_UNUSED_PLACES = 5_000;
const MAX_PLACES_OF_ENTRY = 36;

/** A value that is open: it has others. */
class Open {
  tag = 0;
  /** How many values it has so far. */
  count = 0;
  /** How many of these are elements, before keys and values come in turn. */
  elements = 0;
  /** The places that V8 has made room for, and how many of them have a value. */
  places = 0;
  indexes = 0;
  /** Where the keys of an object begin and end, and its shape then: first those of the one before. @type {number[]} */
  keys = [];
  keyCount = 0;
  shape = NO_SHAPE;
  /** The shape without keys of the object that these keys belong to. */
  firstShape = NO_SHAPE;

  /** @param {number} tag */
  begin(tag) {
    this.tag = tag;
    this.count = this.elements = this.places = this.indexes = this.keyCount = 0;
    this.shape = SHAPES[tag];
    return this;
  }

  isKeyNext() {
    return this.count >= this.elements && (this.count - this.elements) % 2 === 0;
  }

  /**
   * @param {Buffer} bytes
   * @param {number} from where a key begins that is a text
   * @param {number} to where it ends
   * @param {ShapeTree} shapes
   * @returns {boolean} whether the object before has the same keys up to here
   */
  addKey(bytes, from, to, shapes) {
    const at = this.keyCount;
    this.keyCount += 3;
    if (at === 0 && this.firstShape !== this.shape) {
      this.firstShape = this.shape;
      this.keys.length = 0;
    }
    if (at < this.keys.length) {
      let before = this.keys[at];
      if (this.keys[at + 1] - before === to - from) {
        let key = from;
        while (key < to && bytes[key] === bytes[before]) {
          key += 1;
          before += 1;
        }
        if (key === to) {
          this.shape = this.keys[at + 2];
          return true;
        }
      }
      this.keys.length = at;
    }
    this.shape = shapes.below(this.shape, at / 3, bytes.toString('latin1', from, to));
    this.keys.push(from, to, this.shape);
    return false;
  }

  /** @param {number} index a key */
  addIndex(index) {
    this.indexes += 1;
    if (index < this.places || index - this.places >= MAX_GAP) return;
    const places = index + 1 + ((index + 1) >> 1) + 16;
    if (places <= MAX_UNUSED_PLACES || places < this.indexes * MAX_PLACES_OF_ENTRY) this.places = places;
  }
}

/**
 * @typedef {object} SerializedSize
 * @property {number} heap how many bytes of a heap the values fill, about, and at most; memory of buffers is not in the heap
 * @property {number} longTextBytes how many of these are in texts that are read at once
 * @property {number} longKeys how many of these texts are keys of objects
 * @property {number} shapeCost see object-shapes.cjs
 * @property {number} expressionBytes how many bytes regular expressions have, which V8 parses
 * @property {boolean} isComplete whether all was understood, and counted
 */

/**
 * @param {Uint8Array<ArrayBuffer>} given
 * @param {ShapeTree} shapes that are known
 * @returns {SerializedSize}
 */
function serializedSize(given, shapes = new ShapeTree()) {
  // The memory may be of a page, and `Buffer.from` would read a property of it.
  const bytes = /** @type {Buffer<ArrayBuffer>} */ (Object.setPrototypeOf(given, Buffer.prototype));
  const size = { heap: 0, longTextBytes: 0, longKeys: 0, shapeCost: 0, expressionBytes: 0, isComplete: false };
  shapes.begin();
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
  const skipText = () => {
    const length = skip(readNumber());
    size.heap += length;
    if (length > LONG_TEXT) size.longTextBytes += length;
    return length;
  };
  /** @param {number} places that have no value */
  const addGaps = (places) => {
    if (places > 0) size.heap += places * PLACE;
  };
  /** The values that are open, the outermost first, and others to be used again. @type {Open[]} */
  const values = [];
  let depth = 0;
  /** The innermost of them. @type {Open | undefined} */
  let open;
  let isMemberOfError = false;
  const endValue = () => {
    isMemberOfError = false;
    if (open !== undefined) open.count += 1;
  };
  const leave = () => {
    depth -= 1;
    open = depth > 0 ? values[depth - 1] : undefined;
    endValue();
  };

  if (bytes[0] === HEADER) {
    skip(1);
    readNumber();
  }
  while (at < bytes.length) {
    const from = at;
    const tag = bytes[at++];
    if (open?.tag === ERROR && !isMemberOfError && tag !== VIEW) {
      if (tag === ERROR_ENDS) leave();
      else if (ERROR_MEMBERS.has(tag)) isMemberOfError = true;
      else if (!ERROR_KINDS.has(tag)) return size;
      continue;
    }
    let number = 0;
    switch (PAYLOADS[tag]) {
      case Payload.none:
        break;
      case Payload.number:
        number = readNumber();
        break;
      case Payload.twoNumbers: {
        const properties = readNumber();
        const length = readNumber();
        if (open?.tag === SPARSE_ARRAY && length <= MAX_PLACES) addGaps(length - properties);
        break;
      }
      case Payload.eightBytes:
        skip(8);
        break;
      case Payload.text:
        skipText();
        break;
      case Payload.memory:
        skip(readNumber());
        break;
      case Payload.resizableMemory: {
        const length = readNumber();
        readNumber();
        skip(length);
        break;
      }
      case Payload.bigint:
        // The first bit is the sign, the others are the number of bytes.
        size.heap += 24 + skip(Math.floor(readNumber() / 2));
        break;
      case Payload.view:
        // The type, the offset, the length and flags.
        skip(1);
        readNumber();
        readNumber();
        readNumber();
        break;
      case Payload.regularExpression:
        while (bytes[at] === 0) skip(1);
        if (PAYLOADS[bytes[at] ?? 0] !== Payload.text) return size;
        skip(1);
        size.expressionBytes += skipText();
        // The flags.
        readNumber();
        break;
      default:
        return size;
    }
    size.heap += HEAP_BYTES[tag];
    switch (NESTING[tag]) {
      case Nesting.begins:
        size.heap += placeIn(open);
        values[depth] ??= new Open();
        open = values[depth].begin(tag);
        depth += 1;
        if (tag === ARRAY) open.elements = number;
        isMemberOfError = false;
        break;
      case Nesting.ends:
        if (open === undefined) return size;
        addGaps(open.places - open.indexes);
        leave();
        break;
      case Nesting.continues:
        break;
      default:
        size.heap += placeIn(open);
        if (open !== undefined && SHAPES[open.tag] !== NO_SHAPE && open.isKeyNext()) {
          if (!INDEXES.has(tag)) {
            if (at - from > LONG_TEXT) size.longKeys += 1;
            if (!open.addKey(bytes, from, at, shapes)) size.heap += NEW_PROPERTY;
          } else if (open.tag === OBJECT) {
            // The last bit of an integer is the sign.
            open.addIndex(tag === INTEGER ? Math.floor(number / 2) : number);
          }
        }
        endValue();
    }
  }
  size.shapeCost = shapes.cost;
  size.isComplete = at === bytes.length && depth === 0;
  return size;
}

/** What a value takes in the one that it belongs to. @param {Open | undefined} open */
function placeIn(open) {
  if (open === undefined || open.tag === ERROR) return PLACE;
  if (COLLECTIONS.has(open.tag)) return ENTRY;
  return open.isKeyNext() ? PROPERTY : PLACE;
}

module.exports = { serializedSize };
