'use strict';

// `performance` of a window, with its timeline.

const host = require('selfprof:host');
const { fireEvent } = require('selfprof/internal/events.cjs');
const { addSource } = require('selfprof/internal/entries.cjs');
const { makeTiming } = require('selfprof/internal/timing/create.cjs');
const { defineGlobals } = require('selfprof/internal/timing/globals.cjs');
const { clockResolution } = require('../fetch/clock-resolution.cjs');
const native = require('selfprof:native');
const { EventCounts, extras } = require('./performance-extras.cjs');
const { defineInterfaceObject } = require('./webidl-members.cjs');

const { apply } = Reflect;

/** How many marks, and how many measures, the buffer of a page may hold. */
const ENTRIES = 1_000_000;

/** @param {import('./contracts.js').WindowSettings} settings */
function installTiming({ origin, timeOrigin, isIsolated, timing, navigation, loading, queueTask, reportException }) {
  const resolution = clockResolution(isIsolated);
  const made = makeTiming({
    origin,
    timeOrigin,
    resolution,
    limits: { mark: ENTRIES, measure: ENTRIES },
    intrinsics: {},
    queueTask,
    reportException,
    // A worker has no document, and so no times of its loading.
    page: timing && navigation && { timing, navigation },
    extensions: timing && [extras],
    resources: native.listenToResources,
    loading: timing && loadingOf(loading, timing, timeOrigin, resolution),
    fireEvent,
    longTasks:
      timing &&
      ((/** @type {(task: { name: string, startTime: number, duration: number }) => void} */ onTask) =>
        native.listenToLongTasks(
          (/** @type {string} */ name, /** @type {number} */ startTime, /** @type {number} */ duration) =>
            onTask({ name, startTime, duration }),
        )),
  });
  const { performance, ...interfaces } = made.timing;
  // https://webidl.spec.whatwg.org/#Global: members are on a window itself, but on the prototypes of a worker's global
  // object.
  const { WorkerGlobalScope } = /** @type {{ WorkerGlobalScope?: { prototype: object } }} */ (globalThis);
  const holder = timing === undefined && WorkerGlobalScope !== undefined ? WorkerGlobalScope.prototype : globalThis;
  defineGlobals(globalThis, performance, interfaces, holder);
  if (timing !== undefined) defineInterfaceObject('EventCounts', EventCounts);
  for (const Interface of [...Object.values(interfaces), EventCounts]) host.platform.refuse(Interface);
  const { now } = performance;
  host.setNow(() => apply(now, performance, []));
  addSource({ observe: (sink) => ({ flush() {}, stop: made.observation.listen(sink) }) });
}

/**
 * What the entry of a window's navigation reads: `timing` has times since the Unix epoch, entries have times of the
 * window's own clock.
 *
 * @param {any} loading see page/apis/document-loading.cjs
 * @param {Record<string, number>} timing
 * @param {number} timeOrigin
 * @param {number} resolution in microseconds
 */
function loadingOf(loading, timing, timeOrigin, resolution) {
  const perMs = 1e3 / resolution;
  const toOwn = (/** @type {number} */ time) => Math.max(0, Math.floor((time - timeOrigin) * perMs) / perMs);
  return {
    name: loading.name,
    fetched: loading.fetched,
    milestones: (/** @type {string} */ name) => (timing[name] > 0 ? toOwn(timing[name]) : 0),
    onLoaded: loading.onLoaded,
  };
}

module.exports = { installTiming };
