'use strict';

// Passes the preload on to worker threads. Workers inherit it, unless they have options or an environment of their own.

const { syncBuiltinESMExports } = require('node:module');
const workerThreads = require('node:worker_threads');

const { withOption } = require('./request.cjs');

/**
 * Has all workers of this thread recorded.
 *
 * @param {string} preload
 */
function follow(preload) {
  const { Worker } = workerThreads;
  const Following = new Proxy(Worker, {
    construct(target, args, newTarget) {
      const [file, options] = args;
      const construct = () => Reflect.construct(target, [file, adapted(preload, options), ...args.slice(2)], newTarget);
      return hasSameOptions(options) ? withOwnOption(preload, construct) : construct();
    },
  });
  Worker.prototype.constructor = Following;
  workerThreads.Worker = Following;
  syncBuiltinESMExports();
}

/**
 * Whether a worker has an environment of its own, with the same options of Node as this thread. Node then allows those that are for
 * a whole process.
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
