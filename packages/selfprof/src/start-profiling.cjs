'use strict';

// `performance.startProfiling()`: the minimal API that the explainer proposed before `Profiler`.
// https://github.com/WICG/js-self-profiling/blob/6510f55/README.md#minimal-api-proposal

const { ensureAgent } = require('./agent.cjs');
const { defineInterface, defineMembers, toDictionary, toEnforcedUnsignedLong, toNumber } = require('./webidl.cjs');

/** The only version of the format. */
const VERSION = 1;

/**
 * A sample takes 50 bytes of JSON, and the length of a string is limited. At one sample every 10 milliseconds, this is
 * nearly three hours.
 */
const MAX_BUFFER_SIZE = 1_000_000;

/** The dictionary `ProfilingOptions`. The explainer has no `maxBufferSize`. */
const OPTIONS = defineMembers({
  interval: { convert: toInterval, fallback: 10 },
  maxBufferSize: { convert: toEnforcedUnsignedLong, fallback: MAX_BUFFER_SIZE },
  version: { convert: toEnforcedUnsignedLong, fallback: VERSION },
});

/**
 * `double`, 0 or more
 *
 * @param {unknown} value
 * @param {string} subject
 */
function toInterval(value, subject) {
  const interval = toNumber(value);
  if (!Number.isFinite(interval)) throw new TypeError(`${subject} is not a finite number.`);
  if (interval < 0) throw new RangeError(`${subject} is below 0.`);
  return interval;
}

const TOKEN = Symbol('internal');

/** A running profile of all threads: what the explainer calls a `Profiler`. */
class ProfilingSession {
  #profiling;
  #maxBufferSize;

  /**
   * @param {symbol} token
   * @param {Awaited<ReturnType<typeof import('./threads.cjs').profileThreads>>} profiling
   * @param {number} maxBufferSize
   */
  constructor(token, profiling, maxBufferSize) {
    if (token !== TOKEN) throw new TypeError('Illegal constructor');
    this.#profiling = profiling;
    this.#maxBufferSize = maxBufferSize;
  }

  async stopProfiling() {
    const { stopAsExplainerJson } = require('./threads.cjs');
    return JSON.parse(await stopAsExplainerJson(this.#running('stopProfiling'), this.#maxBufferSize));
  }

  async cancelProfiling() {
    this.#running('cancelProfiling').cancel();
  }

  /** @param {string} operation */
  #running(operation) {
    if (this.#profiling.stopped) {
      throw new DOMException(
        `Failed to execute '${operation}' on 'ProfilingSession': the profiling is already stopped.`,
        'InvalidStateError',
      );
    }
    return this.#profiling;
  }
}

defineInterface(ProfilingSession, ['stopProfiling', 'cancelProfiling']);

/**
 * @param {unknown} options a `ProfilingOptions`
 * @returns {Promise<ProfilingSession>} resolved when all threads are being profiled
 */
async function startProfiling(options) {
  const context = "Failed to execute 'startProfiling' on 'Performance'";
  const { interval, maxBufferSize, version } = toDictionary(options, 'ProfilingOptions', OPTIONS, context);
  if (version !== VERSION) {
    throw new DOMException(`${context}: there is no version ${version} of the format.`, 'NotSupportedError');
  }
  // Not earlier: a program that only reads the clock needs no sampler.
  ensureAgent();
  const { profileThreads } = require('./threads.cjs');
  const profiling = await profileThreads({ sampleInterval: interval, maxBufferSize, includeEntries: true });
  return new ProfilingSession(TOKEN, profiling, maxBufferSize);
}

/** @type {import('./timing/types.js').Extension} */
const extension = (requirePerformance) => ({
  members: {
    /** @param {unknown} options */
    async startProfiling(options) {
      requirePerformance(this);
      return startProfiling(options);
    },
  },
});

module.exports = { extension };
