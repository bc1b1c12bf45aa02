'use strict';

// PerformanceLongTaskTiming and TaskAttributionTiming. https://w3c.github.io/longtasks/
//
// The host reports long tasks, but does not know what they did. So the attribution only names the window as the
// container.

const { defineInterface } = require('./interface.cjs');

/** https://w3c.github.io/timing-entrytypes-registry/#registry: how many to keep for `buffered` observers. */
const BUFFER_SIZE = 200;
const TYPE = 'longtask';

/**
 * @typedef {import('./types.js').AnyEntry} AnyEntry
 * @typedef {import('./types.js').LongTask} LongTask
 */

/**
 * @param {object} context
 * @param {import('./types.js').Realm} context.realm
 * @param {import('./entry.cjs').Entries} context.entries
 * @param {(onTask: (task: LongTask) => void) => void} context.longTasks is called once, with the function to call for
 *   each long task
 */
function makeLongTasks({ realm, entries, longTasks }) {
  const { TypeError, Array: RealmArray, Object: RealmObject } = realm;
  const TOKEN = Symbol('internal');
  /** @type {import('./types.js').EntryReader<PerformanceLongTaskTiming>} */
  let tasks;
  /** @type {import('./types.js').EntryReader<TaskAttributionTiming>} */
  let attributions;

  class TaskAttributionTiming {
    #brand = true;

    /** @param {symbol} [token] */
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
        has: (value) => typeof value === 'object' && value !== null && #brand in value,
        block: () => undefined,
        name: () => 'unknown',
        startTime: () => 0,
        duration: () => 0,
      };
    }
  }

  /**
   * @template T
   * @param {unknown} value
   * @param {T} result
   */
  function read(value, result) {
    if (!attributions.has(value)) throw new TypeError('Illegal invocation');
    return result;
  }

  class PerformanceLongTaskTiming {
    #name;
    #startTime;
    #duration;
    #attribution = Object.freeze(RealmArray.of(new TaskAttributionTiming(TOKEN)));

    /**
     * @param {symbol} [token]
     * @param {LongTask} [task]
     */
    constructor(token, { name, startTime, duration } = { name: '', startTime: 0, duration: 0 }) {
      if (token !== TOKEN) throw new TypeError('Illegal constructor');
      this.#name = name;
      this.#startTime = startTime;
      this.#duration = duration;
    }

    get attribution() {
      if (!tasks.has(this)) throw new TypeError('Illegal invocation');
      return this.#attribution;
    }

    toJSON() {
      if (!tasks.has(this)) throw new TypeError('Illegal invocation');
      const json = new RealmObject();
      const fields = { name: this.#name, entryType: TYPE, startTime: this.#startTime, duration: this.#duration };
      return Object.assign(json, fields, { attribution: this.#attribution });
    }

    static {
      tasks = {
        entryType: TYPE,
        has: (value) => typeof value === 'object' && value !== null && #duration in value,
        block: () => undefined,
        name: (task) => task.#name,
        startTime: (task) => task.#startTime,
        duration: (task) => task.#duration,
      };
    }
  }

  entries.addInterface(TaskAttributionTiming, attributions);
  entries.addInterface(PerformanceLongTaskTiming, tasks);
  defineInterface(realm, TaskAttributionTiming, { inherits: true });
  defineInterface(realm, PerformanceLongTaskTiming, { inherits: true });

  /** @type {AnyEntry[]} */
  const buffer = [];
  /** @type {((entry: AnyEntry) => void) | undefined} */
  let report;
  longTasks((task) => {
    // PerformanceEntry is in its prototype chain.
    const entry = /** @type {AnyEntry} */ (/** @type {unknown} */ (new PerformanceLongTaskTiming(TOKEN, task)));
    if (buffer.length < BUFFER_SIZE) buffer.push(entry);
    report?.(entry);
  });

  return {
    interfaces: { PerformanceLongTaskTiming, TaskAttributionTiming },
    source: /** @type {import('./types.js').EntrySource} */ ({
      entryTypes: [TYPE],
      // Long tasks are only for observers, not on the timeline.
      getEntries: () => [],
      bufferedEntries: () => buffer,
      watch(_type, onEntry) {
        report = onEntry;
      },
      unwatch() {
        report = undefined;
      },
    }),
  };
}

module.exports = { makeLongTasks };
