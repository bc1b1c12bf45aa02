'use strict';

/** @typedef {import('./agent-thread.cjs').AgentThread} AgentThread */
/** @typedef {import('../page/thread-messages.js').SharedBlob} SharedBlob */

/**
 * The blob: URLs that the threads of a page made, for its other threads. The bytes are shared, not copied.
 * https://w3c.github.io/FileAPI/#blob-url-store
 */
class BlobRegistry {
  /** By thread that made them, and URL. @type {Map<AgentThread, Map<string, SharedBlob>>} */
  #threads = new Map();

  /** @param {AgentThread} thread that made it @param {SharedBlob & { url: string }} blob */
  add(thread, { url, media, bytes }) {
    let blobs = this.#threads.get(thread);
    if (blobs === undefined) {
      blobs = new Map();
      this.#threads.set(thread, blobs);
    }
    blobs.set(url, { media, bytes });
  }

  /** @param {AgentThread} thread @param {string} url */
  remove(thread, url) {
    this.#threads.get(thread)?.delete(url);
  }

  /** The blob at a URL, for a thread of this origin. @param {string} url @param {string} origin @returns {SharedBlob | undefined} */
  get(url, origin) {
    for (const [thread, blobs] of this.#threads) {
      const blob = thread.document.origin === origin ? blobs.get(url) : undefined;
      if (blob !== undefined) return blob;
    }
    return undefined;
  }

  /** Blob URLs end with the thread that made them. @param {AgentThread} thread */
  forget(thread) {
    this.#threads.delete(thread);
  }

  get size() {
    return [...this.#threads.values()].reduce((sum, { size }) => sum + size, 0);
  }
}

module.exports = { BlobRegistry };
