'use strict';

// The profiler sessions of all windows of a page thread, and how many samples they may keep together.

/** How many profilers a page may run at once: as many as in Chromium. */
const MAX_SESSIONS = 100;

/** How many stacks may be kept for each sample, and at most. Most samples have few stacks that no other has. */
const STACKS_PER_SAMPLE = 4;
const MAX_STACKS = 0xffff_ffff;

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

/** How many stacks may be kept for so many samples: a program that makes stacks at random has two hundred for each, of 50 bytes. @param {number} samples */
function stacksFor(samples) {
  return Math.min(STACKS_PER_SAMPLE * samples, MAX_STACKS);
}

module.exports = { MAX_SESSIONS, ProfilerSessions, stacksFor };
