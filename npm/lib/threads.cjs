'use strict';

// profileThreads(): one call that profiles every thread of the process which has loaded this package.

// As they are before somebody puts a clock of his own in their place.
const { clearTimeout, setTimeout } = require('node:timers');

const { FORMATS } = require('./capabilities.cjs');
const native = require('./native.cjs');
const { fromProduct } = require('./trace.cjs');
const { checked, defineInterface, toDictionary, toEnumeration, toNumber } = require('./webidl.cjs');

/** The dictionary `ProfileThreadsOptions`. There is no chunks policy, for nobody takes chunks of several threads. */
const OPTIONS = {
  bufferPolicy: { convert: toEnumeration(['stop', 'circular']), fallback: 'stop' },
  maxBufferSize: { convert: toNumber, required: true },
  sampleInterval: { convert: toNumber, required: true },
};

const STOP_OPTIONS = { format: { convert: toEnumeration(FORMATS), fallback: 'object' } };

/** How long a thread may take to answer, in milliseconds. One that is blocked in native code does not answer at all. */
const PATIENCE = 1000;

/** A profiling that nobody holds can be stopped by nobody. */
const collected = new FinalizationRegistry((id) => native.cancelThreads(id));

/** Awaits what all threads have to do something for, for a second. */
async function patiently(id, promise) {
  const timeout = setTimeout(() => native.giveUpOnThreads(id), PATIENCE);
  try {
    return await promise;
  } finally {
    clearTimeout(timeout);
  }
}

class ThreadsProfiling {
  #id;
  #sampleInterval;
  #stopped = false;

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

  async stop(options = {}) {
    // Before anything is converted: this must be a profiling.
    const id = this.#id;
    const context = "Failed to execute 'stop' on 'ThreadsProfiling'";
    const { format } = toDictionary(options, 'ProfilerStopOptions', STOP_OPTIONS, context);
    this.#end('stop');
    const portions = await patiently(id, native.stopThreads(id, format));
    // V8 frees its profiles on this thread only; the traces need not wait for that.
    setImmediate(native.bury).unref();
    const threads = portions.map(({ threadId, name, product }) =>
      product ? { threadId, name, trace: fromProduct(product, format) } : { threadId, name, unresponsive: true },
    );
    return { threads: threads.sort((a, b) => a.threadId - b.threadId) };
  }

  cancel() {
    this.#end('cancel');
    native.cancelThreads(this.#id);
  }

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
delete ThreadsProfiling.prototype.constructor;

async function profileThreads(options) {
  const context = "Failed to execute 'profileThreads'";
  if (arguments.length < 1) throw new TypeError(`${context}: 1 argument required, but only 0 present.`);
  const wishes = toDictionary(options, 'ProfileThreadsOptions', OPTIONS, context);
  const begun = checked(() => native.profileThreads(wishes), context);
  const profiling = new ThreadsProfiling(begun);
  await patiently(begun.id, native.threadsStarted(begun.id));
  return profiling;
}

module.exports = { profileThreads };
