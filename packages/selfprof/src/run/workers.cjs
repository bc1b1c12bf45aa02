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
      return Reflect.construct(target, [file, adapted(preload, options), ...args.slice(2)], newTarget);
    },
  });
  Worker.prototype.constructor = Following;
  workerThreads.Worker = Following;
  syncBuiltinESMExports();
}

/**
 * @param {string} preload
 * @param {unknown} options
 */
function adapted(preload, options) {
  if (typeof options !== 'object' || options === null) return options;
  const { execArgv, env } = /** @type {{ execArgv?: unknown, env?: NodeJS.ProcessEnv | symbol | null }} */ (options);
  if (Array.isArray(execArgv)) return { ...options, execArgv: ['--require', preload, ...execArgv] };
  if (typeof env !== 'object' || env === null) return options;
  // Such a worker has only the options that its environment has, and may not get those of the process as its own.
  return { ...options, env: { ...env, NODE_OPTIONS: withOption(preload, env.NODE_OPTIONS) } };
}

module.exports = { follow };
