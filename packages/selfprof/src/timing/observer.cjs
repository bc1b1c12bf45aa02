'use strict';

// PerformanceObserver: https://w3c.github.io/performance-timeline/#the-performanceobserver-interface

const { makeEntryList } = require('./entry-list.cjs');
const { defineInterface } = require('./interface.cjs');
const { MARK, MEASURE } = require('./timeline.cjs');

/** The bits of the members of PerformanceObserverInit, for `native.observe`. */
const ENTRY_TYPES = 1;
const TYPE = 2;

/**
 * The bit that `native.observe` adds to the observer's mode when a type is supported, and what it returns for errors.
 */
const REGISTERED = 4;
const NO_TYPES = -1;
const NOT_ALONE = -2;

const DICTIONARY = 'PerformanceObserverInit';

/** The set of all entry types. */
const ALL = 2 ** 32 - 1;

/** @typedef {import('./types.js').AnyEntry} AnyEntry */

/**
 * @param {object} context
 * @param {import('./types.js').Realm} context.realm
 * @param {import('./conversions.cjs').Conversions} context.conversions
 * @param {import('./timeline.cjs').Timeline} context.timeline
 * @param {import('./entry.cjs').Entries} context.entries
 * @param {ReturnType<typeof import('./filter.cjs').makeFilter>} context.filterEntries
 * @param {import('./types.js').EntrySource | undefined} context.source of entries of further types
 * @param {(task: () => void) => void} context.queueTask
 * @param {(error: unknown) => void} context.reportException
 */
