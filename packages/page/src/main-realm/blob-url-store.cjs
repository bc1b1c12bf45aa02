'use strict';

// The blob URL store of a thread. https://w3c.github.io/FileAPI/#blob-url-store
//
// The user's thread has a copy of each entry for the page's other threads: a worker may fetch what its page made.

const { randomUUID } = require('node:crypto');

/** How many bytes, and how many URLs, a thread may keep this way. */
const MAX_BYTES = 256 << 20;
const MAX_URLS = 100_000;

/** What the messages take that say that a URL was made and is gone, with its buffer, in bytes. */
const OVERHEAD = 2_000;

class BlobUrlStore {
  #thread;
  #origin;
  /** @type {Map<string, { type: string, bytes: Uint8Array }>} */
  #blobs = new Map();
  #size = 0;

  /**
   * @param {import('./page-thread.cjs').PageThread} thread
   * @param {string} origin of the documents, as scripts see it
   */
  constructor(thread, origin) {
    this.#thread = thread;
    this.#origin = origin;
  }

  /**
   * @param {Uint8Array} bytes
   * @param {string} type
   * @returns {string} a URL, empty when there is no room
   */
  add(bytes, type) {
    const length = bytes.byteLength;
    if (this.#blobs.size >= MAX_URLS || this.#size + length + type.length > MAX_BYTES) return '';
    const url = `blob:${this.#origin}/${randomUUID()}`;
    const copy = new Uint8Array(new SharedArrayBuffer(length));
    copy.set(bytes);
    const message = { type: 'blob made', url, media: type, bytes: copy.buffer };
    if (!this.#thread.tellWithMemory(message, length, OVERHEAD + type.length)) return '';
    this.#blobs.set(url, { type, bytes: copy });
    this.#size += length + type.length;
    return url;
  }

  /** A blob that this thread made. @param {string} url @returns {{ type: string, bytes: Uint8Array } | undefined} */
  get(url) {
    const blob = this.#blobs.get(url);
    return blob && { type: blob.type, bytes: blob.bytes.slice() };
  }

  /** The same without a copy, for another thread. @param {string} url @returns {{ type: string, bytes: Uint8Array } | undefined} */
  shared(url) {
    return this.#blobs.get(url);
  }

  /** A blob that any thread of the page made. @param {string} url @returns {Promise<{ type: string, bytes: Uint8Array } | undefined>} */
  async find(url) {
    const own = this.get(url);
    if (own !== undefined) return own;
    const { blob } = await this.#thread.ask({ type: 'blob', url }, url.length);
    return blob && { type: blob.media, bytes: new Uint8Array(new Uint8Array(blob.bytes)) };
  }

  /** @param {string} url */
  remove(url) {
    const blob = this.#blobs.get(url);
    if (blob === undefined) return;
    this.#size -= blob.bytes.byteLength + blob.type.length;
    this.#blobs.delete(url);
    this.#thread.tell({ type: 'blob gone', url });
  }
}

module.exports = { BlobUrlStore };
