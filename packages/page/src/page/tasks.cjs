'use strict';

// The timers of jsdom, and of a worker. What they call back is a task: it is watched for long tasks, and what it throws is reported to the page.

class Tasks {
  #thread;
  /** By number. @type {Map<number, NodeJS.Timeout>} */
  #timers = new Map();
  #next = 1;

  /** @param {Pick<import('./page-thread.cjs').PageThread, 'enter'>} thread */
  constructor(thread) {
    this.#thread = thread;
  }

  /** Has the timer functions of this thread's own realm, which jsdom uses, run tasks. */
  install() {
    for (const name of /** @type {const} */ (['setTimeout', 'setInterval', 'setImmediate'])) {
      const original = /** @type {(callback: () => void, ...rest: unknown[]) => any} */ (globalThis[name]);
      const start = (/** @type {(...values: unknown[]) => void} */ callback, /** @type {unknown[]} */ ...rest) => {
        const values = name === 'setImmediate' ? rest : rest.slice(1);
        const delay = name === 'setImmediate' ? [] : rest.slice(0, 1);
        return original(() => this.#thread.enter(() => callback(...values)), ...delay);
      };
      globalThis[name] = /** @type {any} */ (start);
    }
  }

  /**
   * @param {() => void} callback
   * @param {number} delay in milliseconds
   * @param {boolean} repeats
   * @returns {number} what `stop` takes
   */
  start(callback, delay, repeats) {
    const id = this.#next++;
    const run = () => {
      if (!repeats) this.#timers.delete(id);
      callback();
    };
    const wait = Number.isFinite(delay) ? Math.min(Math.max(delay, 0), 0x7fffffff) : 0;
    this.#timers.set(id, repeats ? setInterval(run, wait) : setTimeout(run, wait));
    return id;
  }

  /** @param {number} id */
  stop(id) {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  /** Stops all timers of a worker. jsdom stops those of a window. */
  clear() {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}

module.exports = { Tasks };
