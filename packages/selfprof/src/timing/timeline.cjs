'use strict';

// The performance entry buffers of a global object. The entries are recorded in Rust, without an object for each. This
// file has the strings of their names, and finds the entry objects that the program still holds.
// https://w3c.github.io/performance-timeline/#dfn-performance-entry-buffer-map

const { ATTRIBUTES } = require('./attributes.cjs');

/** @typedef {import('./types.js').Block} Block */

/** The codes of entry types: those of selfprof-timing's `EntryType`. */
const MARK = 1;
const MEASURE = 2;

/** Name ids below this are the attributes of PerformanceTiming, in every timeline. */
const FIRST_NAME = ATTRIBUTES.length;

/** Stands for all names. */
const ALL = 2 ** 32 - 1;

/** How many unused names are remembered at least. A program that marks and clears in turn uses the same names again. */
const MAX_UNUSED_NAMES = 256;

/** Entries per block, a power of two. */
const BLOCK = 64;

class Timeline {
  /** @param {import('../native.js').Timeline} native an empty timeline of the addon */
  constructor(native) {
    this.native = native;
    /**
     * The clock and the functions that are called for each entry. `resolve` leaves the start and the duration of a
     * measure in `result`. V8 calls these functions straight from optimised code, but only as methods.
     */
    this.fastCalls = native.fastCalls();

    /**
     * Name ids by name: the names of buffered entries, and some names that buffered entries had.
     *
     * @type {Map<string, number>}
     */
    this.ids = new Map(ATTRIBUTES.map((name, id) => [name, id]));
    /**
     * Names by id.
     *
     * @type {(string | undefined)[]}
     */
    this.names = [...ATTRIBUTES];
    /** @type {number[]} */
    this.freeIds = [];
    /** How often a name lost its last entry since names were last forgotten. */
    this.unusedNames = 0;
    /** Whether a buffer has a limit. */
    this.bounded = native.room(MARK) < ALL || native.room(MEASURE) < ALL;

    /** How many entries were made: the sequence number of the next one. Rust counts too. */
    this.sequence = 0;
    /**
     * Whether both counts agree. They do not between the recording of an entry and the creation of its object, where a
     * stack overflow may happen.
     */
    this.settled = true;
    /**
     * The objects of the latest entries. An entry object refers to its block, and the timeline refers to older blocks
     * weakly. So when a program holds an entry object, the timeline returns that same object for the entry.
     *
     * @type {Block}
     */
    this.block = newBlock(0);
    /**
     * Buffered entries with a detail, by sequence number. Rust does not have the detail, so these objects are kept.
     *
     * @type {Map<number, { type: 1 | 2, name: string, entry: object }>}
     */
    this.detailed = new Map();
  }

  /**
   * Puts an entry into its buffer, unless that is full. The caller makes its object next.
   *
   * @param {1 | 2} type
   * @param {string} name
   * @param {number} startTime
   * @param {number} duration
   * @returns {boolean} whether the buffer had room
   */
  record(type, name, startTime, duration) {
    if (!this.settled) this.settle();
    // The name of an entry that does not fit need not be remembered.
    const id = this.bounded && this.native.room(type) === 0 ? 0 : this.intern(name);
    this.settled = false;
    const kept =
      type === MARK ? this.fastCalls.markAt(id, startTime) : this.fastCalls.measureAt(id, startTime, duration);
    return kept === 1;
  }

  /**
   * Takes the object of the entry that was recorded last.
   *
   * @param {object} entry
   */
  addObject(entry) {
    const at = this.sequence & (BLOCK - 1);
    this.block[at] = entry;
    this.sequence++;
    this.settled = true;
    if (at === BLOCK - 1) this.beginBlock(numberOf(this.block) + 1);
  }

  /** Continues after entries that were recorded and never got an object. */
  settle() {
    this.sequence = this.native.made();
    const number = Math.floor(this.sequence / BLOCK);
    if (number !== numberOf(this.block)) this.beginBlock(number);
    this.settled = true;
  }

