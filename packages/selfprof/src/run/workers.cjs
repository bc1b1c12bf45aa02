'use strict';

// Passes the preload on to worker threads. Workers inherit it, unless they have options or an environment of their own.

const { syncBuiltinESMExports } = require('node:module');
const workerThreads = require('node:worker_threads');

const { followCaptured } = require('./captured-workers.cjs');
const { withOption } = require('./request.cjs');

/**
 * Has all workers of this thread recorded.
 *
 * @param {string} preload
 * @param {(error: unknown) => void} [onFailure] given if workers do not inherit the preload, because the program runs
 *   already; called if a worker starts without it, because Node does not allow its other options to be repeated for a
 *   worker
 * @returns {() => void} what undoes that
 */
function follow(preload, onFailure) {
  const { Worker } = workerThreads;
  /** Whether a worker is being constructed that has got the preload. */
  let isAdapted = false;
  const Following = new Proxy(Worker, {
    construct(target, args, newTarget) {
      const [file, options, ...rest] = args;
      const construct = (/** @type {unknown} */ used) => Reflect.construct(target, [file, used, ...rest], newTarget);
      const isInherited = onFailure === undefined || hasOwn(options);
      const withPreload = () => {
        const used = adapted(preload, isInherited ? options : withInherited(options));
        isAdapted = true;
        try {
          return construct(used);
        } finally {
          isAdapted = false;
        }
      };
      try {
        return hasSameOptions(options) ? withOwnOption(preload, withPreload) : withPreload();
      } catch (error) {
        if (isInherited) throw error;
        // If this fails, too, the program made a mistake.
        return construct(options);
      }
    },
  });
  Worker.prototype.constructor = Following;
  workerThreads.Worker = Following;
  syncBuiltinESMExports();
  const undoCaptured = onFailure && followCaptured(Worker, preload, () => isAdapted, onFailure);
  return () => {
    undoCaptured?.();
    if (Worker.prototype.constructor === Following) Worker.prototype.constructor = Worker;
    if (workerThreads.Worker !== Following) return;
    workerThreads.Worker = Worker;
    syncBuiltinESMExports();
  };
}

/**
 * Whether a worker has options of Node or an environment of its own.
 *
 * @param {unknown} options
 */
function hasOwn(options) {
  const { execArgv, env } = /** @type {{ execArgv?: unknown, env?: unknown }} */ (options ?? {});
  return Array.isArray(execArgv) || (typeof env === 'object' && env !== null);
}

/**
 * The options of a worker with those of Node that it would inherit.
 *
 * @param {unknown} options
 */
function withInherited(options) {
  const inheriting = typeof options === 'object' && options !== null ? Object.create(options) : {};
  return Object.assign(inheriting, { execArgv: process.execArgv });
}

/**
 * Whether a worker has its own environment, with the same options of Node as this thread. Node then allows those that
 * are for a whole process.
 *
 * @param {unknown} options
 */
function hasSameOptions(options) {
  const { env } = /** @type {{ env?: NodeJS.ProcessEnv | symbol | null }} */ (options ?? {});
  return typeof env === 'object' && env !== null && env.NODE_OPTIONS === process.env.NODE_OPTIONS;
}

/**
 * Calls a function while this thread has our option, too.
 *
 * @template T
 * @param {string} preload
 * @param {() => T} construct
 */
function withOwnOption(preload, construct) {
  const { NODE_OPTIONS } = process.env;
  process.env.NODE_OPTIONS = withOption(preload, NODE_OPTIONS);
  try {
    return construct();
  } finally {
    if (NODE_OPTIONS === undefined) delete process.env.NODE_OPTIONS;
    else process.env.NODE_OPTIONS = NODE_OPTIONS;
  }
}

/**
 * @param {string} preload
 * @param {unknown} options
 */
function adapted(preload, options) {
  if (typeof options !== 'object' || options === null) return options;
  const { execArgv, env } = /** @type {{ execArgv?: unknown, env?: NodeJS.ProcessEnv | symbol | null }} */ (options);
  // Members that the options inherit count, too.
  const overridden = (/** @type {object} */ members) => Object.assign(Object.create(options), members);
  if (Array.isArray(execArgv)) return overridden({ execArgv: ['--require', preload, ...execArgv] });
  if (typeof env !== 'object' || env === null) return options;
  // Such a worker has only the options that its environment has, and may not get those of the process as its own.
  return overridden({ env: { ...env, NODE_OPTIONS: withOption(preload, env.NODE_OPTIONS) } });
}

module.exports = { follow };
