'use strict';

// PerformanceObserverEntryList: https://w3c.github.io/performance-timeline/#performanceobserverentrylist-interface

const { defineInterface } = require('./interface.cjs');

/** @returns {{ PerformanceObserverEntryList: Function, newEntryList: (entries: object[]) => object }} */
function makeEntryList({ realm, conversions, entries }) {
  const { TypeError } = realm;
  const { requireArguments, toDOMString } = conversions;
  const { nameOf, entryTypeOf, startTimeOf } = entries;
  const TOKEN = Symbol('internal');
  let isEntryList;

  class PerformanceObserverEntryList {
    /** In the order of start times; entries that start together are in the order in which they were queued. */
    #entries;

    constructor(token, list) {
      if (token !== TOKEN) throw new TypeError('Illegal constructor');
      this.#entries = list.sort((a, b) => startTimeOf(a) - startTimeOf(b));
    }

    getEntries() {
      requireEntryList(this);
      return filter(this.#entries);
    }

    getEntriesByType(type) {
      requireEntryList(this);
      const context = "Failed to execute 'getEntriesByType' on 'PerformanceObserverEntryList'";
      requireArguments(arguments.length, 1, context);
      return filter(this.#entries, undefined, toDOMString(type, context));
    }

    getEntriesByName(name, type) {
      requireEntryList(this);
      const context = "Failed to execute 'getEntriesByName' on 'PerformanceObserverEntryList'";
      requireArguments(arguments.length, 1, context);
      const wanted = toDOMString(name, context);
      return filter(this.#entries, wanted, type === undefined ? undefined : toDOMString(type, context));
    }

    static {
      isEntryList = (value) => typeof value === 'object' && value !== null && #entries in value;
    }
  }

  function requireEntryList(value) {
    if (!isEntryList(value)) throw new TypeError('Illegal invocation');
  }

  /** https://w3c.github.io/performance-timeline/#filter-buffer-by-name-and-type */
  function filter(list, name, type) {
    const filtered = new realm.Array();
    for (const entry of list) {
      if (type !== undefined && entryTypeOf(entry) !== type) continue;
      if (name !== undefined && nameOf(entry) !== name) continue;
      filtered.push(entry);
    }
    return filtered;
  }

  defineInterface(realm, PerformanceObserverEntryList, { lengths: { getEntriesByType: 1, getEntriesByName: 1 } });
  return { PerformanceObserverEntryList, newEntryList: (list) => new PerformanceObserverEntryList(TOKEN, list) };
}

module.exports = { makeEntryList };
