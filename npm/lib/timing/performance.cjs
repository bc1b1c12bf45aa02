'use strict';

// The interface Performance: High Resolution Time with what Performance Timeline and User Timing add to it.
// https://w3c.github.io/hr-time/#sec-performance
// https://w3c.github.io/performance-timeline/#extensions-to-the-performance-interface
// https://w3c.github.io/user-timing/#extensions-performance-interface

const { defineInterface } = require('./interface.cjs');
const { NAMED, OMITTED } = require('./measure.cjs');
const { FIRST_NAME, MARK, MEASURE } = require('./timeline.cjs');

/** The sets of entry types that hold one. */
const MARKS = 1 << MARK;
const MEASURES = 1 << MEASURE;

/**
 * A partial interface: gets what throws unless a value is a Performance, and gives
 * - `members`: operations and attributes, as those of an object literal,
 * - `lengths`: how many arguments operations need, if any,
 * - `json`: what `toJSON()` shows of them.
 *
 * @typedef {(requirePerformance: (value: unknown) => void) => {
 *   members: object,
 *   lengths?: Record<string, number>,
 *   json?: Record<string, () => unknown>,
 * }} Extension
 */

/** How many arguments an operation needs. */
const LENGTHS = { mark: 1, measure: 1, getEntriesByType: 1, getEntriesByName: 1 };

/**
 * @param {object} context
 * @param {number} context.timeOrigin in milliseconds since the Unix epoch
 * @param {ReturnType<typeof import('./entry.cjs').makeEntries>} context.entries
 * @param {ReturnType<typeof import('./observer.cjs').makeObservation>} context.observation
 * @param {object | undefined} context.host what the host has recorded of other entry types
 * @param {Extension[]} context.extensions what other specifications and the host add to the interface
 * @returns {{ Performance: Function, performance: object }}
 */
