'use strict';

// Several recorders of entries, each of its own types, as one: what observers and `getEntries` take for the host.

/**
 * @param {object} entries of entry.cjs
 * @param {object[]} hosts
 */
function combineHosts(entries, hosts) {
  const byType = new Map(hosts.flatMap((host) => host.entryTypes.map((type) => [type, host])));
  const merge = (lists) => lists.flat().sort((a, b) => entries.startTimeOf(a) - entries.startTimeOf(b));
  return {
    entryTypes: [...byType.keys()],
    getEntries: () => merge(hosts.map((host) => host.getEntries())),
    getEntriesByName(name, type) {
      if (type === undefined) return merge(hosts.map((host) => [...host.getEntriesByName(name)]));
      return byType.get(type)?.getEntriesByName(name, type) ?? [];
    },
    getEntriesByType: (type) => byType.get(type)?.getEntriesByType(type) ?? [],
    bufferedEntries(type) {
      const host = byType.get(type);
      return (host.bufferedEntries ?? host.getEntriesByType)(type);
    },
    droppedEntries: (type) => byType.get(type)?.droppedEntries?.(type) ?? 0,
    watch: (type, report) => byType.get(type).watch(type, report),
    unwatch: (type) => byType.get(type).unwatch(type),
  };
}

module.exports = { combineHosts };
