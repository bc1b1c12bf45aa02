'use strict';

// Passes the request on to child processes, also to those that get an environment of their own.

const { ChildProcess } = require('node:child_process');
const { childVariables } = require('./request.cjs');

/**
 * What Node's functions that start a process pass to its own implementation.
 *
 * @typedef {{ file?: string, args?: string[], envPairs?: string[], uid?: number, gid?: number }} SpawnOptions
 */

/** Options of Node that turn its permission model on. A preload could not read its files. */
const PERMISSION_MODEL = /(^|[\s'"=])--(experimental-)?permission\b/;

/**
 * The environment with the request.
 *
 * @param {import('./request.cjs').Request} request
 * @param {readonly string[]} pairs `NAME=value`
 */
function withRequest(request, pairs) {
  const prefix = 'NODE_OPTIONS=';
  const options = pairs.find((pair) => pair.startsWith(prefix))?.slice(prefix.length);
  const variables = Object.entries(childVariables(request, options));
  const isReplaced = (/** @type {string} */ pair) => variables.some(([name]) => pair.startsWith(`${name}=`));
  return [...pairs.filter((pair) => !isReplaced(pair)), ...variables.map(([name, value]) => `${name}=${value}`)];
}

/**
 * @template {unknown} T
 * @param {import('./request.cjs').Request} request
 * @param {T} options
 * @returns {T}
 */
function adapted(request, options) {
  if (typeof options !== 'object' || options === null) return options;
  const { args, envPairs, uid, gid } = /** @type {SpawnOptions} */ (options);
  if (!Array.isArray(envPairs)) return options;
  // Also the command line of a shell.
  const isRestricted = (/** @type {string} */ word) => PERMISSION_MODEL.test(word);
  if (Array.isArray(args) && args.some(isRestricted)) return options;
  if (envPairs.some((pair) => pair.startsWith('NODE_OPTIONS=') && isRestricted(pair))) return options;
  // Another user may not be allowed to read the preload, nor to write a journal.
  const isOtherUser =
    (uid ?? process.getuid?.()) !== process.getuid?.() || (gid ?? process.getgid?.()) !== process.getgid?.();
  if (isOtherUser) return options;
  return { ...options, envPairs: withRequest(request, envPairs) };
}

/**
 * @template {(this: any, options: unknown) => unknown} T
 * @param {string} name
 * @param {T} replacement
 * @returns {T}
 */
function renamed(name, replacement) {
  return Object.defineProperty(replacement, 'name', { value: name });
}

/** Node's binding behind `spawnSync`, `execSync` and `execFileSync`. */
function synchronousBinding() {
  const { noDeprecation } = process;
  // With --pending-deprecation, Node would print a warning that the program did not cause. With --no-deprecation, the
  // property is read-only.
  if (!noDeprecation) process.noDeprecation = true;
  try {
    return /** @type {any} */ (process).binding('spawn_sync');
  } catch {
    // Not with the permission model.
    return undefined;
  } finally {
    if (!noDeprecation) process.noDeprecation = noDeprecation;
  }
}

/**
 * Replaces a method. Returns what undoes that, unless the program has replaced it, too.
 *
 * @param {any} object
 * @param {string} name
 * @param {(original: Function) => Function} replacement
 */
function replace(object, name, replacement) {
  const original = object[name];
  const replaced = replacement(original);
  object[name] = replaced;
  return () => {
    if (object[name] === replaced) object[name] = original;
  };
}

/**
 * Has child processes of this thread recorded.
 *
 * @param {import('./request.cjs').Request} request
 * @returns {() => void} what undoes that
 */
function follow(request) {
  const undo = [replace(ChildProcess.prototype, 'spawn', (spawn) => renamed(spawn.name, withAdapted(request, spawn)))];
  const binding = synchronousBinding();
  if (binding !== undefined) undo.push(replace(binding, 'spawn', (spawn) => withAdapted(request, spawn)));
  // Replaces the program of this process.
  if ('execve' in process) undo.push(replace(process, 'execve', (execve) => withAdaptedEnvironment(request, execve)));
  return () => {
    for (const undoOne of undo) undoOne();
  };
}

/**
 * @param {import('./request.cjs').Request} request
 * @param {Function} spawn
 * @returns {(this: any, options: unknown) => unknown}
 */
function withAdapted(request, spawn) {
  return function (options) {
    return Reflect.apply(spawn, this, [adapted(request, options)]);
  };
}

/**
 * @param {import('./request.cjs').Request} request
 * @param {Function} execve
 */
function withAdaptedEnvironment(request, execve) {
  return /** @this {unknown} */ function (/** @type {unknown} */ file, /** @type {unknown} */ args, env = process.env) {
    const isEnvironment = typeof env === 'object' && env !== null;
    const changed = isEnvironment ? { ...env, ...childVariables(request, env.NODE_OPTIONS) } : env;
    return Reflect.apply(execve, this, [file, args, changed]);
  };
}

module.exports = { follow };
