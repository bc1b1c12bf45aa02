'use strict';

// PerformanceObserverEntryList: https://w3c.github.io/performance-timeline/#performanceobserverentrylist-interface

const { defineInterface } = require('./interface.cjs');

/** @typedef {import('./types.js').AnyEntry} AnyEntry */

/**
 * @param {object} context
 * @param {import('./types.js').Realm} context.realm
 * @param {import('./conversions.cjs').Conversions} context.conversions
 * @param {import('./entry.cjs').Entries} context.entries
 * @param {ReturnType<typeof import('./filter.cjs').makeFilter>} context.filterEntries
 */
function makeEntryList({ realm, conversions, entries, filterEntries }) {
  const { TypeError } = realm;
  const { requireArguments, toDOMString } = conversions;
  const { startTimeOf } = entries;
  const TOKEN = Symbol('internal');
  /** @type {(value: unknown) => boolean} */
  let isEntryList;

  class PerformanceObserverEntryList {
    /**
     * In the order of start times; entries with the same start time are in the order in which they were queued.
     *
     * @type {AnyEntry[]}
     */
    #entries;

    /**
     * @param {symbol} [token]
     * @param {AnyEntry[]} [list]
     */
    constructor(token, list = []) {
      if (token !== TOKEN) throw new TypeError('Illegal constructor');
      this.#entries = list.sort((a, b) => startTimeOf(a) - startTimeOf(b));
    }

    getEntries() {
      requireEntryList(this);
      return filterEntries(this.#entries);
    }

    /** @param {unknown} type */
    getEntriesByType(type) {
      requireEntryList(this);
      const context = "Failed to execute 'getEntriesByType' on 'PerformanceObserverEntryList'";
      requireArguments(arguments.length, 1, context);
      return filterEntries(this.#entries, undefined, toDOMString(type, context));
    }

    /**
     * @param {unknown} name
     * @param {unknown} [type]
     */
    getEntriesByName(name, type) {
      requireEntryList(this);
      const context = "Failed to execute 'getEntriesByName' on 'PerformanceObserverEntryList'";
      requireArguments(arguments.length, 1, context);
      const wanted = toDOMString(name, context);
      return filterEntries(this.#entries, wanted, type === undefined ? undefined : toDOMString(type, context));
    }

    static {
      isEntryList = (value) => typeof value === 'object' && value !== null && #entries in value;
    }
  }

  /** @param {unknown} value */
  function requireEntryList(value) {
    if (!isEntryList(value)) throw new TypeError('Illegal invocation');
  }

  defineInterface(realm, PerformanceObserverEntryList, { lengths: { getEntriesByType: 1, getEntriesByName: 1 } });
  return {
    PerformanceObserverEntryList,
    newEntryList: (/** @type {AnyEntry[]} */ list) => new PerformanceObserverEntryList(TOKEN, list),
  };
}

module.exports = { makeEntryList };
