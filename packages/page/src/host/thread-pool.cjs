'use strict';

// The threads of a host. One that has loaded jsdom opens document after document: a page that is closed, or navigates,
// gives its thread back.

const path = require('node:path');
const { Worker } = require('node:worker_threads');

/** @typedef {'page' | 'worker'} Kind what is opened in a thread */
/** @typedef {'eager' | 'lazy'} Mode how V8 prepares for profilers: see agent.cjs of selfprof */

const PROGRAM = path.join(__dirname, '..', 'page', 'page-thread.cjs');

/** The code of errors that end a thread because of its memory, as Node has it. */
const OUT_OF_MEMORY = 'ERR_WORKER_OUT_OF_MEMORY';

/** How many threads may wait to be used. */
const MAX_IDLE = 4;

/**
 * How many contexts a thread may still have when its windows are closed and garbage was collected: its own, and a few
 * that V8 frees later.
 */
const MAX_CONTEXTS = 8;

/** A thread that runs. */
class PooledThread extends Worker {
  #memoryLimit;
  #isTerminated = false;
  /** What it threw, if it did. @type {unknown} */
  #thrown;
  /** The mode of its windows, once it has opened one. @type {Mode | undefined} */
  mode;
  kind;

  /** @param {Kind} kind @param {{ library: object, options: import('./browser-context.cjs').ThreadOptions }} start */
  constructor(kind, { library, options }) {
    super(PROGRAM, {
      workerData: { library, options, kind },
      argv: [],
      // Without `execArgv`, it has the options of the process, such as its permissions. Node would print warnings about
      // a page's code.
      env: { ...process.env, NODE_NO_WARNINGS: '1' },
      name: `selfprof ${kind}`,
      resourceLimits: { maxOldGenerationSizeMb: options.memoryLimit },
    });
    this.kind = kind;
    this.#memoryLimit = options.memoryLimit;
    this.on('error', (error) => {
      this.#thrown = error;
    });
  }

  /** Why it has ended; undefined if it was terminated. @returns {Error | undefined} */
  get failure() {
    const code = /** @type {{ code?: unknown } | undefined} */ (this.#thrown)?.code;
    // Only a full heap ends a thread from within: see crates/v8/shim/pages/hooks.cc.
    if (code === OUT_OF_MEMORY || (this.#thrown === undefined && !this.#isTerminated))
      return Object.assign(new Error(`the page's heap exceeds its memory limit of ${this.#memoryLimit} MB`), {
        code: OUT_OF_MEMORY,
      });
    return this.#thrown === undefined || this.#thrown instanceof Error
      ? this.#thrown
      : new Error("the page's thread has failed");
  }

  /** @override */
  async terminate() {
    this.#isTerminated = true;
    return await super.terminate();
  }
}

class ThreadPool {
  #start;
  /** @type {Set<PooledThread>} */
  #all = new Set();
  /** Those without a document. @type {PooledThread[]} */
  #idle = [];
  #isClosed = false;

  /** @param {{ library: object, options: import('./browser-context.cjs').ThreadOptions }} start */
  constructor(start) {
    this.#start = start;
  }

  /** Has a thread for a document load jsdom now, unless one waits already. */
  warm() {
    if (this.#idle.length === 0) this.#idle.push(this.#new('page'));
  }

  /** @param {Kind} kind @param {Mode} mode @returns {PooledThread} */
  take(kind, mode) {
    const at = this.#idle.findLastIndex((idle) => idle.kind === kind && (idle.mode ?? mode) === mode);
    const thread = at === -1 ? this.#new(kind) : this.#idle.splice(at, 1)[0];
    thread.mode = mode;
    return thread;
  }

  /** @param {Kind} kind */
  #new(kind) {
    const thread = new PooledThread(kind, this.#start);
    this.#all.add(thread);
    thread.on('exit', () => {
      this.#all.delete(thread);
      const at = this.#idle.indexOf(thread);
      if (at !== -1) this.#idle.splice(at, 1);
    });
    return thread;
  }

  /**
   * A thread has closed its windows.
   *
   * @param {PooledThread} thread
   * @param {number} contexts how many contexts it still has
   */
  async giveBack(thread, contexts) {
    if (this.#isClosed || contexts > MAX_CONTEXTS || !this.#all.has(thread)) {
      await thread.terminate();
      return;
    }
    this.#idle.push(thread);
    // The one that has waited longest goes.
    if (this.#idle.length > MAX_IDLE) await this.#idle.shift()?.terminate();
  }

  /** Ends all threads. */
  async close() {
    this.#isClosed = true;
    await Promise.all([...this.#all].map((thread) => thread.terminate()));
  }
}

module.exports = { PooledThread, ThreadPool };
