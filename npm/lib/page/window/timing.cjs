'use strict';

// `performance` of a window, with its timeline.

const host = require('selfprof:host');
const { fireEvent } = require('../../events.cjs');
const native = require('../../native.cjs');
const { addSource } = require('../../entries.cjs');
const { makeTiming } = require('../../timing/create.cjs');
const { defineGlobals } = require('../../timing/globals.cjs');

/** How many marks, and how many measures, a page may keep; no more than so many are buffered. */
const ENTRIES = 1_000_000;

/**
 * @param {{ origin: number, timeOrigin: number, isIsolated: boolean, timing?: Record<string, number>, navigation?: object,
 *   queueTask: (task: () => void) => void, reportException: (error: unknown) => void }} settings
 */
function installTiming({ origin, timeOrigin, isIsolated, timing, navigation, loading, queueTask, reportException }) {
  const resolution = isIsolated ? 5 : 100;
  const made = makeTiming({
    origin,
    timeOrigin,
    resolution,
    limits: { mark: ENTRIES, measure: ENTRIES },
    intrinsics: {},
    queueTask,
    reportException,
    // A worker has no document whose loading could be timed.
    page: timing && { timing, navigation },
    resources: native.listenToResources,
    loading: timing && loadingOf(loading, timing, timeOrigin, resolution),
    fireEvent,
    longTasks: timing && ((onTask) => native.listenToLongTasks((name, startTime, duration) => onTask({ name, startTime, duration }))),
  });
  const { performance, ...interfaces } = made.timing;
  // https://webidl.spec.whatwg.org/#Global: what a window has itself, the global object of a worker has from its prototypes.
  const holder = timing === undefined ? globalThis.WorkerGlobalScope.prototype : globalThis;
  defineGlobals(globalThis, performance, interfaces, holder);
  for (const Interface of Object.values(interfaces)) host.platform.refuse(Interface);
  host.setNow(() => performance.now());
  addSource({ observe: (sink) => ({ flush() {}, stop: made.observation.listen(sink) }) });
}

/** What a window's entry of its navigation reads: `timing` has times since the Unix epoch, entries have the window's own. */
function loadingOf(loading, timing, timeOrigin, resolution) {
  const perMs = 1e3 / resolution;
  const toOwn = (time) => Math.max(0, Math.floor((time - timeOrigin) * perMs) / perMs);
  return {
    name: loading.name,
    fetched: loading.fetched,
    milestones: (name) => (timing[name] > 0 ? toOwn(timing[name]) : 0),
    onLoaded: loading.onLoaded,
  };
}

module.exports = { installTiming };
