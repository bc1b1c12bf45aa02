'use strict';

// The blob: URLs of a page's threads, for those of its threads that did not make them. The bytes are shared, not copied.
// https://w3c.github.io/FileAPI/#blob-url-store

class BlobRegistry {
  /** By URL. @type {Map<string, { site: object, origin: string, media: string, bytes: SharedArrayBuffer }>} */
  #blobs = new Map();

  /** @param {import('./sites.cjs').Site} site that made it */
  add(site, { url, media, bytes }) {
    this.#blobs.set(url, { site, origin: site.document.origin, media, bytes });
  }

  remove(site, url) {
    if (this.#blobs.get(url)?.site === site) this.#blobs.delete(url);
  }

  /** What a thread of this origin gets for a URL. */
  get(url, origin) {
    const blob = this.#blobs.get(url);
    return blob?.origin === origin ? { media: blob.media, bytes: blob.bytes } : undefined;
  }

  /** They end with who made them. */
  forget(site) {
    for (const [url, blob] of this.#blobs) if (blob.site === site) this.#blobs.delete(url);
  }
}

module.exports = { BlobRegistry };
