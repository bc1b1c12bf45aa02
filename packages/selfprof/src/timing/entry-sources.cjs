'use strict';

/** @typedef {import('./types.js').EntrySource} EntrySource */

/**
 * Several sources of entries as one. Each has its own entry types.
 *
 * @param {EntrySource[]} sources
 * @param {(entry: import('./types.js').AnyEntry) => number} startTimeOf
 * @returns {EntrySource}
 */
function combineSources(sources, startTimeOf) {
  const byType = new Map(sources.flatMap((source) => source.entryTypes.map((type) => [type, source])));
  return {
    entryTypes: [...byType.keys()],
    getEntries(type) {
      if (type !== undefined) return byType.get(type)?.getEntries(type) ?? [];
      return sources.flatMap((source) => source.getEntries()).sort((a, b) => startTimeOf(a) - startTimeOf(b));
    },
    bufferedEntries(type) {
      const source = byType.get(type);
      return source?.bufferedEntries?.(type) ?? source?.getEntries(type) ?? [];
    },
    droppedEntries: (type) => byType.get(type)?.droppedEntries?.(type) ?? 0,
    watch: (type, report) => byType.get(type)?.watch(type, report),
    unwatch: (type) => byType.get(type)?.unwatch(type),
  };
}

module.exports = { combineSources };
