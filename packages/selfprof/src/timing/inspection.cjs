'use strict';

// What `console.log` shows for objects of the interfaces, which have no own properties.

const { inspect } = require('node:util');

/** The attributes to show, by interface. */
const SHOWN = {
  PerformanceEntry: ['name', 'entryType', 'startTime', 'duration'],
  PerformanceMark: ['name', 'entryType', 'startTime', 'duration', 'detail'],
  PerformanceMeasure: ['name', 'entryType', 'startTime', 'duration', 'detail'],
  Performance: ['timeOrigin', 'nodeTiming'],
};

/** @param {{ [name in keyof SHOWN]: Function }} interfaces */
function defineInspection(interfaces) {
  for (const [name, attributes] of Object.entries(SHOWN)) {
    const { prototype } = interfaces[/** @type {keyof SHOWN} */ (name)];
    Object.defineProperty(prototype, inspect.custom, {
      /**
       * @this {Record<string, unknown>}
       * @param {number} depth
       * @param {import('node:util').InspectOptions} options
       */
      value(depth, options) {
        // A prototype has no values to show.
        if (depth < 0 || Object.hasOwn(this, Symbol.toStringTag)) return `${name} {}`;
        const shown = Object.fromEntries(attributes.map((attribute) => [attribute, this[attribute]]));
        return `${this.constructor.name} ${inspect(shown, { ...options, depth: options.depth ?? null })}`;
      },
      writable: true,
      enumerable: false,
      configurable: true,
    });
  }
}

module.exports = { defineInspection };
