'use strict';

// What `node:perf_hooks` adds to the standards, and the entries that only Node records.

const { performance, PerformanceObserver } = require('node:perf_hooks');

const { makeEventHandler } = require('./event-handler.cjs');

/** @typedef {import('node:perf_hooks').EntryType} EntryType */

const OWN_TYPES = ['mark', 'measure'];

/**
 * Node's observers by entry type.
 *
 * @type {Map<string, PerformanceObserver>}
 */
const watching = new Map();

/**
 * The entries that Node records, which are objects of Node's classes.
 *
 * @type {import('./types.js').EntrySource}
 */
const source = {
  entryTypes: PerformanceObserver.supportedEntryTypes.filter((type) => !OWN_TYPES.includes(type)),

  // Of these types, Node puts only `resource` on its timeline.
  getEntries: (type = 'resource') => performance.getEntriesByType(/** @type {EntryType} */ (type)),

  watch(type, report) {
    if (watching.has(type)) return;
    const observer = new PerformanceObserver((list) => list.getEntries().forEach(report));
    observer.observe({ type: /** @type {EntryType} */ (type) });
    watching.set(type, observer);
  },
  unwatch(type) {
    watching.get(type)?.disconnect();
    watching.delete(type);
  },
};

/** The milestones of Node's start, which its `performance.measure()` takes like marks. */
const MILESTONES = /** @type {const} */ ([
  'nodeStart',
  'v8Start',
  'environment',
  'loopStart',
  'loopExit',
  'bootstrapComplete',
]);

/**
 * The time of a milestone; undefined when it has not been reached.
 *
 * @param {string} name
 */
function milestone(name) {
  const known = MILESTONES.find((candidate) => candidate === name);
  const time = known === undefined ? -1 : performance.nodeTiming[known];
  return time >= 0 ? time : undefined;
}

/** @type {import('./types.js').Extension} */
const extension = (requirePerformance) => {
  const onBufferFull = makeEventHandler('resourcetimingbufferfull');

  return {
    members: {
      // These three ignore `this` in Node, and Node's fetch() calls them without.
      eventLoopUtilization(/** @type {Parameters<typeof performance.eventLoopUtilization>} */ ...previous) {
        return performance.eventLoopUtilization(...previous);
      },
      timerify(/** @type {Parameters<typeof performance.timerify>} */ ...rest) {
        return performance.timerify(...rest);
      },
      markResourceTiming(/** @type {Parameters<typeof performance.markResourceTiming>} */ ...rest) {
        return performance.markResourceTiming(...rest);
      },
      get nodeTiming() {
        requirePerformance(this);
        return performance.nodeTiming;
      },
      clearResourceTimings() {
        requirePerformance(this);
        performance.clearResourceTimings();
      },
      setResourceTimingBufferSize(/** @type {Parameters<typeof performance.setResourceTimingBufferSize>} */ ...rest) {
        requirePerformance(this);
        performance.setResourceTimingBufferSize(...rest);
      },
      get onresourcetimingbufferfull() {
        requirePerformance(this);
        return onBufferFull.get();
      },
      set onresourcetimingbufferfull(handler) {
        requirePerformance(this);
        onBufferFull.set(this, handler);
      },
    },
    lengths: { timerify: 1, setResourceTimingBufferSize: 1 },
    json: {
      nodeTiming: () => performance.nodeTiming,
      eventLoopUtilization: () => performance.eventLoopUtilization(),
    },
  };
};

/**
 * Node fires `resourcetimingbufferfull` at its own object, but the listeners are here.
 *
 * @param {EventTarget} target
 */
function forwardEvents(target) {
  performance.addEventListener('resourcetimingbufferfull', () => {
    target.dispatchEvent(new Event('resourcetimingbufferfull'));
  });
}

module.exports = { extension, forwardEvents, milestone, source };
