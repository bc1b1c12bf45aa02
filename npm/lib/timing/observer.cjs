'use strict';

// PerformanceObserver: https://w3c.github.io/performance-timeline/#the-performanceobserver-interface

const { makeEntryList } = require('./entry-list.cjs');
const { defineInterface } = require('./interface.cjs');
const { MARK, MEASURE } = require('./timeline.cjs');

/** What `native.observe` is told of the members that are there. */
const ENTRY_TYPES = 1;
const TYPE = 2;

/** What it adds to the observer's mode when a supported type was asked for, and what it gives instead of a mode. */
const REGISTERED = 4;
const NO_TYPES = -1;
const NOT_ALONE = -2;
const MIXED = -3;

const DICTIONARY = 'PerformanceObserverInit';

/** The set of all entry types. */
const ALL = 2 ** 32 - 1;

/**
 * @param {object} context
 * @param {(task: () => void) => void} context.queueTask
 * @param {(error: unknown) => void} context.reportException
 * @param {object | undefined} context.host what the host records of other entry types
 */
function makeObservation(context) {
  const { realm, conversions, timeline, entries, host, queueTask, reportException } = context;
  const { DOMException, TypeError, Object: RealmObject } = realm;
  const { requireArguments, toDictionary, toDOMString, toDOMStringSequence } = conversions;
  const { native } = timeline;
  const { PerformanceObserverEntryList, newEntryList } = makeEntryList(context);

  /** The bit that stands for each supported type in a set of types. */
  const bits = new Map([
    ['mark', 1 << MARK],
    ['measure', 1 << MEASURE],
  ]);
  for (const type of host?.entryTypes ?? []) bits.set(type, 1 << (bits.size + 1));
  const supported = Object.freeze(realm.Array.from([...bits.keys()].sort()));

  /** The list of registered performance observer objects, by id: whoever is in it is not collected. */
  const registered = new Map();
  let lastId = 0;
  let taskQueued = false;
  const access = {};

  class PerformanceObserver {
    #callback;
    #id = ++lastId;
    /** The observer type: 0 until the first `observe()`, which settles it for good. */
    #mode = 0;
    /** The bits of the types that it observes. */
    #types = 0;
    #buffer = [];

    constructor(callback) {
      const context = "Failed to construct 'PerformanceObserver'";
      requireArguments(arguments.length, 1, context);
      if (typeof callback !== 'function') throw new TypeError(`${context}: parameter 1 is not of type 'Function'.`);
      this.#callback = callback;
    }

    observe(options) {
      requireObserver(this);
      const context = "Failed to execute 'observe' on 'PerformanceObserver'";
      const { buffered, entryTypes, type } = toInit(options, context);
      // That `buffered` does not go with `entryTypes` is what the text says and no engine does but Gecko: it is ignored.
      const members = (entryTypes === undefined ? 0 : ENTRY_TYPES) + (type === undefined ? 0 : TYPE);
      // Types that are not supported have no bit.
      const types = (entryTypes ?? [type]).reduce((set, name) => set | (bits.get(name) ?? 0), 0);
      const outcome = native.observe(this.#id, this.#mode, members, types);
      if (outcome < 0) throw refusal(outcome, context);
      this.#mode = outcome & ~REGISTERED;
      if ((outcome & REGISTERED) === 0) return;
      this.#types = entryTypes === undefined ? this.#types | types : types;
      registered.set(this.#id, this);
      registrationsChanged();
      if (members === TYPE && buffered) {
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

    /** What the observer task does for one observer. */
    #notify() {
      const records = this.#buffer;
      if (records.length === 0) return;
      this.#buffer = [];
      const options = new RealmObject();
      const dropped = native.takeDropped(this.#id);
      if (typeof dropped === 'number') options.droppedEntriesCount = dropped + droppedByHost(this.#types);
      try {
        Reflect.apply(this.#callback, this, [newEntryList(records), this, options]);
      } catch (error) {
        reportException(error);
      }
    }

    static {
      access.isObserver = (value) => typeof value === 'object' && value !== null && #buffer in value;
      access.append = (observer, entry) => observer.#buffer.push(entry);
      access.notify = (observer) => observer.#notify();
    }
  }

  /** What does not come from User Timing is dropped elsewhere. */
  function droppedByHost(types) {
    let dropped = 0;
    for (const type of host?.entryTypes ?? []) if (types & bits.get(type)) dropped += host.droppedEntries?.(type) ?? 0;
    return dropped;
  }

  function toInit(value, context) {
    const options = toDictionary(value, DICTIONARY, context);
    const buffered = Boolean(options?.buffered);
    let entryTypes = options?.entryTypes;
    if (entryTypes !== undefined) entryTypes = toDOMStringSequence(entryTypes, context, ['entryTypes', DICTIONARY]);
    let type = options?.type;
    if (type !== undefined) type = toDOMString(type, context, ['type', DICTIONARY]);
    return { buffered, entryTypes, type };
  }

  function refusal(outcome, context) {
    switch (outcome) {
      case NO_TYPES:
        return new TypeError(`${context}: An observe() call must include either entryTypes or type arguments.`);
      case NOT_ALONE:
        return new TypeError(`${context}: An observe() call must not include both entryTypes and type arguments.`);
      case MIXED:
        return new DOMException(
          `${context}: observe({ entryTypes }) and observe({ type }) cannot be called on the same PerformanceObserver.`,
          'InvalidModificationError',
        );
    }
  }

  function requireObserver(value) {
    if (!access.isObserver(value)) throw new TypeError('Illegal invocation');
  }

  const observation = {
    /** The bits of all types that somebody wants to hear of. While a type's is not set, its entries cost nothing more. */
    types: 0,
    queue,
    listen,
    PerformanceObserver,
    PerformanceObserverEntryList,
  };

  /** Who is told of marks and measures within the call that makes them. */
  const sinks = new Set();
  /** The observers of a type, by its bit, as far as they were asked for since the last registration. */
  const interested = new Map();

  function registrationsChanged() {
    interested.clear();
    observation.types = native.observed() | (sinks.size > 0 ? (1 << MARK) | (1 << MEASURE) : 0);
    for (const type of host?.entryTypes ?? []) {
      const bit = bits.get(type);
      if (observation.types & bit) host.watch(type, (entry) => deliver(bit, entry));
      else host.unwatch(type);
    }
  }

  /** https://w3c.github.io/performance-timeline/#queue-a-performanceentry, as far as observers go. */
  function queue(bit, entry) {
    for (const sink of sinks) sink(entry);
    deliver(bit, entry);
  }

  function deliver(bit, entry) {
    let observers = interested.get(bit);
    if (observers === undefined) interested.set(bit, (observers = observersOf(bit)));
    for (const observer of observers) access.append(observer, entry);
    if (observers.length > 0) queueObserverTask();
  }

  /** The observers of any of these types, in the order in which they registered. */
  function observersOf(types) {
    return Array.from(native.interested(types), (id) => registered.get(id));
  }

  /** Has each new mark and measure handed to `sink`, until the function that it gives is called. */
  function listen(sink) {
    sinks.add(sink);
    registrationsChanged();
    return () => {
      sinks.delete(sink);
      registrationsChanged();
    };
  }

  function bufferedEntries(type) {
    if (type === 'mark') return entries.objectsOf(timeline.entries(MARK));
    if (type === 'measure') return entries.objectsOf(timeline.entries(MEASURE));
    return (host.bufferedEntries ?? host.getEntriesByType)(type);
  }

  /** https://w3c.github.io/performance-timeline/#queue-the-performanceobserver-task */
  function queueObserverTask() {
    if (taskQueued) return;
    taskQueued = true;
    queueTask(() => {
      taskQueued = false;
      // The text returns at the first observer that has nothing, which would keep from the others what is theirs.
      for (const observer of observersOf(ALL)) access.notify(observer);
    });
  }

  defineInterface(realm, PerformanceObserver, { lengths: { constructor: 1 }, statics: ['supportedEntryTypes'] });
  return observation;
}

module.exports = { makeObservation };
