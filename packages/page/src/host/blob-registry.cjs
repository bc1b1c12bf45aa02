'use strict';

/** @typedef {import('./agent-thread.cjs').AgentThread} AgentThread */
/** @typedef {import('../any-realm/thread-messages.js').SharedBlob} SharedBlob */

/**
 * The blob: URLs that the threads of a page made, for its other threads. The bytes are shared, not copied.
 * https://w3c.github.io/FileAPI/#blob-url-store
 */
class BlobRegistry {
  /** By URL. @type {Map<string, SharedBlob & { thread: AgentThread, origin: string }>} */
  #blobs = new Map();

  /** @param {AgentThread} thread that made it @param {SharedBlob & { url: string }} blob */
  add(thread, { url, media, bytes }) {
    this.#blobs.set(url, { thread, origin: thread.document.origin, media, bytes });
  }

  /** @param {AgentThread} thread @param {string} url */
  remove(thread, url) {
    if (this.#blobs.get(url)?.thread === thread) this.#blobs.delete(url);
  }

  /** The blob at a URL, for a thread of this origin. @param {string} url @param {string} origin @returns {SharedBlob | undefined} */
  get(url, origin) {
    const blob = this.#blobs.get(url);
    return blob?.origin === origin ? { media: blob.media, bytes: blob.bytes } : undefined;
  }

  /** Blob URLs end with the thread that made them. @param {AgentThread} thread */
  forget(thread) {
    for (const [url, blob] of this.#blobs) if (blob.thread === thread) this.#blobs.delete(url);
  }

  get size() {
    return this.#blobs.size;
  }
}

module.exports = { BlobRegistry };
