'use strict';

// Members of Performance that other specifications and Chromium add: `eventCounts` and `interactionCount` of Event
// Timing, and `memory`. https://w3c.github.io/event-timing/#sec-extensions

const host = require('selfprof:host');
const { defineInterface } = require('selfprof/internal/timing/interface.cjs');
const native = require('selfprof:native');

const TOKEN = Symbol('internal');
const realm = { Function, Object };

class EventCounts {
  #brand = true;

  /** @param {symbol} [token] */
  constructor(token) {
    if (token !== TOKEN) throw new TypeError("Failed to construct 'EventCounts': Illegal constructor");
  }

  /** @param {unknown} value @returns {Map<string, number>} */
  static #of(value) {
    if (typeof value !== 'object' || value === null || !(#brand in value)) throw new TypeError('Illegal invocation');
    return new Map(host.eventCounts());
  }

  get size() {
    return EventCounts.#of(this).size;
  }

  /** @param {(count: number, type: string, counts: EventCounts) => void} callback @param {unknown} [thisArg] */
  forEach(callback, thisArg) {
    for (const [type, count] of EventCounts.#of(this)) Reflect.apply(callback, thisArg, [count, type, this]);
  }

  static {
    for (const name of /** @type {const} */ (['entries', 'get', 'has', 'keys', 'values'])) {
      const { [name]: value } = {
        /** @this {unknown} @param {unknown[]} parameters the type of an event, if any */
        [name](...parameters) {
          const counts = EventCounts.#of(this);
          return Reflect.apply(
            counts[name],
            counts,
            parameters.map((type) => `${type}`),
          );
        },
      };
      Object.defineProperty(EventCounts.prototype, name, { value, writable: true, configurable: true });
    }
  }
}

const lengths = { forEach: 1, get: 1, has: 1 };
defineInterface(/** @type {any} */ (realm), EventCounts, { lengths });
Object.defineProperty(EventCounts.prototype, Symbol.iterator, {
  value: /** @type {any} */ (EventCounts.prototype).entries,
  writable: true,
  configurable: true,
});
const counts = new EventCounts(TOKEN);

/** Chromium's; it has no interface object. */
class MemoryInfo {
  #sizes = native.heapSizes();

  get totalJSHeapSize() {
    return this.#sizes.total;
  }

  get usedJSHeapSize() {
    return this.#sizes.used;
  }

  get jsHeapSizeLimit() {
    return this.#sizes.limit;
  }
}
defineInterface(/** @type {any} */ (realm), MemoryInfo);
Reflect.deleteProperty(MemoryInfo.prototype, 'constructor');

/** @type {import('selfprof/internal/timing/types.js').Extension} */
const extras = (requirePerformance) => ({
  members: {
    get memory() {
      requirePerformance(this);
      return new MemoryInfo();
    },
    get eventCounts() {
      requirePerformance(this);
      return counts;
    },
    get interactionCount() {
      requirePerformance(this);
      return host.interactionCount();
    },
  },
});

module.exports = { EventCounts, extras };
