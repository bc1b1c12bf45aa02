'use strict';

// The recording of a document's load that the page's user asked for with the option `profile` of a navigation. It begins before the
// document's first script and shows what a profiler of the document itself would: the functions of its realm. It needs no permission from
// the document and does not count among the document's sessions.

const native = require('selfprof/internal/native.cjs');

class LoadRecording {
  #session;

  /**
   * @param {import('./realm.cjs').Realm} realm
   * @param {import('./thread-messages.js').RecordingOptions} options
   */
  constructor(realm, options) {
    // The trace itself shows that it has as many samples as it may, so it needs no listener.
    this.#session = realm.open({ ...options, includeEntries: false }, { onFull() {}, onChunk() {} });
  }

  /** Ends the recording. @returns {Promise<{ bytes: Uint8Array } | { error: string }>} a trace as gzipped JSON */
  async take() {
    try {
      const { trace } = await native.close(this.#session.id, 'json-gzip');
      setImmediate(native.releaseReadProfiles).unref();
      // A copy: memory of the addon cannot be transferred to another thread.
      return { bytes: /** @type {Uint8Array} */ (trace).slice() };
    } catch (error) {
      return { error: String(error instanceof Error ? error.message : error) };
    }
  }
}

module.exports = { LoadRecording };
