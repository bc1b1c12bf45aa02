'use strict';

// PerformanceEntry, PerformanceMark and PerformanceMeasure.
// https://w3c.github.io/performance-timeline/#the-performanceentry-interface
// https://w3c.github.io/user-timing/#performancemark

const { defineInterface } = require('./interface.cjs');
const { BLOCK, MARK, MEASURE } = require('./timeline.cjs');

/** By how much the ids of entries grow. A number of its own keeps programs from reading them as a count. */
const ID_STEP = 7;

/**
 * @param {object} context
 * @param {object} context.realm
 * @param {import('./timeline.cjs').Timeline} context.timeline
 * @param {(name: unknown, options: unknown, present: number, message: string) => { name: string, startTime: number, detail: unknown }} context.readMark
 *   the arguments of a PerformanceMark
 * @param {number} context.firstId the id of the navigation, or what comes before the first entry's
 * @param {number} context.navigationId 0 when there is no document
 */
function makeEntries({ realm, timeline, readMark, firstId, navigationId }) {
  const { TypeError, Object: RealmObject } = realm;
  /** What only this file can pass to a constructor. */
  const TOKEN = Symbol('internal');

  /** What is read of marks and of measures, and how. */
  let marks;
  let measures;

  // The two interfaces that inherit have the fields, each its own, and no constructor calls another: one of a class that
  // extends takes three times as long, and this one runs once a mark.

  class PerformanceMark {
    /** The objects of the entry and its neighbours, which live as long as one of them. See Timeline. */
    #block;
    #name;
    #startTime;
    #detail = null;

    constructor(markName, markOptions, block, startTime) {
      if (markName === TOKEN) {
        this.#block = block;
        this.#name = markOptions;
        this.#startTime = startTime;
      } else {
        const mark = readMark(markName, markOptions, arguments.length, "Failed to construct 'PerformanceMark'");
        this.#name = mark.name;
        this.#startTime = mark.startTime;
        this.#detail = mark.detail;
      }
    }

    get detail() {
      if (!marks.have(this)) throw illegal();
      return this.#detail;
    }

    static {
      marks = {
        entryType: 'mark',
        have: (value) => typeof value === 'object' && value !== null && #detail in value,
        block: (mark) => mark.#block,
        name: (mark) => mark.#name,
        startTime: (mark) => mark.#startTime,
        duration: () => 0,
        setDetail: (mark, detail) => (mark.#detail = detail),
      };
    }
  }

  class PerformanceMeasure {
    #block;
    #name;
    #startTime;
    #duration;
    #detail = null;

    constructor(token, block, name, startTime, duration) {
      if (token !== TOKEN) throw new TypeError('Illegal constructor');
      this.#block = block;
      this.#name = name;
      this.#startTime = startTime;
      this.#duration = duration;
    }

    get detail() {
      if (!measures.have(this)) throw illegal();
      return this.#detail;
    }

    static {
      measures = {
        entryType: 'measure',
        have: (value) => typeof value === 'object' && value !== null && #detail in value,
        block: (measure) => measure.#block,
        name: (measure) => measure.#name,
        startTime: (measure) => measure.#startTime,
        duration: (measure) => measure.#duration,
        setDetail: (measure, detail) => (measure.#detail = detail),
      };
    }
  }

  class PerformanceEntry {
    constructor() {
      throw new TypeError('Illegal constructor');
    }

    get id() {
      return idOf(this, fieldsOf(this));
    }

    get name() {
      return fieldsOf(this).name(this);
    }

    get entryType() {
      return fieldsOf(this).entryType;
    }

    get startTime() {
      return fieldsOf(this).startTime(this);
    }

    get duration() {
      return fieldsOf(this).duration(this);
    }

    get navigationId() {
      return navigationIdOf(this, fieldsOf(this));
    }

    /** https://webidl.spec.whatwg.org/#default-tojson-steps: the attributes of this interface, without those that inherit. */
    toJSON() {
      return describe(this);
    }
  }

  function describe(entry) {
    const fields = fieldsOf(entry);
    const json = new RealmObject();
    json.id = idOf(entry, fields);
    json.name = fields.name(entry);
    json.entryType = fields.entryType;
    json.startTime = fields.startTime(entry);
    json.duration = fields.duration(entry);
    json.navigationId = navigationIdOf(entry, fields);
    return json;
  }

  /** What is read of entries of other interfaces that inherit. */
  const others = [];

  function extend(Interface) {
    Object.setPrototypeOf(Interface, PerformanceEntry);
    Object.setPrototypeOf(Interface.prototype, PerformanceEntry.prototype);
  }

  /** Makes another class an interface of entries, which are read as `fields` say: one for each type of entry. */
  function inherit(Interface, ...fields) {
    extend(Interface);
    others.push(...fields);
  }

  extend(PerformanceMark);
  extend(PerformanceMeasure);

  const illegal = () => new TypeError('Illegal invocation');

  function fieldsOf(value) {
    if (marks.have(value)) return marks;
    if (measures.have(value)) return measures;
    const fields = others.find(({ have }) => have(value));
    if (fields === undefined) throw illegal();
    return fields;
  }

  const isEntry = (value) => marks.have(value) || measures.have(value) || others.some(({ have }) => have(value));

  /** Only the entries of a timeline have ids: https://w3c.github.io/performance-timeline/#queue-a-performanceentry */
  function idOf(entry, fields) {
    if (fields.id !== undefined) return fields.id(entry);
    const block = fields.block(entry);
    return block === undefined ? 0 : firstId + ID_STEP * (block[BLOCK] * BLOCK + block.indexOf(entry) + 1);
  }

  const navigationIdOf = (entry, fields) => (fields.id === undefined && fields.block(entry) === undefined ? 0 : navigationId);

  defineInterface(realm, PerformanceEntry);
  defineInterface(realm, PerformanceMark, { lengths: { constructor: 1 }, inherits: true });
  defineInterface(realm, PerformanceMeasure, { inherits: true });

  /** Makes the object of the mark that was just recorded. */
  function nextMark(name, startTime) {
    const mark = new PerformanceMark(TOKEN, name, timeline.block, startTime);
    timeline.hold(mark);
    return mark;
  }

  /** Makes the object of the measure that was just recorded. */
  function nextMeasure(name, startTime, duration) {
    const measure = new PerformanceMeasure(TOKEN, timeline.block, name, startTime, duration);
    timeline.hold(measure);
    return measure;
  }

  /** As `nextMark` and `nextMeasure`, for any entry; `buffered` tells whether it is in its buffer. */
  function next(type, name, startTime, duration, detail, buffered) {
    const { sequence } = timeline;
    const entry = type === MARK ? nextMark(name, startTime) : nextMeasure(name, startTime, duration);
    if (detail !== null) {
      fieldsOf(entry).setDetail(entry, detail);
      if (buffered) timeline.detailed.set(sequence, { type, name, entry });
    }
    return entry;
  }

  /**
   * The objects of buffered entries: those that somebody holds, and new ones for the others.
   *
   * @param {ReturnType<Timeline['entries']>} columns
   */
  function objectsOf({ types, names, sequences, times }) {
    const list = new realm.Array(types.length);
    let block;
    let blockNumber = -1;
    for (let i = 0; i < types.length; i++) {
      const sequence = sequences[i];
      const at = sequence & (BLOCK - 1);
      const number = (sequence - at) / BLOCK;
      if (number !== blockNumber) {
        block = timeline.blockAt(number);
        blockNumber = number;
      }
      list[i] = block[at] ??= again(types[i], timeline.names[names[i]], times[2 * i], times[2 * i + 1], block);
    }
    return list;
  }

  function again(type, name, startTime, duration, block) {
    return type === MEASURE
      ? new PerformanceMeasure(TOKEN, block, name, startTime, duration)
      : new PerformanceMark(TOKEN, name, block, startTime);
  }

  // For lists of entries that may be a host's, whose classes are its own.
  const reading = {
    nameOf: (entry) => (isEntry(entry) ? fieldsOf(entry).name(entry) : entry.name),
    entryTypeOf: (entry) => (isEntry(entry) ? fieldsOf(entry).entryType : entry.entryType),
    startTimeOf: (entry) => (isEntry(entry) ? fieldsOf(entry).startTime(entry) : entry.startTime),
  };

  return { PerformanceEntry, PerformanceMark, PerformanceMeasure, describe, inherit, nextMark, nextMeasure, next, objectsOf, ...reading };
}

module.exports = { makeEntries };
