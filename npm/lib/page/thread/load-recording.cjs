'use strict';

// The recording of a document's load that its user asked for. It begins before the document's first script, and shows what a
// profiler of the document's own would: the functions of its realm. It takes no permission of the document, whose user wants
// it, and is none of the document's sessions.

const native = require('../../native.cjs');

class LoadRecording {
  #session;

  /**
   * @param {number} realm
   * @param {{ sampleInterval: number, maxBufferSize: number, includeSameOriginFrames: boolean }} wishes
   */
  constructor(realm, wishes) {
    // A full buffer is seen in the trace: nobody waits for it to fill.
    const listener = new native.Listener(
      () => {},
      () => {},
    );
    this.#session = native.open({ ...wishes, bufferPolicy: 'stop', maxChunks: 1, includeEntries: false, realm }, listener);
  }

  /** @returns {Promise<{ bytes: Uint8Array } | { error: string }>} */
  async take() {
    try {
      const { trace } = await native.close(this.#session.id, 'json-gzip');
      setImmediate(native.bury).unref();
      // A copy, for memory of an addon cannot go to another thread.
      return { bytes: trace.slice() };
    } catch (error) {
      return { error: String(error.message) };
    }
  }
}

module.exports = { LoadRecording };
