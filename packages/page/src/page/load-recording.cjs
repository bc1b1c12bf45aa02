'use strict';

// The recording of a document's load that the page's user asked for with the option `profile` of a navigation. It begins before the
// document's first script and shows what a profiler of the document itself would: the functions of its realm. It needs no permission from
// the document and does not count among the document's sessions.

const native = require('selfprof/internal/native.cjs');
const { stacksFor } = require('./window-native.cjs');

/** How many stacks a short recording may hold, too. */
const MIN_STACKS = 100_000;

/** How many bytes its frames may take. Their names become JSON, with up to six characters for a byte. */
const MAX_FRAME_BYTES = 16 * 2 ** 20;

class LoadRecording {
  #session;

  /**
   * @param {import('./realm.cjs').Realm} realm
   * @param {{ sampleInterval: number, maxBufferSize: number, includeSameOriginFrames: boolean }} options
   */
  constructor(realm, options) {
    // The trace itself shows that it has as many samples as it may, so it needs no listener.
    const listener = { onFull() {}, onChunk() {} };
    const maxStacks = Math.max(stacksFor(options.maxBufferSize), MIN_STACKS);
    const limits = { maxStacks, maxFrameBytes: MAX_FRAME_BYTES };
    this.#session = realm.open({ ...options, ...limits, includeEntries: false }, listener);
  }

  /**
   * Ends the recording.
   *
   * @returns {Promise<{ bytes: Uint8Array, hasFullTables: boolean } | { error: string }>} a trace as gzipped JSON, and whether it ends early
   */
  async take() {
    try {
      const { trace, hasFullTables } = await native.close(this.#session.id, 'json-gzip');
      setImmediate(native.releaseReadProfiles).unref();
      // A copy: memory of the addon cannot be transferred to another thread.
      return { bytes: /** @type {Uint8Array} */ (trace).slice(), hasFullTables };
    } catch (error) {
      return { error: String(error instanceof Error ? error.message : error) };
    }
  }
}

module.exports = { LoadRecording };
