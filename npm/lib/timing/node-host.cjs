'use strict';

// What `node:perf_hooks` has and the standards have not, or what only Node can record.

const { performance, PerformanceObserver } = require('node:perf_hooks');

const OWN_TYPES = ['mark', 'measure'];

/** Node's observers by entry type. */
const watching = new Map();

/** The entries that Node records. They are of Node's classes. */
const host = {
  entryTypes: PerformanceObserver.supportedEntryTypes.filter((type) => !OWN_TYPES.includes(type)),

  /** The entries on Node's timeline, which has no other type that is available from it. */
  getEntries: () => performance.getEntriesByType('resource'),
  getEntriesByName: (name, type = 'resource') => performance.getEntriesByName(name, type),
  getEntriesByType: (type) => performance.getEntriesByType(type),

  /** Reports each new entry of a type until it is no longer watched. */
  watch(type, report) {
    if (watching.has(type)) return;
    const observer = new PerformanceObserver((list) => list.getEntries().forEach(report));
    observer.observe({ type });
    watching.set(type, observer);
  },
  unwatch(type) {
    watching.get(type)?.disconnect();
    watching.delete(type);
  },
};

/** The milestones of Node's start, which its `performance.measure()` takes for marks. */
const MILESTONES = ['nodeStart', 'v8Start', 'environment', 'loopStart', 'loopExit', 'bootstrapComplete'];

/** The time of a milestone, undefined when it has not come. */
function milestone(name) {
  if (!MILESTONES.includes(name)) return undefined;
  const time = performance.nodeTiming[name];
  return time >= 0 ? time : undefined;
}

/** @type {import('./performance.cjs').Extension} */
function extension(requirePerformance) {
  const BUFFER_FULL = 'resourcetimingbufferfull';
  /** https://html.spec.whatwg.org/multipage/webappapis.html#event-handler-idl-attributes */
  let onBufferFull = null;
  let listens = false;

  return {
    members: {
      // These three need no `this` in Node, and its own fetch() passes none.
      eventLoopUtilization(...previous) {
        return performance.eventLoopUtilization(...previous);
      },
      timerify(...rest) {
        return performance.timerify(...rest);
      },
      markResourceTiming(...rest) {
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
      setResourceTimingBufferSize(...rest) {
        requirePerformance(this);
        performance.setResourceTimingBufferSize(...rest);
      },
      get onresourcetimingbufferfull() {
        requirePerformance(this);
        return onBufferFull;
      },
      set onresourcetimingbufferfull(handler) {
        requirePerformance(this);
        onBufferFull = typeof handler === 'object' || typeof handler === 'function' ? handler : null;
        if (onBufferFull === null || listens) return;
        listens = true;
        this.addEventListener(BUFFER_FULL, (event) => {
          if (typeof onBufferFull === 'function') Reflect.apply(onBufferFull, this, [event]);
        });
      },
    },
    lengths: { timerify: 1, setResourceTimingBufferSize: 1 },
    json: {
      nodeTiming: () => performance.nodeTiming,
      eventLoopUtilization: () => performance.eventLoopUtilization(),
    },
  };
}

/** Node fires `resourcetimingbufferfull` on its own object; listeners are on ours. */
function forwardEvents(target) {
  performance.addEventListener('resourcetimingbufferfull', () => {
    target.dispatchEvent(new Event('resourcetimingbufferfull'));
  });
}

module.exports = { extension, forwardEvents, host, milestone };
