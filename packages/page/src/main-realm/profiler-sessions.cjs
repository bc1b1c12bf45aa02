'use strict';

// The profiler sessions of all windows of a page thread, and how much they may keep together.

/** How many profilers a page may run at once: as many as in Chromium. */
const MAX_SESSIONS = 100;

/** How many stacks may be kept for each sample, and at most. Most samples have few stacks that no other has. */
const STACKS_PER_SAMPLE = 4;
const MAX_STACKS = 0xffff_ffff;

/**
 * How many bytes the frames that the sessions of a thread keep may take, with their names and the URLs of their scripts. V8 cuts each text
 * at 1,024 characters. 100,000 functions with names of 20 bytes take 12 MB.
 */
const FRAME_BUDGET = 64 * 2 ** 20;

/** How many characters the marks and measures of all traces that have not arrived may have together, as JSON. */
const ENTRY_BUDGET = 64 * 2 ** 20;

class ProfilerSessions {
  /** @type {Set<number>} */
  #open = new Set();
  /** Those whose traces have not arrived in the heap of the thread, with how many characters their entries have. @type {Map<number, number>} */
  #stopped = new Map();
  /** How many these are together. */
  #entryLength = 0;
  #budget;

  /** @param {number} budget how many samples a page may keep */
  constructor(budget) {
    this.#budget = budget;
  }

  get isFull() {
    return this.#open.size >= MAX_SESSIONS;
  }

  /** How many share a budget when there is one more. */
  get #parts() {
    return this.#open.size + this.#stopped.size + 1;
  }

  /**
   * How much one more session may keep: the more sessions, the less, so that later ones get some too.
   *
   * @param {number} buffers how many buffers it may have, of which each gets as much
   */
  share(buffers) {
    const parts = this.#parts;
    const samples = Math.floor(Math.floor(this.#budget / parts) / buffers);
    return {
      maxBufferSize: samples,
      maxStacks: stacksFor(samples),
      maxFrameBytes: Math.floor(FRAME_BUDGET / parts / buffers),
    };
  }

  /** How many characters the marks and measures of one more trace may have together. */
  entryShare() {
    return Math.floor((ENTRY_BUDGET - this.#entryLength) / (this.#open.size + 1));
  }

  /** @param {number} session */
  add(session) {
    this.#open.add(session);
  }

  /** @param {number} session */
  remove(session) {
    this.#open.delete(session);
  }

  /**
   * Counts the trace of a session that was removed, until it has arrived.
   *
   * @param {number} session
   * @param {Promise<unknown>} trace
   * @param {number} entryLength how many characters its entries have
   */
  awaitTrace(session, trace, entryLength) {
    this.#stopped.set(session, entryLength);
    this.#entryLength += entryLength;
    const onArrival = () => {
      this.#stopped.delete(session);
      this.#entryLength -= entryLength;
    };
    trace.then(onArrival, onArrival);
  }
}

/** How many stacks may be kept for so many samples: a program that makes stacks at random has two hundred for each, of 50 bytes. @param {number} samples */
function stacksFor(samples) {
  return Math.min(STACKS_PER_SAMPLE * samples, MAX_STACKS);
}

module.exports = { MAX_SESSIONS, ProfilerSessions, stacksFor };
