'use strict';

// The performance entry buffers of a global object, as JavaScript deals with them. What is recorded lives in Rust, without
// an object for each entry; here are the strings of the names and the objects that somebody still holds.
// https://w3c.github.io/performance-timeline/#dfn-performance-entry-buffer-map

const { ATTRIBUTES } = require('./attributes.cjs');

/** The codes of entry types: those of selfprof-timing's `EntryType`. */
const MARK = 1;
const MEASURE = 2;

/** Name ids below this are the attributes of PerformanceTiming, in every timeline and for ever. */
const FIRST_NAME = ATTRIBUTES.length;

/** What stands for all names. */
const ALL = 2 ** 32 - 1;

/** How many names that no entry has may be known: a program that marks and clears in turn uses the same ones again. */
const IDLE_NAMES = 256;

/** Entries in a block, a power of two. */
const BLOCK = 64;

class Timeline {
  /** @param native an empty `Timeline` of the addon */
  constructor(native) {
    this.native = native;
    /**
     * The clock and the functions that are called once an entry; `result` is where they leave start and duration of a
     * measure. V8 calls them straight from optimised code, but only as methods.
     */
    this.hot = native.hot();

    /** Name ids by name, and the reverse: the names of buffered entries, and some that were. */
    this.ids = new Map(ATTRIBUTES.map((name, id) => [name, id]));
    this.names = [...ATTRIBUTES];
    this.freeIds = [];
    /** How often a name lost its last entry since names were forgotten. */
    this.idleNames = 0;
    /** Whether a buffer may ever be full. */
    this.bounded = native.room(MARK) < ALL || native.room(MEASURE) < ALL;

    /** How many entries were made: the sequence number of the next one. Rust counts too. */
    this.sequence = 0;
    /**
     * Whether both counts are the same. It is not set between the recording of an entry and the making of its object: a
     * stack may overflow there.
     */
    this.settled = true;
    /**
     * The objects of the latest entries. An entry object refers to its block, so that whoever holds one of them keeps all
     * of them, and the timeline can hold blocks weakly: asked for an entry that somebody holds, it gives that object.
     */
    this.block = newBlock(0);
    /**
     * Buffered entries whose detail is not null, by sequence number: they cannot be made again from what Rust keeps.
     *
     * @type {Map<number, { type: 1 | 2, name: string, entry: object }>}
     */
    this.detailed = new Map();
  }

  /**
   * Puts an entry into its buffer, unless that is full. Its object is to be made next.
   *
   * @returns {boolean} whether it is there
   */
  record(type, name, startTime, duration) {
    if (!this.settled) this.settle();
    // The name of an entry that does not fit is none that would have to be remembered.
    const id = this.bounded && this.native.room(type) === 0 ? 0 : this.intern(name);
    this.settled = false;
    const kept = type === MARK ? this.hot.markAt(id, startTime) : this.hot.measureAt(id, startTime, duration);
    return kept === 1;
  }

  /** Takes the object of the entry that was recorded last. */
  hold(entry) {
    const at = this.sequence & (BLOCK - 1);
    this.block[at] = entry;
    this.sequence++;
    this.settled = true;
    if (at === BLOCK - 1) this.beginBlock(this.block[BLOCK] + 1);
  }

  /** Goes on after entries that were recorded and never got an object. */
  settle() {
    this.sequence = this.native.made();
    const number = Math.floor(this.sequence / BLOCK);
    if (number !== this.block[BLOCK]) this.beginBlock(number);
    this.settled = true;
  }

  beginBlock(number) {
    this.hot.keep(this.block[BLOCK], this.block);
    this.block = newBlock(number);
  }

  /** The block of this number: the one that somebody holds, or a new one. */
  blockAt(number) {
    if (number === this.block[BLOCK]) return this.block;
    const held = this.hot.kept(number);
    if (held) return held;
    const block = newBlock(number);
    this.hot.keep(number, block);
    return block;
  }

  intern(name) {
    let id = this.ids.get(name);
    if (id !== undefined) return id;
    id = this.freeIds.pop() ?? this.names.length;
    this.ids.set(name, id);
    this.names[id] = name;
    return id;
  }

  /** Whether there is a mark of this name. */
  hasMark(name) {
    const id = this.ids.get(name);
    return id !== undefined && !Number.isNaN(this.native.latest(id));
  }

  /**
   * Removes the entries of a type, all or those of a name.
   *
   * @param {string} [name]
   */
  clear(type, name) {
    const id = this.find(name);
    if (id === undefined) return;
    this.idleNames += this.hot.clear(type, id);
    if (this.idleNames > IDLE_NAMES && this.idleNames > this.ids.size / 2) this.forgetNames();
    if (this.detailed.size === 0) return;
    for (const [sequence, detailed] of this.detailed) {
      if (detailed.type === type && (name === undefined || detailed.name === name)) this.detailed.delete(sequence);
    }
  }

  /** Forgets the names that no entry has. */
  forgetNames() {
    this.idleNames = 0;
    for (const [name, id] of this.ids) {
      if (id < FIRST_NAME || this.hot.uses(id) === 1) continue;
      this.ids.delete(name);
      this.names[id] = undefined;
      this.freeIds.push(id);
    }
    if (this.ids.size > FIRST_NAME) return;
    this.names = [...ATTRIBUTES];
    this.freeIds = [];
  }

  /**
   * What is buffered, in the order of start times, in columns.
   *
   * @param {0 | 1 | 2} type 0 for both
   * @param {string} [name] all names when it is undefined
   * @returns {{ types: Uint8Array, names: Uint32Array, sequences: Float64Array, times: Float64Array } | undefined}
   *   nothing when there is no such name
   */
  entries(type, name) {
    const id = this.find(name);
    return id === undefined ? undefined : this.native.entries(type, id === ALL ? -1 : id);
  }

  /**
   * The views of the 2012 draft: start times of marks or durations of measures, in call order.
   *
   * @returns {{ names: Uint32Array, values: Float64Array } | undefined}
   */
  inCallOrder(type, name) {
    const id = this.find(name);
    return id === undefined ? undefined : this.native.inCallOrder(type, id === ALL ? -1 : id);
  }

  /** A name's id, `ALL` for all names, undefined for one that no entry has. */
  find(name) {
    return name === undefined ? ALL : this.ids.get(name);
  }
}

/** The objects of a block in the order of the calls, and then its number. */
function newBlock(number) {
  const block = new Array(BLOCK + 1);
  block[BLOCK] = number;
  return block;
}

module.exports = { BLOCK, FIRST_NAME, MARK, MEASURE, Timeline };
