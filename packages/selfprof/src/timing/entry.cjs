'use strict';

// PerformanceEntry, PerformanceMark and PerformanceMeasure.
// https://w3c.github.io/performance-timeline/#the-performanceentry-interface
// https://w3c.github.io/user-timing/#performancemark

const { defineInterface } = require('./interface.cjs');
const { BLOCK, MARK, MEASURE, sequenceOf } = require('./timeline.cjs');

/**
 * @typedef {import('./types.js').AnyEntry} AnyEntry
 * @typedef {import('./types.js').Block} Block
 * @typedef {import('./types.js').EntryReader} EntryReader
 * @typedef {import('./interfaces.js').PerformanceMark} Mark
 * @typedef {import('./interfaces.js').PerformanceMeasure} Measure
 * @typedef {ReturnType<typeof makeEntries>} Entries
 */

/** The step between the ids of entries. It is larger than 1, so that ids are not mistaken for a count. */
const ID_STEP = 7;

/**
 * @param {object} context
 * @param {import('./types.js').Realm} context.realm
 * @param {import('./timeline.cjs').Timeline} context.timeline
 * @param {import('./mark.cjs').ReadMark} context.readMark
 * @param {number} context.firstId the id of the navigation, which precedes the ids of all entries
 * @param {number} context.navigationId 0 when there is no document
 */