function makePerformance(context) {
  const { realm, conversions, timeline, entries, observation, readMark, readMeasure, views, host, extensions } =
    context;
  const { TypeError, EventTarget, Object: RealmObject } = realm;
  const { requireArguments, toDOMString } = conversions;
  const { nextMark, nextMeasure, next } = entries;
  const { timeOrigin } = context;
  const { hot, ids } = timeline;
  /** What `toJSON()` shows besides the time origin. */
  const shown = [];
  const TOKEN = Symbol('internal');
  let isPerformance;

  class Performance extends EventTarget {
    #brand;

    constructor(token) {
      if (token !== TOKEN) throw new TypeError('Illegal constructor');
      super();
    }

    now() {
      requirePerformance(this);
      return hot.now();
    }

    get timeOrigin() {
      requirePerformance(this);
      return timeOrigin;
    }

    toJSON() {
      requirePerformance(this);
      const json = new RealmObject();
      json.timeOrigin = timeOrigin;
      for (const [name, get] of shown) json[name] = get();
      return json;
    }

    getEntries() {
      requirePerformance(this);
      return list(0);
    }

    getEntriesByType(type) {
      requirePerformance(this);
      const context = "Failed to execute 'getEntriesByType' on 'Performance'";
      requireArguments(arguments.length, 1, context);
      return listOfType(toDOMString(type, context));
    }

    getEntriesByName(name, type) {
      requirePerformance(this);
      const context = "Failed to execute 'getEntriesByName' on 'Performance'";
      requireArguments(arguments.length, 1, context);
      const wanted = toDOMString(name, context);
      return type === undefined ? list(0, wanted) : listOfType(toDOMString(type, context), wanted);
    }

    mark(markName, markOptions) {
      // What nearly every call is: a mark of now, with a name that is known.
      if (markOptions === undefined && typeof markName === 'string' && isPerformance(this) && timeline.settled) {
        const id = ids.get(markName);
        if (id >= FIRST_NAME) {
          timeline.settled = false;
          const entry = nextMark(markName, hot.mark(id));
          if (observation.types & MARKS) observation.queue(MARKS, entry);
          return entry;
        }
      }
      requirePerformance(this);
      const mark = readMark(markName, markOptions, arguments.length, "Failed to execute 'mark' on 'Performance'");
      return record(MARK, mark.name, mark.startTime, 0, mark.detail);
    }

    clearMarks(markName) {
      requirePerformance(this);
      timeline.clear(MARK, optionalName(markName, 'clearMarks'));
    }

    measure(measureName, startOrMeasureOptions, endMark) {
      // What nearly every call is: between marks, the time origin and now, with a name that is known.
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
        if (id >= FIRST_NAME && start >= FIRST_NAME && end >= FIRST_NAME) {
          const startKind = startOrMeasureOptions === undefined ? OMITTED : NAMED;
          const endKind = endMark === undefined ? OMITTED : NAMED;
          if (hot.resolve(startKind, start, endKind, end, NaN) === 0) {
            const startTime = hot.result[0];
            const duration = hot.result[1];
            timeline.settled = false;
            hot.measureAt(id, startTime, duration);
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

    clearMeasures(measureName) {
      requirePerformance(this);
      timeline.clear(MEASURE, optionalName(measureName, 'clearMeasures'));
    }

    // The Working Draft of 8 May 2012: https://www.w3.org/TR/2012/WD-user-timing-20120508/

    getMarks(markName) {
      requirePerformance(this);
      return views.times(MARK, optionalName(markName, 'getMarks'));
    }

    getMeasures(measureName) {
      requirePerformance(this);
      return views.times(MEASURE, optionalName(measureName, 'getMeasures'));
    }

    static {
      isPerformance = (value) => typeof value === 'object' && value !== null && #brand in value;
    }
  }

  const illegal = () => new TypeError('Illegal invocation');
  function requirePerformance(value) {
    if (!isPerformance(value)) throw illegal();
  }

  function optionalName(name, operation) {
    return name === undefined ? undefined : toDOMString(name, `Failed to execute '${operation}' on 'Performance'`);
  }

  /** https://w3c.github.io/performance-timeline/#queue-a-performanceentry */
  function record(type, name, startTime, duration, detail) {
    const buffered = timeline.record(type, name, startTime, duration);
    const entry = next(type, name, startTime, duration, detail, buffered);
    if (observation.types & (1 << type)) observation.queue(1 << type, entry);
    return entry;
  }

  /** https://w3c.github.io/performance-timeline/#filter-buffer-map-by-name-and-type */
  function list(type, name) {
    const columns = timeline.entries(type, name);
    const own = columns === undefined ? new realm.Array() : entries.objectsOf(columns);
    if (host === undefined || type !== 0) return own;
    return merge(own, name === undefined ? host.getEntries() : host.getEntriesByName(name));
  }

  function listOfType(type, name) {
    if (type === 'mark') return list(MARK, name);
    if (type === 'measure') return list(MEASURE, name);
    if (host === undefined) return new realm.Array();
    return name === undefined ? host.getEntriesByType(type) : host.getEntriesByName(name, type);
  }

  /** Merges two lists that are in the order of start times. */
  function merge(own, others) {
    if (others.length === 0) return own;
    const merged = new realm.Array();
    let at = 0;
    for (const entry of own) {
      while (at < others.length && others[at].startTime < entries.startTimeOf(entry)) merged.push(others[at++]);
      merged.push(entry);
    }
    while (at < others.length) merged.push(others[at++]);
    return merged;
  }

  const lengths = { ...LENGTHS };
  for (const extend of extensions) {
    const extension = extend(requirePerformance);
    Object.defineProperties(Performance.prototype, Object.getOwnPropertyDescriptors(extension.members));
    Object.assign(lengths, extension.lengths);
    shown.push(...Object.entries(extension.json ?? {}));
  }
  defineInterface(realm, Performance, { lengths, inherits: true });
  return { Performance, performance: new Performance(TOKEN) };
}

module.exports = { makePerformance };
