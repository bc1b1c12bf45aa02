'use strict';

// The interface Performance of High Resolution Time, with the additions of Performance Timeline and User Timing.
// https://w3c.github.io/hr-time/#sec-performance
// https://w3c.github.io/performance-timeline/#extensions-to-the-performance-interface
// https://w3c.github.io/user-timing/#extensions-performance-interface

const { defineInterface } = require('./interface.cjs');
const { NAMED, OMITTED } = require('./measure.cjs');
const { FIRST_NAME, MARK, MEASURE } = require('./timeline.cjs');

/** The sets with one entry type. */
const MARKS = 1 << MARK;
const MEASURES = 1 << MEASURE;

/** @typedef {import('./types.js').AnyEntry} AnyEntry */

/** How many arguments operations require. */
const LENGTHS = { mark: 1, measure: 1, getEntriesByType: 1, getEntriesByName: 1 };

/**
 * @param {object} context
 * @param {import('./types.js').Realm} context.realm
 * @param {import('./conversions.cjs').Conversions} context.conversions
 * @param {import('./timeline.cjs').Timeline} context.timeline
 * @param {number} context.timeOrigin in milliseconds since the Unix epoch
 * @param {import('./entry.cjs').Entries} context.entries
 * @param {ReturnType<typeof import('./filter.cjs').makeFilter>} context.filterEntries
 * @param {ReturnType<typeof import('./observer.cjs').makeObservation>} context.observation
 * @param {import('./mark.cjs').ReadMark} context.readMark
 * @param {import('./measure.cjs').ReadMeasure} context.readMeasure
 * @param {ReturnType<typeof import('./call-order.cjs').makeTimesInCallOrder>} context.timesInCallOrder
 * @param {import('./types.js').EntrySource | undefined} context.source of entries of further types
 * @param {import('./types.js').Extension[]} context.extensions of other specifications and of the host
 */
