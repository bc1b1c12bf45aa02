'use strict';

// Timers of a worker. https://html.spec.whatwg.org/multipage/timers-and-user-prompts.html#timers

const host = require('selfprof:host');
const { defineOperations, requireArguments } = require('./webidl-members.cjs');

/** The host's timers, by the numbers that scripts get. @type {Map<number, number>} */
const timers = new Map();
let next = 1;

/** Converts to `long`. @param {unknown} value */
function toLong(value) {
  return Number(value) | 0;
}

/**
 * @param {any} handler of the page
 * @param {unknown} delay
 * @param {unknown[]} parameters
 * @param {boolean} repeats
 */
function start(handler, delay, parameters, repeats) {
  /** @type {((...parameters: never[]) => unknown) | string} */
  const work = typeof handler === 'function' ? handler : `${handler}`;
  const id = next++;
  const run = () => {
    if (!timers.has(id)) return;
    if (!repeats) timers.delete(id);
    try {
      if (typeof work === 'function') host.apply(work, globalThis, parameters);
      else host.runText(work);
    } catch (error) {
      host.reportException(error);
    }
  };
  timers.set(id, host.setTimer(run, Math.max(toLong(delay), 0), repeats));
  return id;
}

/** @param {unknown} handle */
function clear(handle) {
  const id = toLong(handle);
  const timer = timers.get(id);
  if (timer === undefined) return;
  host.clearTimer(timer);
  timers.delete(id);
}

function installTimers() {
  defineOperations({
    /** @param {any} handler @param {unknown} [timeout] @param {...unknown} parameters */
    setTimeout(handler, timeout = 0, ...parameters) {
      requireArguments(arguments.length, "Failed to execute 'setTimeout' on 'WorkerGlobalScope'");
      return start(handler, timeout, parameters, false);
    },
    /** @param {any} handler @param {unknown} [timeout] @param {...unknown} parameters */
    setInterval(handler, timeout = 0, ...parameters) {
      requireArguments(arguments.length, "Failed to execute 'setInterval' on 'WorkerGlobalScope'");
      return start(handler, timeout, parameters, true);
    },
    /** @param {unknown} [id] */
    clearTimeout(id = 0) {
      clear(id);
    },
    /** @param {unknown} [id] */
    clearInterval(id = 0) {
      clear(id);
    },
  });
}

module.exports = { installTimers };
