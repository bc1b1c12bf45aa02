'use strict';

// The blob URL store of a thread. https://w3c.github.io/FileAPI/#blob-url-store

const { randomUUID } = require('node:crypto');

/** How many bytes, and how many URLs, a page may keep this way. */
const MAX_BYTES = 256 << 20;
const MAX_URLS = 100_000;

class Blobs {
  #origin;
  #blobs = new Map();
  #size = 0;

  /** @param {string} origin of the documents, as scripts see it */
  constructor(origin) {
    this.#origin = origin;
  }

  /** @returns {string} a URL, empty when there is no room */
  add(bytes, type) {
    if (this.#blobs.size >= MAX_URLS || this.#size + bytes.byteLength > MAX_BYTES) return '';
    const url = `blob:${this.#origin}/${randomUUID()}`;
    const copy = new Uint8Array(bytes);
    this.#blobs.set(url, { type, bytes: copy });
    this.#size += copy.byteLength;
    return url;
  }

  /** @returns {{ type: string, bytes: Uint8Array } | undefined} */
  get(url) {
    return this.#blobs.get(url);
  }

  remove(url) {
    this.#size -= this.#blobs.get(url)?.bytes.byteLength ?? 0;
    this.#blobs.delete(url);
  }
}

module.exports = { Blobs };
