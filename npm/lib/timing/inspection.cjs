'use strict';

// What `console.log` shows of the interfaces' objects, which have no properties of their own.

const { inspect } = require('node:util');

/** The attributes that are shown, by interface. */
const SHOWN = {
  PerformanceEntry: ['name', 'entryType', 'startTime', 'duration'],
  PerformanceMark: ['name', 'entryType', 'startTime', 'duration', 'detail'],
  PerformanceMeasure: ['name', 'entryType', 'startTime', 'duration', 'detail'],
  Performance: ['timeOrigin', 'nodeTiming'],
};

/** @param {Record<string, Function>} interfaces by name */
function defineInspection(interfaces) {
  for (const [name, attributes] of Object.entries(SHOWN)) {
    const { prototype } = interfaces[name];
    Object.defineProperty(prototype, inspect.custom, {
      value(depth, options) {
        // A prototype has none of the values.
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
