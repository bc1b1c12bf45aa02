'use strict';

// profileThreads(): profiles every thread of the process that has loaded this package.

// Taken before a program can replace the global ones with a fake clock.
const { clearTimeout, setTimeout } = require('node:timers');

const { updateEntryRecording } = require('./agent.cjs');
const { FORMATS } = require('./capabilities.cjs');
const native = require('./native.cjs');
const { withOwnMethods } = require('./own-methods.cjs');
const { fromOutput } = require('./trace.cjs');
const {
  checked,
  defineInterface,
  defineMembers,
  toBoolean,
  toDictionary,
  toEnumeration,
  toNumber,
} = require('./webidl.cjs');

/**
 * The policies that make sense for several threads. Chunks do not: there is no common order in which to take
 * them.
 */
const POLICIES = /** @type {const} */ (['stop', 'circular']);

/** The dictionary `ProfileThreadsOptions`. */
const OPTIONS = defineMembers({
  bufferPolicy: { convert: toEnumeration(POLICIES), fallback: POLICIES[0] },
  includeEntries: { convert: toBoolean, fallback: false },
  maxBufferSize: { convert: toNumber, required: true },
  sampleInterval: { convert: toNumber, required: true },
});

const STOP_OPTIONS = defineMembers({ format: { convert: toEnumeration(FORMATS), fallback: FORMATS[0] } });

/**
 * @template [Trace=import('../index.js').ProfilerTrace]
 * @typedef {import('../index.js').ThreadProfile<Trace>} ThreadProfile
 */

/** How long to wait for the threads, in milliseconds. A thread that is blocked in native code does not answer. */
const ANSWER_TIMEOUT = 1000;

/** Cancels profiles whose `ThreadsProfiling` was garbage collected: they can no longer be stopped. */
const collected = withOwnMethods(new FinalizationRegistry((/** @type {number} */ id) => native.cancelThreads(id)));

/**
 * Awaits the answers of all threads, but not longer than the timeout.
 *
 * @template T
 * @param {number} id of the profile
 * @param {Promise<T>} answers
 */
async function withTimeout(id, answers) {
  const timeout = setTimeout(() => native.giveUpOnThreads(id), ANSWER_TIMEOUT);
  try {
    return await answers;
  } finally {
    clearTimeout(timeout);
  }
}

/** V8 frees its profiles on this thread only; a promise of traces need not wait for that. */
function freeProfilesLater() {
  setImmediate(native.releaseReadProfiles).unref();
}

/**
 * Ends a profile and returns its traces as JSON in the explainer's format.
 *
 * @type {(profiling: ThreadsProfiling, maxBufferSize: number) => Promise<string>}
 */
let stopAsExplainerJson;

class ThreadsProfiling {
  #id;
  #sampleInterval;
  #stopped = false;

  static {
    stopAsExplainerJson = (profiling, maxBufferSize) => {
      profiling.#end('stop');
      const id = profiling.#id;
      const json = native.explainThreads(id, { sampleInterval: profiling.#sampleInterval, maxBufferSize });
      return withTimeout(id, json).finally(freeProfilesLater);
    };
  }

  /** @param {import('./native.js').OpenSession} session */
  constructor({ id, sampleInterval }) {
    this.#id = id;
    this.#sampleInterval = sampleInterval;
    collected.register(this, id, this);
  }

  get sampleInterval() {
    return this.#sampleInterval;
  }

  get stopped() {
    return this.#stopped;
  }

  /**
   * @overload
   * @param {{ format?: 'object' }} [options]
   * @returns {Promise<{ threads: ThreadProfile[] }>}
   *
   * @overload
   * @param {{ format: 'json-gzip' }} options
   * @returns {Promise<{ threads: ThreadProfile<ArrayBuffer>[] }>}
   *
   * @overload
   * @param {{ format?: import('../index.js').ProfilerTraceFormat }} options
   * @returns {Promise<{ threads: ThreadProfile<import('../index.js').ProfilerTrace | ArrayBuffer>[] }>}
   *
   * @param {unknown} [options] a `ProfilerStopOptions`
   * @returns {Promise<{ threads: ThreadProfile<unknown>[] }>}
   */
  async stop(options = {}) {
    // Throws for a foreign `this`, which comes before the conversion of arguments.
    const id = this.#id;
    const context = "Failed to execute 'stop' on 'ThreadsProfiling'";
    const { format } = toDictionary(options, 'ProfilerStopOptions', STOP_OPTIONS, context);
    this.#end('stop');
    const outputs = await withTimeout(id, native.stopThreads(id, format));
    freeProfilesLater();
    /** @type {ThreadProfile<unknown>[]} */
    const threads = outputs.map(({ threadId, name, output }) =>
      output ? { threadId, name, trace: fromOutput(output, format) } : { threadId, name, unresponsive: true },
    );
    return { threads: threads.sort((a, b) => a.threadId - b.threadId) };
  }

  cancel() {
    this.#end('cancel');
    native.cancelThreads(this.#id);
  }

  /** @param {string} operation */
  #end(operation) {
    if (this.#stopped) {
      throw new DOMException(
        `Failed to execute '${operation}' on 'ThreadsProfiling': the profiling is already stopped.`,
        'InvalidStateError',
      );
    }
    this.#stopped = true;
    collected.unregister(this);
  }
}

defineInterface(ThreadsProfiling, ['sampleInterval', 'stopped', 'cancel', 'stop']);
Reflect.deleteProperty(ThreadsProfiling.prototype, 'constructor');

/**
 * @param {unknown} options a `ProfileThreadsOptions`
 * @returns {Promise<ThreadsProfiling>}
 */
async function profileThreads(options) {
  const context = "Failed to execute 'profileThreads'";
  if (arguments.length < 1) throw new TypeError(`${context}: 1 argument required, but only 0 present.`);
  const request = toDictionary(options, 'ProfileThreadsOptions', OPTIONS, context);
  const session = checked(() => native.profileThreads(request), context);
  updateEntryRecording();
  const profiling = new ThreadsProfiling(session);
  await withTimeout(session.id, native.threadsStarted(session.id));
  return profiling;
}

module.exports = { profileThreads, stopAsExplainerJson };
