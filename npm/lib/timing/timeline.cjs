'use strict';

// The performance entry buffers of a global object, as JavaScript deals with them. What is recorded lives in Rust, without
// an object for each entry; here are the strings of the names, the batch of entries on their way to Rust, and the objects
// that somebody still holds. https://w3c.github.io/performance-timeline/#dfn-performance-entry-buffer-map

const { ATTRIBUTES } = require('./attributes.cjs');

/** The codes of entry types: those of selfprof-timing's `EntryType`. */
const MARK = 1;
const MEASURE = 2;

/** Name ids below this are the attributes of PerformanceTiming, in every timeline and for ever. */
const FIRST_NAME = ATTRIBUTES.length;

/** For how many names there is room at first. */
const INITIAL_NAMES = 256;

/** Entries in a batch. */
const BATCH = 512;

/** Entries in a block, a power of two. */
const BLOCK = 64;

class Timeline {
  /**
   * @param native an empty `Timeline` of the addon
   * @param {() => number} now
   */
  constructor(native, now) {
    this.native = native;
    /** The functions of `native` that are called most, and the array that `resolve` writes start and duration to. */
    this.hot = native.hot();
    this.now = now;

    /** Name ids by name, and the reverse. Only names that an entry in a buffer has are there. */
    this.ids = new Map(ATTRIBUTES.map((name, id) => [name, id]));
    this.names = [...ATTRIBUTES];
    this.freeIds = [];
    /** The start time of the latest mark of each name id, NaN when there is none. */
    this.latest = new Float64Array(INITIAL_NAMES).fill(NaN);

    /** The batch: name id * 2, plus 1 for a measure, and start and duration. */
    this.heads = new Uint32Array(BATCH);
    this.times = new Float64Array(2 * BATCH);
    this.pending = 0;

    /** How many marks and measures are buffered, and how many may be. */
    this.marks = 0;
    this.measures = 0;
    this.maxMarks = native.room(MARK);
    this.maxMeasures = native.room(MEASURE);

    /** How many entries were made: the sequence number of the next one. */
    this.sequence = 0;
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
   * Puts an entry into its buffer, unless that is full.
   *
   * @returns {boolean} whether it is there
   */
  record(type, name, start, duration) {
    const full = type === MARK ? this.marks >= this.maxMarks : this.measures >= this.maxMeasures;
    if (full) {
      // Rust counts it as dropped, and its name is none that would have to be remembered.
      this.append(type - MARK, start, duration);
      return false;
    }
    const id = this.intern(name);
    if (type === MARK) {
      this.marks++;
      this.latest[id] = start;
    } else {
      this.measures++;
    }
    this.append(id * 2 + type - MARK, start, duration);
    return true;
  }

  /** The part of `record` that is left for a mark of a known name when the buffer is not full. */
  recordMark(id, start) {
    this.marks++;
    this.latest[id] = start;
    this.append(id * 2, start, 0);
  }

  /** As `recordMark`, for a measure. */
  recordMeasure(id, start, duration) {
    this.measures++;
    this.append(id * 2 + 1, start, duration);
  }

  append(head, start, duration) {
    const at = this.pending;
    this.heads[at] = head;
    this.times[2 * at] = start;
    this.times[2 * at + 1] = duration;
    this.pending = at + 1;
    if (this.pending === BATCH) this.flush();
  }

  /** Hands the batch over. Whatever else is asked of Rust comes after this. */
  flush() {
    const count = this.pending;
    if (count === 0) return;
    this.pending = 0;
    this.hot.append(this.heads, this.times, count);
  }

  /** Takes the object of the entry that was made last. */
  hold(entry) {
    const at = this.sequence & (BLOCK - 1);
    this.block[at] = entry;
    this.sequence++;
    if (at === BLOCK - 1) {
      const number = this.block[BLOCK];
      this.native.keep(number, this.block);
      this.block = newBlock(number + 1);
    }
  }

  /** The block of this number: the one that somebody holds, or a new one. */
  blockAt(number) {
    if (number === this.block[BLOCK]) return this.block;
    const held = this.native.kept(number);
    if (held) return held;
    const block = newBlock(number);
    this.native.keep(number, block);
    return block;
  }

  intern(name) {
    let id = this.ids.get(name);
    if (id !== undefined) return id;
    id = this.freeIds.pop() ?? this.names.length;
    this.ids.set(name, id);
    this.names[id] = name;
    if (id >= this.latest.length) {
      const latest = new Float64Array(2 * this.latest.length).fill(NaN);
      latest.set(this.latest);
      this.latest = latest;
    }
    return id;
  }

  /** The start time of the latest mark of a name, NaN when there is none. */
  latestMark(name) {
    const id = this.ids.get(name);
    return id === undefined ? NaN : this.latest[id];
  }

  /**
   * Removes the entries of a type, all or those of a name.
   *
   * @param {string} [name]
   */
  clear(type, name) {
    const id = this.find(name);
    if (id === undefined) return;
    this.flush();
    for (const freed of this.native.clear(type, id)) {
      if (freed < FIRST_NAME) continue;
      this.ids.delete(this.names[freed]);
      this.names[freed] = undefined;
      this.freeIds.push(freed);
    }
    if (type === MARK) {
      this.marks = this.maxMarks - this.native.room(MARK);
      if (id < 0) this.latest.fill(NaN);
      else this.latest[id] = NaN;
    } else {
      this.measures = this.maxMeasures - this.native.room(MEASURE);
    }
    for (const [sequence, detailed] of this.detailed) {
      if (detailed.type === type && (name === undefined || detailed.name === name)) this.detailed.delete(sequence);
    }
    if (this.ids.size === FIRST_NAME) this.forgetNames();
  }

  /** Gives the memory of the names back when none is left. */
  forgetNames() {
    this.names = [...ATTRIBUTES];
    this.freeIds = [];
    if (this.latest.length > INITIAL_NAMES) this.latest = this.latest.slice(0, INITIAL_NAMES);
  }

  /**
   * What is buffered, in the order of start times, in columns.
   *
   * @param {0 | 1 | 2} type 0 for both
   * @param {string} [name] all names when it is undefined
   * @returns {{ types: Uint8Array, names: Uint32Array, sequences: ArrayLike<number>, times: Float64Array } | undefined}
   *   nothing when there is no such name
   */
  entries(type, name) {
    const id = this.find(name);
    if (id === undefined) return undefined;
    this.flush();
    return this.native.entries(type, id);
  }

  /**
   * The views of the 2012 draft: start times of marks or durations of measures, in call order.
   *
   * @returns {{ names: Uint32Array, values: Float64Array } | undefined}
   */
  inCallOrder(type, name) {
    const id = this.find(name);
    if (id === undefined) return undefined;
    this.flush();
    return this.native.inCallOrder(type, id);
  }

  /** How many entries of a type did not fit. */
  dropped(type) {
    this.flush();
    return this.native.dropped(type);
  }

  /** A name's id, -1 for all names, undefined for one that no entry has. */
  find(name) {
    return name === undefined ? -1 : this.ids.get(name);
  }
}

/** The objects of a block in the order of the calls, and then its number. */
function newBlock(number) {
  const block = new Array(BLOCK + 1);
  block[BLOCK] = number;
  return block;
}

module.exports = { BLOCK, FIRST_NAME, MARK, MEASURE, Timeline };
