'use strict';

// The labels of the async context that is running. They go along with await, timers, promises and streams, as the
// values of any AsyncLocalStorage do.

const { AsyncLocalStorage, createHook } = require('node:async_hooks');

const native = require('../native.cjs');
const { LabelValue, NO_LABELS, NO_SPAN, NO_TRACE, PROBE, relabelled } = require('./label-value.cjs');
const { ROUTE, merged, numberOf, setOfRoute } = require('./label-sets.cjs');

/**
 * How the addon reads labels: from V8's heap; from memory that a hook of each async callback writes; or not at all.
 *
 * @typedef {'heap' | 'memory' | 'off'} Reading
 */

/** @type {AsyncLocalStorage<LabelValue | undefined>} */
const storage = new AsyncLocalStorage();
/** @type {Reading} */
let reading = 'off';
/** The numbers of the context that is running, if the addon reads them from memory. */
const memory = new Int32Array(8);
/**
 * The values of the callbacks that others have interrupted.
 *
 * @type {(LabelValue | undefined)[]}
 */
const interrupted = [];
/** @type {LabelValue | undefined} */
let written;

/**
 * Begins to label samples of this thread. A recording must have begun.
 *
 * @param {boolean} allowsHooks whether to do so even if each async callback then costs time
 * @returns {Reading}
 */
function beginLabels(allowsHooks) {
  if (reading !== 'off') return reading;
  const probe = new LabelValue(PROBE[0], PROBE[1], PROBE.slice(2, 6), PROBE.slice(6), {}, undefined);
  const expected = Int32Array.from(PROBE);
  if (storage.run(probe, () => native.readLabelsOfStorage(storage, probe, expected))) reading = 'heap';
  else if (allowsHooks && native.readLabelsOfMemory(memory)) {
    reading = 'memory';
    createHook({ before: beginCallback, after: endCallback }).enable();
  }
  return reading;
}

/** Whether samples are labelled. */
function isLabelling() {
  return reading !== 'off';
}

/** @param {LabelValue | undefined} value */
function write(value) {
  written = value;
  if (value === undefined) {
    memory.fill(0);
    return;
  }
  memory[0] = value.set;
  memory[1] = value.request;
  memory[2] = value.trace0;
  memory[3] = value.trace1;
  memory[4] = value.trace2;
  memory[5] = value.trace3;
  memory[6] = value.span0;
  memory[7] = value.span1;
}

// Whoever changes the value that is written writes it again, so these two only write another one.

function beginCallback() {
  interrupted.push(written);
  const value = storage.getStore();
  if (value !== written) write(value);
}

function endCallback() {
  const value = interrupted.pop();
  if (value !== written) write(value);
}

/**
 * Calls a function, whose samples have this value.
 *
 * @template {unknown[]} A
 * @template R
 * @param {LabelValue | undefined} value
 * @param {(...args: A) => R} fn
 * @param {A} args
 * @returns {R}
 */
function runWith(value, fn, ...args) {
  if (reading !== 'memory') return storage.run(value, fn, ...args);
  try {
    return storage.run(value, () => {
      write(value);
      return fn(...args);
    });
  } finally {
    write(storage.getStore());
  }
}

/**
 * What runs from now on in this async context has this value.
 *
 * @param {LabelValue | undefined} value
 */
function enterWith(value) {
  storage.enterWith(value);
  if (reading === 'memory') write(value);
}

/**
 * Calls a function. Samples of it, and of what it starts, have these labels beside those that they have already.
 *
 * @template {unknown[]} A
 * @template R
 * @param {Record<string, unknown>} labels
 * @param {(...args: A) => R} fn
 * @param {A} args
 * @returns {R}
 */
function withLabels(labels, fn, ...args) {
  if (reading === 'off') return fn(...args);
  const current = storage.getStore();
  const all = merged(current?.labels, labels);
  return runWith(relabelled(current, numberOf(all), all), fn, ...args);
}

/**
 * Samples of the rest of this function, and of what it starts, have these labels beside those that they have already. A
 * label with the value `undefined` is removed.
 *
 * @param {Record<string, unknown>} labels
 */
function setLabels(labels) {
  if (reading === 'off') return;
  const current = storage.getStore();
  const all = merged(current?.labels, labels);
  enterWith(relabelled(current, numberOf(all), all));
}

/**
 * A request begins in this async context.
 *
 * @param {number} request its number; 0 if it needs none
 * @returns {LabelValue} the value of its samples
 */
function beginRequest(request) {
  const value = new LabelValue(0, request, NO_TRACE, NO_SPAN, NO_LABELS, undefined);
  value.root = value;
  enterWith(value);
  return value;
}

/**
 * The request that is handled has this route, also in the functions that handle it already.
 *
 * @param {string} route
 */
function setRoute(route) {
  if (reading === 'off') return;
  const current = storage.getStore();
  if (current === undefined) return setLabels({ [ROUTE]: route });
  setRouteOf(current, route);
  if (current.root !== undefined && current.root !== current) setRouteOf(current.root, route);
  if (reading === 'memory') write(current);
}

/** @param {LabelValue} value @param {string} route */
function setRouteOf(value, route) {
  if (value.set === 0) {
    const { set, labels } = setOfRoute(route);
    value.labels = labels;
    value.set = set;
  } else if (value.labels[ROUTE] !== route) {
    value.labels = merged(value.labels, { [ROUTE]: route });
    value.set = numberOf(value.labels);
  }
}

/** The value of the async context that is running. */
function currentValue() {
  return storage.getStore();
}

module.exports = {
  beginLabels,
  beginRequest,
  currentValue,
  isLabelling,
  runWith,
  setLabels,
  setRoute,
  withLabels,
};
