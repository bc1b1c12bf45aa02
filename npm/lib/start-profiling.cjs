'use strict';

// `performance.startProfiling()`: the minimal API that the explainer proposed, before there was a `Profiler`.
// https://github.com/WICG/js-self-profiling/blob/6510f55/README.md#minimal-api-proposal

const { threadId } = require('node:worker_threads');

const { begin } = require('./agent.cjs');
const { EntryCollector } = require('./entries.cjs');
const { defineInterface, toDictionary, toEnforcedUnsignedLong } = require('./webidl.cjs');

/** The one version of the format that there is. */
const VERSION = 1;

/** A sample takes 50 bytes of JSON, and a string has an end. At one sample each 10 milliseconds, this is nearly three hours. */
const MAX_BUFFER_SIZE = 1_000_000;

/** The dictionary `ProfilingOptions`. The explainer has no limit. */
const OPTIONS = {
  interval: { convert: toInterval, fallback: 10 },
  maxBufferSize: { convert: toEnforcedUnsignedLong, fallback: MAX_BUFFER_SIZE },
  version: { convert: toEnforcedUnsignedLong, fallback: VERSION },
};

/** `double`, and not below 0. */
function toInterval(value, subject) {
  const interval = +value;
  if (!Number.isFinite(interval)) throw new TypeError(`${subject} is not a finite number.`);
  if (interval < 0) throw new RangeError(`${subject} is below 0.`);
  return interval;
}

/** The marks and measures of a profiling that nobody holds are wanted by nobody. */
const collected = new FinalizationRegistry((entries) => entries.stop());

const TOKEN = Symbol('internal');

/** The profiling of all threads, while it goes on: what the explainer calls a `Profiler`. */
class ProfilingSession {
  #profiling;
  #entries;
  #maxBufferSize;

  constructor(token, profiling, entries, maxBufferSize) {
    if (token !== TOKEN) throw new TypeError('Illegal constructor');
    this.#profiling = profiling;
    this.#entries = entries;
    this.#maxBufferSize = maxBufferSize;
    collected.register(this, entries);
  }

  async stopProfiling() {
    const { explain } = require('./threads.cjs');
    const profiling = this.#running('stopProfiling');
    const text = explain(profiling, { threadId, maxBufferSize: this.#maxBufferSize }, this.#entries.stop());
    return JSON.parse(await text);
  }

  async cancelProfiling() {
    this.#running('cancelProfiling').cancel();
    this.#entries.stop();
  }

  #running(operation) {
    if (this.#profiling.stopped) {
      throw new DOMException(
        `Failed to execute '${operation}' on 'ProfilingSession': the profiling has ended before.`,
        'InvalidStateError',
      );
    }
    return this.#profiling;
  }
}

defineInterface(ProfilingSession, ['stopProfiling', 'cancelProfiling']);

/**
 * @param {unknown} options `{ interval, maxBufferSize, version }`
 * @returns {Promise<ProfilingSession>} when all threads have begun
 */
async function startProfiling(options) {
  const context = "Failed to execute 'startProfiling' on 'Performance'";
  const { interval, maxBufferSize, version } = toDictionary(options, 'ProfilingOptions', OPTIONS, context);
  if (version !== VERSION) {
    throw new DOMException(`${context}: there is no version ${version} of the format.`, 'NotSupportedError');
  }
  // Not before: whoever wants the clock alone needs no sampler.
  begin();
  const { profileThreads } = require('./threads.cjs');
  const begun = profileThreads({ sampleInterval: interval, maxBufferSize });
  const entries = new EntryCollector({ bufferPolicy: 'stop', maxBufferSize });
  try {
    return new ProfilingSession(TOKEN, await begun, entries, maxBufferSize);
  } catch (error) {
    entries.stop();
    throw error;
  }
}

/** @type {import('./timing/performance.cjs').Extension} */
const extension = (requirePerformance) => ({
  members: {
    async startProfiling(options) {
      requirePerformance(this);
      return startProfiling(options);
    },
  },
});

module.exports = { extension };
