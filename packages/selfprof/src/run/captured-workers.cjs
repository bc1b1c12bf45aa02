'use strict';

// Workers of a program that took the class `Worker` before `selfprof attach` replaced it, e.g. as
// `const { Worker } = require('node:worker_threads')`. Their arguments cannot be seen. But the constructor calls that
// of the parent class first, and then reads `process.env`, unless the worker has its own environment. It gets a copy
// with the preload.

const { MessagePort } = require('node:worker_threads');

const { withOption } = require('./request.cjs');

/** Options of Node that are for the whole process, or without meaning for a worker. */
const FOR_PROCESS =
  /^--(inspect|inspect[-_]port|debug[-_]port|max[-_](old|semi)[-_]space[-_]size|stack[-_]size|expose[-_]gc|title|max[-_]http[-_]header[-_]size)(=|$)/;

/**
 * Has workers recorded for which `isSeen` is false.
 *
 * @param {typeof import('node:worker_threads').Worker} Worker Node's own class
 * @param {string} preload
 * @param {() => boolean} isSeen whether the worker that is being constructed needs nothing from here
 * @param {(error: unknown) => void} onFailure called if a worker starts without the preload
 * @returns {() => void} what undoes that
 */
function followCaptured(Worker, preload, isSeen, onFailure) {
  const Parent = Object.getPrototypeOf(Worker);
  const Following = new Proxy(Parent, {
    construct(target, args, newTarget) {
      const worker = Reflect.construct(target, args, newTarget);
      if (!isSeen()) addPreload(worker, preload, onFailure);
      return worker;
    },
  });
  Object.setPrototypeOf(Worker, Following);
  return () => {
    if (Object.getPrototypeOf(Worker) === Following) Object.setPrototypeOf(Worker, Parent);
  };
}

/**
 * Has this worker, whose construction has just begun, load the preload.
 *
 * @param {import('node:worker_threads').Worker} worker
 * @param {string} preload
 * @param {(error: unknown) => void} onFailure
 */
function addPreload(worker, preload, onFailure) {
  const descriptor = Object.getOwnPropertyDescriptor(process, 'env');
  // With an environment, a worker inherits none of the options on the command line.
  const isInheritable = process.execArgv.every((option) => FOR_PROCESS.test(option));
  if (!isInheritable || !descriptor?.configurable || !('value' in descriptor)) {
    const reason = 'its class was loaded before attaching, and Node cannot repeat the options of this process for it';
    return queueMicrotask(() => hasStarted(worker) && onFailure(reason));
  }
  const real = process.env;
  const { NODE_OPTIONS } = real;
  const options = withOption(preload, NODE_OPTIONS);
  const { start } = MessagePort.prototype;
  let isUsed = false;
  let reads = 0;
  const restore = () => {
    if (reads < 2) Object.defineProperty(process, 'env', descriptor);
    reads = 2;
    if (MessagePort.prototype.start === startRestoring) MessagePort.prototype.start = start;
    if (real.NODE_OPTIONS !== options || !isUsed) return;
    if (NODE_OPTIONS === undefined) delete real.NODE_OPTIONS;
    else real.NODE_OPTIONS = NODE_OPTIONS;
  };
  /** @this {import('node:worker_threads').MessagePort} */
  const startRestoring = function () {
    restore();
    return start.call(this);
  };
  // What else uses it, because the constructor fails, changes the real one.
  const environment = new Proxy(real, {
    get(target, name) {
      if (name !== 'NODE_OPTIONS') return Reflect.get(target, name);
      isUsed = true;
      // Only if this thread has the same options, Node allows those that are for a whole process.
      real.NODE_OPTIONS = options;
      return options;
    },
    ownKeys: (target) => [...new Set([...Reflect.ownKeys(target), 'NODE_OPTIONS'])],
    getOwnPropertyDescriptor(target, name) {
      if (name !== 'NODE_OPTIONS') return Reflect.getOwnPropertyDescriptor(target, name);
      return { configurable: true, enumerable: true, writable: true, value: options };
    },
  });
  Object.defineProperty(process, 'env', {
    configurable: true,
    enumerable: true,
    get() {
      reads += 1;
      if (reads === 1) return environment;
      // The constructor now compares both, and takes different ones for an environment of the worker's own.
      Object.defineProperty(process, 'env', descriptor);
      return real;
    },
    set(value) {
      Object.defineProperty(process, 'env', { ...descriptor, value });
      reads = 2;
    },
  });
  // The constructor starts the worker's port when it has read the environment.
  MessagePort.prototype.start = startRestoring;
  queueMicrotask(() => {
    restore();
    if (!isUsed && hasStarted(worker)) {
      onFailure('it has its own environment, and its class was loaded before attaching');
    }
  });
}

/** @param {import('node:worker_threads').Worker} worker */
function hasStarted(worker) {
  try {
    return worker.threadId > 0;
  } catch {
    // Its constructor failed.
    return false;
  }
}

module.exports = { followCaptured };
