'use strict';

// The profiler sessions of all windows of a page thread, and how many samples they may keep together.

/** How many profilers a page may run at once: as many as in Chromium. */
const MAX_SESSIONS = 100;

class ProfilerSessions {
  /** @type {Set<number>} */
  #open = new Set();
  #budget;

  /** @param {number} budget how many samples a page may keep */
  constructor(budget) {
    this.#budget = budget;
  }

  get isFull() {
    return this.#open.size >= MAX_SESSIONS;
  }

  /** How many samples one more session may keep: the more sessions, the fewer, so that later ones get some too. */
  share() {
    return Math.floor(this.#budget / (this.#open.size + 1));
  }

  /** @param {number} session */
  add(session) {
    this.#open.add(session);
  }

  /** @param {number} session */
  remove(session) {
    this.#open.delete(session);
  }
}

module.exports = { MAX_SESSIONS, ProfilerSessions };
