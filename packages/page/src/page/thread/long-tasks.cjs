'use strict';

// Reports the long tasks of a page's event loop. https://w3c.github.io/longtasks/#report-long-tasks
//
// Node calls jsdom from many places, and the microtasks of a page run after each call has returned. So a task ends
// where the next one begins or, when none follows, in the check phase of the event loop.

const { setImmediate } = require('node:timers');

const native = require('selfprof/internal/native.cjs');

/** From how many milliseconds on a task is long. */
const LONG_TASK_MS = 50;

class TaskMonitor {
  #report;
  #depth = 0;
  /**
   * When the task that may still have microtasks began, in milliseconds on the addon's clock; undefined between tasks.
   *
   * @type {number | undefined}
   */
  #began;
  #isWatched = false;
  #end = () => {
    this.#isWatched = false;
    if (this.#depth === 0) this.#finish(native.now());
  };

  /** @param {(began: number, ended: number) => void} report is called for each long task */
  constructor(report) {
    this.#report = report;
  }

  /**
   * Runs a part of a task. Parts that begin within it belong to it.
   *
   * @template Result
   * @param {() => Result} work
   */
  run(work) {
    if (this.#depth === 0) {
      const now = native.now();
      this.#finish(now);
      this.#began = now;
      if (!this.#isWatched) {
        this.#isWatched = true;
        setImmediate(this.#end);
      }
    }
    this.#depth += 1;
    try {
      return work();
    } finally {
      this.#depth -= 1;
    }
  }

  /** @param {number} now */
  #finish(now) {
    const began = this.#began;
    this.#began = undefined;
    if (began !== undefined && now - began >= LONG_TASK_MS) this.#report(began, now);
  }
}

module.exports = { TaskMonitor };