function makeEntries({ realm, timeline, readMark, firstId, navigationId }) {
  const { TypeError, Object: RealmObject } = realm;
  /** Only this file can pass it to a constructor. */
  const TOKEN = Symbol('internal');

  /** @type {Required<Omit<import('./types.js').EntryReader<PerformanceMark>, 'id'>>} */
  let marks;
  /** @type {Required<Omit<import('./types.js').EntryReader<PerformanceMeasure>, 'id'>>} */
  let measures;

  // PerformanceMark and PerformanceMeasure have their own fields and do not call the constructor of PerformanceEntry:
  // in a class with `extends`, construction takes three times as long, and it happens for each mark.

  class PerformanceMark {
    /** @type {Block | undefined} */
    #block;
    #name;
    #startTime;
    /** @type {unknown} */
    #detail = null;

    /**
     * Programs pass `markName` and `markOptions`; this file passes TOKEN, the name, the block and the start time.
     *
     * @param {unknown} markName
     * @param {unknown} [markOptions]
     * @param {Block} [block]
     * @param {number} [startTime]
     */
    constructor(markName, markOptions, block, startTime) {
      if (markName === TOKEN) {
        this.#block = block;
        this.#name = /** @type {string} */ (markOptions);
        this.#startTime = /** @type {number} */ (startTime);
      } else {
        const mark = readMark(markName, markOptions, arguments.length, "Failed to construct 'PerformanceMark'");
        this.#name = mark.name;
        this.#startTime = mark.startTime;
        this.#detail = mark.detail;
      }
    }

    get detail() {
      if (!marks.has(this)) throw illegal();
      return this.#detail;
    }

    static {
      marks = {
        entryType: 'mark',
        has: (value) => typeof value === 'object' && value !== null && #detail in value,
        block: (mark) => mark.#block,
        name: (mark) => mark.#name,
        startTime: (mark) => mark.#startTime,
        duration: () => 0,
        setDetail(mark, detail) {
          mark.#detail = detail;
        },
      };
    }
  }

  class PerformanceMeasure {
    #block;
    #name;
    #startTime;
    #duration;
    /** @type {unknown} */
    #detail = null;

    /**
     * @param {symbol} [token]
     * @param {Block} [block]
     * @param {string} [name]
     * @param {number} [startTime]
     * @param {number} [duration]
     */
    constructor(token, block, name = '', startTime = 0, duration = 0) {
      if (token !== TOKEN) throw new TypeError('Illegal constructor');
      this.#block = block;
      this.#name = name;
      this.#startTime = startTime;
      this.#duration = duration;
    }

    get detail() {
      if (!measures.has(this)) throw illegal();
      return this.#detail;
    }

    static {
      measures = {
        entryType: 'measure',
        has: (value) => typeof value === 'object' && value !== null && #detail in value,
        block: (measure) => measure.#block,
        name: (measure) => measure.#name,
        startTime: (measure) => measure.#startTime,
        duration: (measure) => measure.#duration,
        setDetail(measure, detail) {
          measure.#detail = detail;
        },
      };
    }
  }

  class PerformanceEntry {
    constructor() {
      throw new TypeError('Illegal constructor');
    }

    get id() {
      return idOf(this, readerOf(this));
    }

    get name() {
      return readerOf(this).name(this);
    }

    get entryType() {
      return readerOf(this).entryType;
    }

    get startTime() {
      return readerOf(this).startTime(this);
    }

    get duration() {
      return readerOf(this).duration(this);
    }

    get navigationId() {
      return navigationIdOf(this, readerOf(this));
    }

    /** https://webidl.spec.whatwg.org/#default-tojson-steps: only the attributes of this interface. */
    toJSON() {
      return toJSON(this);
    }
  }

  /** @param {object} entry */
  function toJSON(entry) {
    const reader = readerOf(entry);
    const json = /** @type {Record<string, unknown>} */ (new RealmObject());
    json.id = idOf(entry, reader);
    json.name = reader.name(entry);
    json.entryType = reader.entryType;
    json.startTime = reader.startTime(entry);
    json.duration = reader.duration(entry);
    json.navigationId = navigationIdOf(entry, reader);
    return json;
  }

  /**
   * The readers of the interfaces that other files add.
   *
   * @type {EntryReader[]}
   */
  const addedReaders = [];

  /** @param {Function} Interface */
  function inherit(Interface) {
    Object.setPrototypeOf(Interface, PerformanceEntry);
    Object.setPrototypeOf(Interface.prototype, PerformanceEntry.prototype);
  }

  /**
   * Makes a class inherit from PerformanceEntry.
   *
   * @param {Function} Interface
   * @param {...EntryReader} readers one for each type of its entries
   */
  function addInterface(Interface, ...readers) {
    inherit(Interface);
    addedReaders.push(...readers);
  }

  inherit(PerformanceMark);
  inherit(PerformanceMeasure);

  const illegal = () => new TypeError('Illegal invocation');

  /**
   * @param {unknown} value
   * @returns {EntryReader | undefined}
   */
  function findReader(value) {
    if (marks.has(value)) return /** @type {EntryReader} */ (marks);
    if (measures.has(value)) return /** @type {EntryReader} */ (measures);
    return addedReaders.find((reader) => reader.has(value));
  }

  /** @param {unknown} value */
  function readerOf(value) {
    const reader = findReader(value);
    if (reader === undefined) throw illegal();
    return reader;
  }

  /**
   * Only the entries of a timeline have ids: https://w3c.github.io/performance-timeline/#queue-a-performanceentry
   *
   * @param {object} entry
   * @param {EntryReader} reader
   */
  function idOf(entry, reader) {
    if (reader.id !== undefined) return reader.id(entry);
    const block = reader.block(entry);
    return block === undefined ? 0 : firstId + ID_STEP * (sequenceOf(block, entry) + 1);
  }

  /**
   * @param {object} entry
   * @param {EntryReader} reader
   */
  function navigationIdOf(entry, reader) {
    return reader.id === undefined && reader.block(entry) === undefined ? 0 : navigationId;
  }

  defineInterface(realm, PerformanceEntry);
  defineInterface(realm, PerformanceMark, { lengths: { constructor: 1 }, inherits: true });
  defineInterface(realm, PerformanceMeasure, { inherits: true });

  /**
   * Makes the object of the mark that was just recorded.
   *
   * @param {string} name
   * @param {number} startTime
   */
  function nextMark(name, startTime) {
    const mark = new PerformanceMark(TOKEN, name, timeline.block, startTime);
    timeline.addObject(mark);
    // PerformanceEntry is in its prototype chain.
    return /** @type {Mark} */ (/** @type {unknown} */ (mark));
  }

  /**
   * Makes the object of the measure that was just recorded.
   *
   * @param {string} name
   * @param {number} startTime
   * @param {number} duration
   */
  function nextMeasure(name, startTime, duration) {
    const measure = new PerformanceMeasure(TOKEN, timeline.block, name, startTime, duration);
    timeline.addObject(measure);
    return /** @type {Measure} */ (/** @type {unknown} */ (measure));
  }

  /**
   * Makes the object of the entry that was just recorded.
   *
   * @param {1 | 2} type
   * @param {string} name
   * @param {number} startTime
   * @param {number} duration
   * @param {unknown} detail
   * @param {boolean} buffered whether the entry is in its buffer
   */
  function nextEntry(type, name, startTime, duration, detail, buffered) {
    const { sequence } = timeline;
    const entry = type === MARK ? nextMark(name, startTime) : nextMeasure(name, startTime, duration);
    if (detail !== null) {
      readerOf(entry).setDetail?.(entry, detail);
      if (buffered) timeline.detailed.set(sequence, { type, name, entry });
    }
    return entry;
  }

  /**
   * The objects of buffered entries: the ones that the program holds, and new ones for the others.
   *
   * @param {import('../native.js').EntryColumns} columns
   * @returns {AnyEntry[]}
   */
  function objectsOf({ types, names, sequences, times }) {
    const list = new realm.Array(types.length);
    /** @type {Block} */
    let block = [];
    let blockNumber = -1;
    for (let i = 0; i < types.length; i++) {
      const sequence = sequences[i];
      const at = sequence & (BLOCK - 1);
      const number = (sequence - at) / BLOCK;
      if (number !== blockNumber) {
        block = timeline.blockAt(number);
        blockNumber = number;
      }
      block[at] ??= makeAgain(types[i], timeline.nameOf(names[i]), times[2 * i], times[2 * i + 1], block);
      list[i] = block[at];
    }
    return list;
  }

  /**
   * @param {number} type
   * @param {string} name
   * @param {number} startTime
   * @param {number} duration
   * @param {Block} block
   */
  function makeAgain(type, name, startTime, duration, block) {
    return type === MEASURE
      ? new PerformanceMeasure(TOKEN, block, name, startTime, duration)
      : new PerformanceMark(TOKEN, name, block, startTime);
  }

  // These also read entries of Node's classes.
  const nameOf = (/** @type {AnyEntry} */ entry) => findReader(entry)?.name(entry) ?? entry.name;
  const entryTypeOf = (/** @type {AnyEntry} */ entry) => findReader(entry)?.entryType ?? entry.entryType;
  const startTimeOf = (/** @type {AnyEntry} */ entry) => findReader(entry)?.startTime(entry) ?? entry.startTime;

  return {
    PerformanceEntry,
    PerformanceMark,
    PerformanceMeasure,
    addInterface,
    entryTypeOf,
    nameOf,
    nextEntry,
    nextMark,
    nextMeasure,
    objectsOf,
    startTimeOf,
    toJSON,
  };
}

module.exports = { ID_STEP, makeEntries };
