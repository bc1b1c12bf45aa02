'use strict';

// `performance.startProfiling()`: the minimal API that the explainer proposed, before there was a `Profiler`.
// https://github.com/WICG/js-self-profiling/blob/6510f55/README.md#minimal-api-proposal

const { begin } = require('./agent.cjs');
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

const TOKEN = Symbol('internal');

/** The profiling of all threads, while it goes on: what the explainer calls a `Profiler`. */
class ProfilingSession {
  #profiling;
  #maxBufferSize;

  constructor(token, profiling, maxBufferSize) {
    if (token !== TOKEN) throw new TypeError('Illegal constructor');
    this.#profiling = profiling;
    this.#maxBufferSize = maxBufferSize;
  }

  async stopProfiling() {
    const { explain } = require('./threads.cjs');
    return JSON.parse(await explain(this.#running('stopProfiling'), this.#maxBufferSize));
  }

  async cancelProfiling() {
    this.#running('cancelProfiling').cancel();
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
  const profiling = await profileThreads({ sampleInterval: interval, maxBufferSize, includeEntries: true });
  return new ProfilingSession(TOKEN, profiling, maxBufferSize);
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
