'use strict';

// Tasks of a page's event loop, and which of them are long. https://w3c.github.io/longtasks/#report-long-tasks
//
// Node calls into the DOM's realm from many places, and what a page does in microtasks comes after each call has returned.
// So a task ends where the next begins, or in the check phase of the event loop, which follows when there is none.

const native = require('../../native.cjs');

/** In milliseconds. */
const LONG = 50;

class Tasks {
  #report;
  #depth = 0;
  /** When the task that may still have microtasks began, in milliseconds on the addon's clock; undefined between tasks. */
  #began;
  #isWatched = false;
  #end = () => {
    this.#isWatched = false;
    if (this.#depth === 0) this.#finish(native.now());
  };

  /** @param {(began: number, ended: number) => void} report is told of each long task */
  constructor(report) {
    this.#report = report;
  }

  /** Runs a part of a task. Those that begin within it belong to it. */
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

  #finish(now) {
    const began = this.#began;
    this.#began = undefined;
    if (began !== undefined && now - began >= LONG) this.#report(began, now);
  }
}

module.exports = { Tasks };