function makePerformance(context) {
  const { realm, conversions, timeline, timeOrigin, entries, filterEntries, observation, source } = context;
  const { readMark, readMeasure, timesInCallOrder } = context;
  const { TypeError, EventTarget, Object: RealmObject } = realm;
  const { requireArguments, toDOMString } = conversions;
  const { nextEntry, nextMark, nextMeasure, startTimeOf } = entries;
  const { fastCalls, ids } = timeline;
  /**
   * What `toJSON()` shows besides the time origin.
   *
   * @type {[name: string, get: () => unknown][]}
   */
  const shown = [];
  const TOKEN = Symbol('internal');
  /** @type {(value: unknown) => boolean} */
  let isPerformance;

  class Performance extends EventTarget {
    #brand = true;

    /** @param {symbol} [token] */
    constructor(token) {
      if (token !== TOKEN) throw new TypeError('Illegal constructor');
      super();
    }

    now() {
      requirePerformance(this);
      return fastCalls.now();
    }

    get timeOrigin() {
      requirePerformance(this);
      return timeOrigin;
    }

    toJSON() {
      requirePerformance(this);
      const json = /** @type {Record<string, unknown>} */ (new RealmObject());
      json.timeOrigin = timeOrigin;
      for (const [name, get] of shown) json[name] = get();
      return json;
    }

    getEntries() {
      requirePerformance(this);
      return list(undefined);
    }

    /** @param {unknown} type */
    getEntriesByType(type) {
      requirePerformance(this);
      const context = "Failed to execute 'getEntriesByType' on 'Performance'";
      requireArguments(arguments.length, 1, context);
      return list(undefined, toDOMString(type, context));
    }

    /**
     * @param {unknown} name
     * @param {unknown} [type]
     */
    getEntriesByName(name, type) {
      requirePerformance(this);
      const context = "Failed to execute 'getEntriesByName' on 'Performance'";
      requireArguments(arguments.length, 1, context);
      const wanted = toDOMString(name, context);
      return list(wanted, type === undefined ? undefined : toDOMString(type, context));
    }

    /**
     * @param {unknown} markName
     * @param {unknown} [markOptions]
     */
    mark(markName, markOptions) {
      // The fast path, for nearly all calls: a mark at the current time, with a name that is known.
      if (markOptions === undefined && typeof markName === 'string' && isPerformance(this) && timeline.settled) {
        const id = ids.get(markName);
        if (isName(id)) {
          timeline.settled = false;
          const entry = nextMark(markName, fastCalls.mark(id));
          if (observation.types & MARKS) observation.queue(MARKS, entry);
          return entry;
        }
      }
      requirePerformance(this);
      const mark = readMark(markName, markOptions, arguments.length, "Failed to execute 'mark' on 'Performance'");
      return record(MARK, mark.name, mark.startTime, 0, mark.detail);
    }

    /** @param {unknown} [markName] */
    clearMarks(markName) {
      requirePerformance(this);
      timeline.clear(MARK, optionalName(markName, 'clearMarks'));
    }

    /**
     * @param {unknown} measureName
     * @param {unknown} [startOrMeasureOptions]
     * @param {unknown} [endMark]
     */
    measure(measureName, startOrMeasureOptions, endMark) {
      // The fast path, for nearly all calls: between marks, the time origin and now, with names that are known.
      if (
        typeof measureName === 'string' &&
        (typeof startOrMeasureOptions === 'string' || startOrMeasureOptions === undefined) &&
        (typeof endMark === 'string' || endMark === undefined) &&
        isPerformance(this) &&
        timeline.settled
      ) {
        const id = ids.get(measureName);
        const start = startOrMeasureOptions === undefined ? FIRST_NAME : ids.get(startOrMeasureOptions);
        const end = endMark === undefined ? FIRST_NAME : ids.get(endMark);
        if (isName(id) && isName(start) && isName(end)) {
          const startKind = startOrMeasureOptions === undefined ? OMITTED : NAMED;
          const endKind = endMark === undefined ? OMITTED : NAMED;
          if (fastCalls.resolve(startKind, start, endKind, end, NaN) === 0) {
            const startTime = fastCalls.result[0];
            const duration = fastCalls.result[1];
            timeline.settled = false;
            fastCalls.measureAt(id, startTime, duration);
            const entry = nextMeasure(measureName, startTime, duration);
            if (observation.types & MEASURES) observation.queue(MEASURES, entry);
            return entry;
          }
        }
      }
      requirePerformance(this);
      const measure = readMeasure(measureName, startOrMeasureOptions, endMark, arguments.length);
      return record(MEASURE, measure.name, measure.startTime, measure.duration, measure.detail);
    }

    /** @param {unknown} [measureName] */
    clearMeasures(measureName) {
      requirePerformance(this);
      timeline.clear(MEASURE, optionalName(measureName, 'clearMeasures'));
    }

    // The Working Draft of 8 May 2012: https://www.w3.org/TR/2012/WD-user-timing-20120508/

    /** @param {unknown} [markName] */
    getMarks(markName) {
      requirePerformance(this);
      return timesInCallOrder(MARK, optionalName(markName, 'getMarks'));
    }

    /** @param {unknown} [measureName] */
    getMeasures(measureName) {
      requirePerformance(this);
      return timesInCallOrder(MEASURE, optionalName(measureName, 'getMeasures'));
    }

    static {
      isPerformance = (value) => typeof value === 'object' && value !== null && #brand in value;
    }
  }

  /** @param {unknown} value */
  function requirePerformance(value) {
    if (!isPerformance(value)) throw new TypeError('Illegal invocation');
  }

  /**
   * @param {unknown} name
   * @param {string} operation
   */
  function optionalName(name, operation) {
    return name === undefined ? undefined : toDOMString(name, `Failed to execute '${operation}' on 'Performance'`);
  }

  /**
   * https://w3c.github.io/performance-timeline/#queue-a-performanceentry
   *
   * @param {1 | 2} type
   * @param {string} name
   * @param {number} startTime
   * @param {number} duration
   * @param {unknown} detail
   */
  function record(type, name, startTime, duration, detail) {
    const buffered = timeline.record(type, name, startTime, duration);
    const entry = nextEntry(type, name, startTime, duration, detail, buffered);
    if (observation.types & (1 << type)) observation.queue(1 << type, entry);
    return entry;
  }

  /**
   * https://w3c.github.io/performance-timeline/#filter-buffer-map-by-name-and-type
   *
   * @param {string | undefined} name all names when it is undefined
   * @param {string} [type] all types when it is absent
   * @returns {AnyEntry[]}
   */
  function list(name, type) {
    if (type === 'mark') return marksAndMeasures(MARK, name);
    if (type === 'measure') return marksAndMeasures(MEASURE, name);
    const others = source === undefined ? new realm.Array() : filterEntries(source.getEntries(type), name);
    return type === undefined ? merge(marksAndMeasures(0, name), others) : others;
  }

  /**
   * @param {0 | 1 | 2} type 0 for both
   * @param {string} [name]
   * @returns {AnyEntry[]}
   */
  function marksAndMeasures(type, name) {
    const columns = timeline.entries(type, name);
    return columns === undefined ? new realm.Array() : entries.objectsOf(columns);
  }

  /**
   * Merges two lists in the order of start times.
   *
   * @param {AnyEntry[]} own
   * @param {AnyEntry[]} others
   */
  function merge(own, others) {
    if (others.length === 0) return own;
    const merged = new realm.Array();
    let at = 0;
    for (const entry of own) {
      while (at < others.length && startTimeOf(others[at]) < startTimeOf(entry)) merged.push(others[at++]);
      merged.push(entry);
    }
    while (at < others.length) merged.push(others[at++]);
    return merged;
  }

  /** @type {Record<string, number>} */
  const lengths = { ...LENGTHS };
  for (const extend of context.extensions) {
    const extension = extend(requirePerformance);
    Object.defineProperties(Performance.prototype, Object.getOwnPropertyDescriptors(extension.members));
    Object.assign(lengths, extension.lengths);
    shown.push(...Object.entries(extension.json ?? {}));
  }
  defineInterface(realm, Performance, { lengths, inherits: true });
  return { Performance, performance: new Performance(TOKEN) };
}

/**
 * Whether an id is known, and not that of an attribute of PerformanceTiming.
 *
 * @param {number | undefined} id
 * @returns {id is number}
 */
function isName(id) {
  return id !== undefined && id >= FIRST_NAME;
}

module.exports = { makePerformance };
