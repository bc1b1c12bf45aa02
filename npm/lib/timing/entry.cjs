'use strict';

// PerformanceEntry, PerformanceMark and PerformanceMeasure.
// https://w3c.github.io/performance-timeline/#the-performanceentry-interface
// https://w3c.github.io/user-timing/#performancemark

const { defineInterface } = require('./interface.cjs');
const { BLOCK, MARK, MEASURE } = require('./timeline.cjs');

/** By how much the ids of entries grow. A number of its own keeps programs from reading them as a count. */
const ID_STEP = 7;

/** The sequence number of an entry that no timeline has. */
const NOWHERE = -1;

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
    // Nobody reads it: it keeps the objects of neighbouring entries while this one is held. See Timeline.
    #block;
    #name;
    #entryType;
    #startTime;
    #duration;
    #sequence;

    constructor(token, block, name, entryType, startTime, duration, sequence) {
      if (token !== TOKEN) throw new TypeError('Illegal constructor');
      this.#block = block;
      this.#name = name;
      this.#entryType = entryType;
      this.#startTime = startTime;
      this.#duration = duration;
      this.#sequence = sequence;
    }

    get id() {
      check(this);
      return idOf(this.#sequence);
    }

    get name() {
      check(this);
      return this.#name;
    }

    get entryType() {
      check(this);
      return this.#entryType;
    }

    get startTime() {
      check(this);
      return this.#startTime;
    }

    get duration() {
      check(this);
      return this.#duration;
    }

    get navigationId() {
      check(this);
      return navigationIdOf(this.#sequence);
    }

    /** https://webidl.spec.whatwg.org/#default-tojson-steps: the attributes of this interface, without those that inherit. */
    toJSON() {
      check(this);
      const json = new RealmObject();
      json.id = idOf(this.#sequence);
      json.name = this.#name;
      json.entryType = this.#entryType;
      json.startTime = this.#startTime;
      json.duration = this.#duration;
      json.navigationId = navigationIdOf(this.#sequence);
      return json;
    }

    static {
      access.isEntry = (value) => typeof value === 'object' && value !== null && #name in value;
      // Also of the entries of a host, which are of classes of its own.
      access.nameOf = (entry) => (#name in entry ? entry.#name : entry.name);
      access.entryTypeOf = (entry) => (#name in entry ? entry.#entryType : entry.entryType);
      access.startTimeOf = (entry) => (#name in entry ? entry.#startTime : entry.startTime);
    }
  }

  class PerformanceMark extends PerformanceEntry {
    #detail = null;

    constructor(markName, markOptions, block, startTime, sequence) {
      if (markName === TOKEN) {
        super(TOKEN, block, markOptions, 'mark', startTime, 0, sequence);
      } else {
        const mark = readMark(markName, markOptions, arguments.length, "Failed to construct 'PerformanceMark'");
        super(TOKEN, undefined, mark.name, 'mark', mark.startTime, 0, NOWHERE);
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
    #detail = null;

    constructor(token, block, name, startTime, duration, sequence) {
      super(token, block, name, 'measure', startTime, duration, sequence);
    }

    get detail() {
      if (!isMeasure(this)) throw illegal();
      return this.#detail;
    }

    static {
      access.isMeasure = (value) => typeof value === 'object' && value !== null && #detail in value;
      access.setMeasureDetail = (measure, detail) => (measure.#detail = detail);
    }
  }

  const { isEntry, isMark, isMeasure, setMarkDetail, setMeasureDetail } = access;
  const illegal = () => new TypeError('Illegal invocation');
  function check(value) {
    if (!isEntry(value)) throw illegal();
  }

  // Only the entries of a timeline have ids: https://w3c.github.io/performance-timeline/#queue-a-performanceentry
  const idOf = (sequence) => (sequence === NOWHERE ? 0 : firstId + ID_STEP * (sequence + 1));
  const navigationIdOf = (sequence) => (sequence === NOWHERE ? 0 : navigationId);

  defineInterface(realm, PerformanceEntry);
  defineInterface(realm, PerformanceMark, { lengths: { constructor: 1 }, inherits: true });
  defineInterface(realm, PerformanceMeasure, { inherits: true });

  /** Makes the object of the mark that was just recorded. */
  function nextMark(name, startTime) {
    const mark = new PerformanceMark(TOKEN, name, timeline.block, startTime, timeline.sequence);
    timeline.hold(mark);
    return mark;
  }

  /** Makes the object of the measure that was just recorded. */
  function nextMeasure(name, startTime, duration) {
    const measure = new PerformanceMeasure(TOKEN, timeline.block, name, startTime, duration, timeline.sequence);
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
    let blockNumber = NOWHERE;
    for (let i = 0; i < types.length; i++) {
      const sequence = sequences[i];
      const number = Math.floor(sequence / BLOCK);
      if (number !== blockNumber) {
        block = timeline.blockOf(number);
        blockNumber = number;
      }
      const at = sequence % BLOCK;
      list[i] = block[at] ??= again(types[i], timeline.names[names[i]], times[2 * i], times[2 * i + 1], block, sequence);
    }
    return list;
  }

  function again(type, name, startTime, duration, block, sequence) {
    return type === MEASURE
      ? new PerformanceMeasure(TOKEN, block, name, startTime, duration, sequence)
      : new PerformanceMark(TOKEN, name, block, startTime, sequence);
  }

  return { PerformanceEntry, PerformanceMark, PerformanceMeasure, nextMark, nextMeasure, next, objectsOf, ...access };
}

module.exports = { makeEntries };