function makeObservation(context) {
  const { realm, conversions, timeline, entries, source, queueTask, reportException } = context;
  const { DOMException, TypeError, Object: RealmObject } = realm;
  const { requireArguments, toDictionary, toDOMString, toDOMStringSequence } = conversions;
  const { native } = timeline;
  const { PerformanceObserverEntryList, newEntryList } = makeEntryList(context);

  /** The bit of each supported type in a set of types. */
  const bits = new Map([
    ['mark', 1 << MARK],
    ['measure', 1 << MEASURE],
  ]);
  for (const type of source?.entryTypes ?? []) bits.set(type, 1 << (bits.size + 1));
  const supported = Object.freeze(realm.Array.from([...bits.keys()].sort()));

  /**
   * The list of registered performance observer objects, by id. It keeps them alive.
   *
   * @type {Map<number, PerformanceObserver>}
   */
  const registered = new Map();
  let lastId = 0;
  let taskQueued = false;
  /** @type {(value: unknown) => boolean} */
  let isObserver;
  /** @type {(observer: PerformanceObserver, entry: AnyEntry) => void} */
  let append;
  /** @type {(observer: PerformanceObserver) => void} */
  let notify;

  class PerformanceObserver {
    #callback;
    #id = ++lastId;
    /** The observer type: 0 until the first `observe()`, which decides it. */
    #mode = 0;
    /** The bits of the observed types. */
    #types = 0;
    /** @type {AnyEntry[]} */
    #buffer = [];

    /** @param {unknown} callback */
    constructor(callback) {
      const context = "Failed to construct 'PerformanceObserver'";
      requireArguments(arguments.length, 1, context);
      if (typeof callback !== 'function') throw new TypeError(`${context}: parameter 1 is not of type 'Function'.`);
      this.#callback = callback;
    }

    /** @param {unknown} [options] */
    observe(options) {
      requireObserver(this);
      const context = "Failed to execute 'observe' on 'PerformanceObserver'";
      const { buffered, entryTypes, type } = toInit(options, context);
      // With `entryTypes`, `buffered` is ignored: the specification rejects it, but only Gecko does.
      const members = (entryTypes === undefined ? 0 : ENTRY_TYPES) + (type === undefined ? 0 : TYPE);
      // Types that are not supported have no bit.
      const types = (entryTypes ?? (type === undefined ? [] : [type])).reduce(
        (set, name) => set | (bits.get(name) ?? 0),
        0,
      );
      const outcome = native.observe(this.#id, this.#mode, members, types);
      if (outcome < 0) throw exceptionOf(outcome, context);
      this.#mode = outcome & ~REGISTERED;
      if ((outcome & REGISTERED) === 0) return;
      this.#types = entryTypes === undefined ? this.#types | types : types;
      registered.set(this.#id, this);
      registrationsChanged();
      if (type !== undefined && buffered) {
        for (const entry of bufferedEntries(type)) this.#buffer.push(entry);
        queueObserverTask();
      }
    }

    disconnect() {
      requireObserver(this);
      native.disconnect(this.#id);
      registered.delete(this.#id);
      this.#buffer = [];
      this.#types = 0;
      registrationsChanged();
    }

    takeRecords() {
      requireObserver(this);
      const records = realm.Array.from(this.#buffer);
      this.#buffer = [];
      return records;
    }

    static get supportedEntryTypes() {
      return supported;
    }

    /** The part of the observer task for one observer. */
    #notify() {
      const records = this.#buffer;
      if (records.length === 0) return;
      this.#buffer = [];
      const options = /** @type {Record<string, unknown>} */ (new RealmObject());
      const dropped = native.takeDropped(this.#id);
      if (typeof dropped === 'number') options.droppedEntriesCount = dropped + droppedBySource(this.#types);
      try {
        Reflect.apply(this.#callback, this, [newEntryList(records), this, options]);
      } catch (error) {
        reportException(error);
      }
    }

    static {
      isObserver = (value) => typeof value === 'object' && value !== null && #buffer in value;
      append = (observer, entry) => {
        observer.#buffer.push(entry);
      };
      notify = (observer) => observer.#notify();
    }
  }

  /**
   * How many entries of these types the source dropped. Marks and measures are counted elsewhere.
   *
   * @param {number} types
   */
  function droppedBySource(types) {
    let dropped = 0;
    for (const type of source?.entryTypes ?? []) {
      if (types & bitOf(type)) dropped += source?.droppedEntries?.(type) ?? 0;
    }
    return dropped;
  }

  /** @param {string} type a supported type */
  function bitOf(type) {
    return bits.get(type) ?? 0;
  }

  /**
   * The dictionary PerformanceObserverInit.
   *
   * @param {unknown} value
   * @param {string} context
   */
  function toInit(value, context) {
    const options = toDictionary(value, DICTIONARY, context);
    const buffered = Boolean(options?.buffered);
    const list = options?.entryTypes;
    const entryTypes = list === undefined ? undefined : toDOMStringSequence(list, context, ['entryTypes', DICTIONARY]);
    const single = options?.type;
    const type = single === undefined ? undefined : toDOMString(single, context, ['type', DICTIONARY]);
    return { buffered, entryTypes, type };
  }

  /**
   * @param {number} outcome
   * @param {string} context
   */
  function exceptionOf(outcome, context) {
    switch (outcome) {
      case NO_TYPES:
        return new TypeError(`${context}: An observe() call must include either entryTypes or type arguments.`);
      case NOT_ALONE:
        return new TypeError(`${context}: An observe() call must not include both entryTypes and type arguments.`);
      default:
        return new DOMException(
          `${context}: observe({ entryTypes }) and observe({ type }) cannot be called on the same PerformanceObserver.`,
          'InvalidModificationError',
        );
    }
  }

  /** @param {unknown} value */
  function requireObserver(value) {
    if (!isObserver(value)) throw new TypeError('Illegal invocation');
  }

  const observation = {
    /** The bits of all observed types. Entries of other types need not be queued. */
    types: 0,
    queue,
    listen,
    PerformanceObserver,
    PerformanceObserverEntryList,
  };

  /**
   * These get marks and measures within the call that makes them.
   *
   * @type {Set<(entry: AnyEntry) => void>}
   */
  const sinks = new Set();
  /**
   * The observers of a type, by its bit: a cache, cleared by each registration.
   *
   * @type {Map<number, PerformanceObserver[]>}
   */
  const interested = new Map();

  function registrationsChanged() {
    interested.clear();
    observation.types = native.observed() | (sinks.size > 0 ? (1 << MARK) | (1 << MEASURE) : 0);
    for (const type of source?.entryTypes ?? []) {
      const bit = bitOf(type);
      if (observation.types & bit) source?.watch(type, (entry) => deliver(bit, entry));
      else source?.unwatch(type);
    }
  }

  /**
   * https://w3c.github.io/performance-timeline/#queue-a-performanceentry: the part for observers.
   *
   * @param {number} bit
   * @param {AnyEntry} entry
   */
  function queue(bit, entry) {
    for (const sink of sinks) sink(entry);
    deliver(bit, entry);
  }

  /**
   * @param {number} bit
   * @param {AnyEntry} entry
   */
  function deliver(bit, entry) {
    let observers = interested.get(bit);
    if (observers === undefined) {
      observers = observersOf(bit);
      interested.set(bit, observers);
    }
    for (const observer of observers) append(observer, entry);
    if (observers.length > 0) queueObserverTask();
  }

  /**
   * The observers of any of these types, in the order in which they registered.
   *
   * @param {number} types
   */
  function observersOf(types) {
    return Array.from(native.interested(types), (id) => /** @type {PerformanceObserver} */ (registered.get(id)));
  }

  /**
   * Passes each new mark and measure to `sink`, until the returned function is called.
   *
   * @param {(entry: AnyEntry) => void} sink
   */
  function listen(sink) {
    sinks.add(sink);
    registrationsChanged();
    return () => {
      sinks.delete(sink);
      registrationsChanged();
    };
  }

  /**
   * @param {string} type
   * @returns {AnyEntry[]}
   */
  function bufferedEntries(type) {
    const code = type === 'mark' ? MARK : type === 'measure' ? MEASURE : undefined;
    if (code === undefined) return source?.bufferedEntries?.(type) ?? source?.getEntries(type) ?? [];
    const columns = timeline.entries(code);
    return columns === undefined ? [] : entries.objectsOf(columns);
  }

  /** https://w3c.github.io/performance-timeline/#queue-the-performanceobserver-task */
  function queueObserverTask() {
    if (taskQueued) return;
    taskQueued = true;
    queueTask(() => {
      taskQueued = false;
      // The specification returns at the first observer without entries; the others would never get theirs.
      for (const observer of observersOf(ALL)) notify(observer);
    });
  }

  defineInterface(realm, PerformanceObserver, { lengths: { constructor: 1 }, statics: ['supportedEntryTypes'] });
  return observation;
}

module.exports = { makeObservation };
