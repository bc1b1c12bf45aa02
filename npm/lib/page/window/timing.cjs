'use strict';

// `performance` of a window, with its timeline.

const host = require('selfprof:host');
const native = require('../../native.cjs');
const { addSource } = require('../../entries.cjs');
const { makeTiming } = require('../../timing/create.cjs');
const { defineGlobals } = require('../../timing/globals.cjs');

/** How many marks, and how many measures, a page may keep; no more than so many are buffered. */
const ENTRIES = 1_000_000;

/**
 * @param {{ origin: number, timeOrigin: number, isIsolated: boolean, timing: Record<string, number>, navigation: object,
 *   queueTask: (task: () => void) => void, reportException: (error: unknown) => void }} settings
 */
function installTiming({ origin, timeOrigin, isIsolated, timing, navigation, queueTask, reportException }) {
  const made = makeTiming({
    origin,
    timeOrigin,
    resolution: isIsolated ? 5 : 100,
    limits: { mark: ENTRIES, measure: ENTRIES },
    intrinsics: {},
    queueTask,
    reportException,
    page: { timing, navigation },
    longTasks: (onTask) => native.listenToLongTasks((name, startTime, duration) => onTask({ name, startTime, duration })),
  });
  const { performance, ...interfaces } = made.timing;
  defineGlobals(globalThis, performance, interfaces);
  host.setNow(() => performance.now());
  addSource({ observe: (sink) => ({ flush() {}, stop: made.observation.listen(sink) }) });
}

module.exports = { installTiming };
