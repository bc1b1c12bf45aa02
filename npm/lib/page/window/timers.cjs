'use strict';

// Timers of a worker. https://html.spec.whatwg.org/multipage/timers-and-user-prompts.html#timers

const host = require('selfprof:host');
const { defineOperation } = require('./definitions.cjs');

/** By what scripts know them by: what the host does. */
const timers = new Map();
let next = 1;

/** `long` */
function toLong(value) {
  return Number(value) | 0;
}

function start(handler, delay, parameters, repeats) {
  const work = typeof handler === 'function' ? handler : `${handler}`;
  const id = next++;
  const run = () => {
    if (!timers.has(id)) return;
    if (!repeats) timers.delete(id);
    try {
      if (typeof work === 'function') Reflect.apply(work, globalThis, parameters);
      else host.runText(work);
    } catch (error) {
      host.reportException(error);
    }
  };
  timers.set(id, host.setTimer(run, Math.max(toLong(delay), 0), repeats));
  return id;
}

function clear(handle) {
  const id = toLong(handle);
  if (!timers.has(id)) return;
  host.clearTimer(timers.get(id));
  timers.delete(id);
}

function installTimers() {
  const operations = {
    setTimeout(handler, timeout = 0, ...parameters) {
      requireHandler('setTimeout', arguments.length);
      return start(handler, timeout, parameters, false);
    },
    setInterval(handler, timeout = 0, ...parameters) {
      requireHandler('setInterval', arguments.length);
      return start(handler, timeout, parameters, true);
    },
    clearTimeout(id = 0) {
      clear(id);
    },
    clearInterval(id = 0) {
      clear(id);
    },
  };
  for (const [name, operation] of Object.entries(operations)) defineOperation(name, operation);
}

function requireHandler(name, count) {
  if (count < 1) throw new TypeError(`Failed to execute '${name}' on 'WorkerGlobalScope': 1 argument required, but only 0 present.`);
}

module.exports = { installTimers };
