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
  const access = {};

  class PerformanceEntry {
    /** The objects of the entry and its neighbours, which live as long as one of them. See Timeline. */
    #block;
    #name;
    #startTime;

    constructor(token, block, name, startTime) {
      if (token !== TOKEN) throw new TypeError('Illegal constructor');
      this.#block = block;
      this.#name = name;
      this.#startTime = startTime;
    }

    get id() {
      check(this);
      return idOf(this);
    }

    get name() {
      check(this);
      return this.#name;
    }

    get entryType() {
      check(this);
      return entryTypeOf(this);
    }

    get startTime() {
      check(this);
      return this.#startTime;
    }

    get duration() {
      check(this);
      return durationOf(this);
    }

    get navigationId() {
      check(this);
      return navigationIdOf(this);
    }

    /** https://webidl.spec.whatwg.org/#default-tojson-steps: the attributes of this interface, without those that inherit. */
    toJSON() {
      check(this);
      const json = new RealmObject();
      json.id = idOf(this);
      json.name = this.#name;
      json.entryType = entryTypeOf(this);
      json.startTime = this.#startTime;
      json.duration = durationOf(this);
      json.navigationId = navigationIdOf(this);
      return json;
    }

    static {
      access.isEntry = (value) => typeof value === 'object' && value !== null && #name in value;
      access.blockOf = (entry) => entry.#block;
      access.nameOf = (entry) => entry.#name;
      access.startTimeOf = (entry) => entry.#startTime;
    }
  }

  class PerformanceMark extends PerformanceEntry {
    #detail = null;

    constructor(markName, markOptions, block, startTime) {
      if (markName === TOKEN) {
        super(TOKEN, block, markOptions, startTime);
      } else {
        const mark = readMark(markName, markOptions, arguments.length, "Failed to construct 'PerformanceMark'");
        super(TOKEN, undefined, mark.name, mark.startTime);
        this.#detail = mark.detail;
      }
    }

    get detail() {
      if (!isMark(this)) throw illegal();
      return this.#detail;
    }

    static {
      access.isMark = (value) => typeof value === 'object' && value !== null && #detail in value;
      access.setMarkDetail = (mark, detail) => (mark.#detail = detail);
    }
  }

  class PerformanceMeasure extends PerformanceEntry {
    #duration;
    #detail = null;

    constructor(token, block, name, startTime, duration) {
      super(token, block, name, startTime);
      this.#duration = duration;
    }

    get detail() {
      if (!isMeasure(this)) throw illegal();
      return this.#detail;
    }

    static {
      access.isMeasure = (value) => typeof value === 'object' && value !== null && #detail in value;
      access.durationOf = (entry) => (#duration in entry ? entry.#duration : 0);
      access.setMeasureDetail = (measure, detail) => (measure.#detail = detail);
    }
  }

  const { blockOf, durationOf, isEntry, isMark, isMeasure, setMarkDetail, setMeasureDetail } = access;
  const illegal = () => new TypeError('Illegal invocation');
  function check(value) {
    if (!isEntry(value)) throw illegal();
  }

  const entryTypeOf = (entry) => (isMeasure(entry) ? 'measure' : 'mark');

  /** Only the entries of a timeline have ids: https://w3c.github.io/performance-timeline/#queue-a-performanceentry */
  function idOf(entry) {
    const block = blockOf(entry);
    return block === undefined ? 0 : firstId + ID_STEP * (block[BLOCK] * BLOCK + block.indexOf(entry) + 1);
  }

  const navigationIdOf = (entry) => (blockOf(entry) === undefined ? 0 : navigationId);

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
      if (type === MARK) setMarkDetail(entry, detail);
      else setMeasureDetail(entry, detail);
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
      const number = Math.floor(sequence / BLOCK);
      if (number !== blockNumber) {
        block = timeline.blockAt(number);
        blockNumber = number;
      }
      list[i] = block[sequence % BLOCK] ??= again(types[i], timeline.names[names[i]], times[2 * i], times[2 * i + 1], block);
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
    nameOf: (entry) => (isEntry(entry) ? access.nameOf(entry) : entry.name),
    entryTypeOf: (entry) => (isEntry(entry) ? entryTypeOf(entry) : entry.entryType),
    startTimeOf: (entry) => (isEntry(entry) ? access.startTimeOf(entry) : entry.startTime),
  };

  return { PerformanceEntry, PerformanceMark, PerformanceMeasure, nextMark, nextMeasure, next, objectsOf, ...reading };
}

module.exports = { makeEntries };