  /** @param {number} number */
  beginBlock(number) {
    this.fastCalls.setWeak(numberOf(this.block), this.block);
    this.block = newBlock(number);
  }

  /**
   * The block of this number: the one with objects that the program holds, or a new one.
   *
   * @param {number} number
   * @returns {Block}
   */
  blockAt(number) {
    if (number === numberOf(this.block)) return this.block;
    /** @type {Block | undefined} */
    const held = this.fastCalls.getWeak(number);
    if (held) return held;
    const block = newBlock(number);
    this.fastCalls.setWeak(number, block);
    return block;
  }

  /** @param {string} name */
  intern(name) {
    let id = this.ids.get(name);
    if (id !== undefined) return id;
    id = this.freeIds.pop() ?? this.names.length;
    this.ids.set(name, id);
    this.names[id] = name;
    return id;
  }

  /**
   * The name of a buffered entry.
   *
   * @param {number} id
   */
  nameOf(id) {
    return /** @type {string} */ (this.names[id]);
  }

  /**
   * Whether there is a mark of this name.
   *
   * @param {string} name
   */
  hasMark(name) {
    const id = this.ids.get(name);
    return id !== undefined && !Number.isNaN(this.native.latest(id));
  }

  /**
   * Removes the entries of a type: all, or only those with a name.
   *
   * @param {1 | 2} type
   * @param {string} [name]
   */
  clear(type, name) {
    const id = this.find(name);
    if (id === undefined) return;
    this.unusedNames += this.fastCalls.clear(type, id);
    if (this.unusedNames > MAX_UNUSED_NAMES && this.unusedNames > this.ids.size / 2) this.forgetNames();
    if (this.detailed.size === 0) return;
    for (const [sequence, detailed] of this.detailed) {
      if (detailed.type === type && (name === undefined || detailed.name === name)) this.detailed.delete(sequence);
    }
  }

  /** Forgets the names that no entry has. */
  forgetNames() {
    this.unusedNames = 0;
    for (const [name, id] of this.ids) {
      if (id < FIRST_NAME || this.fastCalls.uses(id) === 1) continue;
      this.ids.delete(name);
      this.names[id] = undefined;
      this.freeIds.push(id);
    }
    if (this.ids.size > FIRST_NAME) return;
    this.names = [...ATTRIBUTES];
    this.freeIds = [];
  }

  /**
   * The buffered entries in the order of start times.
   *
   * @param {0 | 1 | 2} type 0 for both types
   * @param {string} [name] undefined for all names
   * @returns {import('../native.js').EntryColumns | undefined} undefined when the name is not known
   */
  entries(type, name) {
    const id = this.find(name);
    return id === undefined ? undefined : this.native.entries(type, id === ALL ? -1 : id);
  }

  /**
   * The start times of marks or the durations of measures, in the order of the calls.
   *
   * @param {1 | 2} type
   * @param {string} [name] undefined for all names
   * @returns {import('../native.js').ValueColumns | undefined} undefined when the name is not known
   */
  inCallOrder(type, name) {
    const id = this.find(name);
    return id === undefined ? undefined : this.native.inCallOrder(type, id === ALL ? -1 : id);
  }

  /**
   * The id of a name, `ALL` when there is no name to look for, undefined when the name is not known.
   *
   * @param {string} [name]
   */
  find(name) {
    return name === undefined ? ALL : this.ids.get(name);
  }
}

/**
 * @param {number} number
 * @returns {Block}
 */
function newBlock(number) {
  const block = new Array(BLOCK + 1);
  block[BLOCK] = number;
  return block;
}

/** @param {Block} block */
function numberOf(block) {
  return /** @type {number} */ (block[BLOCK]);
}

/**
 * The sequence number of an entry.
 *
 * @param {Block} block
 * @param {object} entry an object in the block
 */
function sequenceOf(block, entry) {
  return numberOf(block) * BLOCK + block.indexOf(entry);
}

module.exports = { BLOCK, FIRST_NAME, MARK, MEASURE, Timeline, sequenceOf };
