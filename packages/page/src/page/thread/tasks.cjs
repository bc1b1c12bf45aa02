'use strict';

/**
 * Has the timer functions of this thread's own realm, which jsdom uses, call back tasks.
 *
 * @param {(task: () => void) => void} enter runs a task: it is watched for long tasks, and what it throws is reported
 *   to the page
 */
function installTasks(enter) {
  for (const name of /** @type {const} */ (['setTimeout', 'setInterval', 'setImmediate'])) {
    const original = /** @type {(callback: () => void, ...rest: unknown[]) => any} */ (globalThis[name]);
    const start = (/** @type {(...values: unknown[]) => void} */ callback, /** @type {unknown[]} */ ...rest) => {
      const values = name === 'setImmediate' ? rest : rest.slice(1);
      const delay = name === 'setImmediate' ? [] : rest.slice(0, 1);
      return original(() => enter(() => callback(...values)), ...delay);
    };
    globalThis[name] = /** @type {any} */ (start);
  }
}

module.exports = { installTasks };
