'use strict';

// The blob URL store of a thread. https://w3c.github.io/FileAPI/#blob-url-store
//
// The host has a copy of each entry for the page's other threads: a worker may fetch what its page made.

const { randomUUID } = require('node:crypto');

/** @typedef {{ type: string, bytes: Uint8Array }} Blob */

class BlobUrlStore {
  #thread;
  #origin;
  /** @type {Map<string, Blob>} */
  #blobs = new Map();

  /**
   * @param {Pick<import('../page-thread.cjs').PageThread, 'tell' | 'ask'>} thread
   * @param {string} origin of the documents, as scripts see it
   */
  constructor(thread, origin) {
    this.#thread = thread;
    this.#origin = origin;
  }

  /** @param {Uint8Array} bytes @param {string} type @returns {string} a URL */
  add(bytes, type) {
    const url = `blob:${this.#origin}/${randomUUID()}`;
    const copy = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
    copy.set(bytes);
    this.#thread.tell({ type: 'blob made', url, media: type, bytes: copy.buffer });
    this.#blobs.set(url, { type, bytes: copy });
    return url;
  }

  /** A blob that this thread made, without a copy. @param {string} url @returns {Blob | undefined} */
  shared(url) {
    return this.#blobs.get(url);
  }

  /** A blob that any thread of the page made. @param {string} url @returns {Promise<Blob | undefined>} */
  async find(url) {
    const own = this.#blobs.get(url);
    if (own !== undefined) return { type: own.type, bytes: own.bytes.slice() };
    const { blob } = await this.#thread.ask({ type: 'blob', url });
    return blob && { type: blob.media, bytes: new Uint8Array(new Uint8Array(blob.bytes)) };
  }

  /** @param {string} url */
  remove(url) {
    if (this.#blobs.delete(url)) this.#thread.tell({ type: 'blob gone', url });
  }
}

module.exports = { BlobUrlStore };
