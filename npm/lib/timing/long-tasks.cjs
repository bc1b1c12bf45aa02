'use strict';

// PerformanceLongTaskTiming and TaskAttributionTiming. https://w3c.github.io/longtasks/
//
// A host tells of long tasks; what they were doing it does not know, so the attribution names the window as the culprit's
// container and no more.

const { defineInterface } = require('./interface.cjs');

/** https://w3c.github.io/timing-entrytypes-registry/#registry: how many are kept for `buffered` observers. */
const BUFFER_SIZE = 200;
const TYPE = 'longtask';

/**
 * @param {object} context with `entries`
 * @param {(onTask: (task: { name: string, startTime: number, duration: number }) => void) => void} context.longTasks is
 *   called once with what is to be told of each long task, in milliseconds since the time origin
 */
function makeLongTasks({ realm, entries, longTasks }) {
  const { TypeError, Array: RealmArray, Object: RealmObject } = realm;
  const TOKEN = Symbol('internal');
  let tasks;
  let attributions;

  class TaskAttributionTiming {
    #brand;

    constructor(token) {
      if (token !== TOKEN) throw new TypeError('Illegal constructor');
    }

    get containerType() {
      return read(this, 'window');
    }
    get containerSrc() {
      return read(this, '');
    }
    get containerId() {
      return read(this, '');
    }
    get containerName() {
      return read(this, '');
    }
    toJSON() {
      const json = read(this, new RealmObject());
      Object.assign(json, { name: 'unknown', entryType: 'taskattribution', startTime: 0, duration: 0 });
      return Object.assign(json, { containerType: 'window', containerSrc: '', containerId: '', containerName: '' });
    }

    static {
      attributions = {
        entryType: 'taskattribution',
        have: (value) => typeof value === 'object' && value !== null && #brand in value,
        block: () => undefined,
        name: () => 'unknown',
        startTime: () => 0,
        duration: () => 0,
      };
    }
  }

  function read(value, result) {
    if (!attributions.have(value)) throw new TypeError('Illegal invocation');
    return result;
  }

  class PerformanceLongTaskTiming {
    #name;
    #startTime;
    #duration;
    #attribution = Object.freeze(RealmArray.of(new TaskAttributionTiming(TOKEN)));

    constructor(token, { name, startTime, duration } = {}) {
      if (token !== TOKEN) throw new TypeError('Illegal constructor');
      this.#name = name;
      this.#startTime = startTime;
      this.#duration = duration;
    }

    get attribution() {
      if (!tasks.have(this)) throw new TypeError('Illegal invocation');
      return this.#attribution;
    }

    toJSON() {
      if (!tasks.have(this)) throw new TypeError('Illegal invocation');
      const json = new RealmObject();
      const fields = { name: this.#name, entryType: TYPE, startTime: this.#startTime, duration: this.#duration };
      return Object.assign(json, fields, { attribution: this.#attribution });
    }

    static {
      tasks = {
        entryType: TYPE,
        have: (value) => typeof value === 'object' && value !== null && #duration in value,
        block: () => undefined,
        name: (task) => task.#name,
        startTime: (task) => task.#startTime,
        duration: (task) => task.#duration,
      };
    }
  }

  entries.inherit(TaskAttributionTiming, attributions);
  entries.inherit(PerformanceLongTaskTiming, tasks);
  for (const Interface of [TaskAttributionTiming, PerformanceLongTaskTiming]) defineInterface(realm, Interface, { inherits: true });

  const buffer = [];
  let report;
  longTasks((task) => {
    const entry = new PerformanceLongTaskTiming(TOKEN, task);
    if (buffer.length < BUFFER_SIZE) buffer.push(entry);
    report?.(entry);
  });

  return {
    interfaces: { PerformanceLongTaskTiming, TaskAttributionTiming },
    /** As a host of further entry types: see observer.cjs. Long tasks are for observers, not on the timeline. */
    host: {
      entryTypes: [TYPE],
      getEntries: () => [],
      getEntriesByName: () => new RealmArray(),
      getEntriesByType: () => new RealmArray(),
      bufferedEntries: () => buffer,
      watch: (_, onEntry) => {
        report = onEntry;
      },
      unwatch: () => {
        report = undefined;
      },
    },
  };
}

module.exports = { makeLongTasks };
