'use strict';

// Requests that outlive their document: `fetch()` with `keepalive`, and `sendBeacon()`. The user's thread makes them.
// https://fetch.spec.whatwg.org/#request-keepalive-flag

const { NetworkError } = require('../fetch/request.cjs');

/** How many bytes the bodies of a thread's pending requests may have, and how much else there may be in them. */
const MAX_BODIES = 64 << 10;
const MAX_HEADS = 256 << 10;
const MAX_REQUESTS = 256;

/** What a header counts beside its texts, as in HTTP/2. https://www.rfc-editor.org/rfc/rfc9113#section-6.5.2 */
const HEADER = 32;

/** @typedef {import('../fetch/request.cjs').Request} Request */
/** @typedef {import('../fetch/request.cjs').Response} Response */

class KeepaliveRequests {
  #thread;
  #pending = 0;
  #bodies = 0;
  #heads = 0;

  /** @param {import('./page-thread.cjs').PageThread} thread */
  constructor(thread) {
    this.#thread = thread;
  }

  /**
   * @param {Request} request
   * @param {import('../fetch/request.cjs').Client} client
   * @returns {Promise<Response>}
   * @throws {NetworkError}
   */
  async fetch(request, { embedderPolicy }) {
    const { body, url, method = '', referrer = '', headers = [] } = request;
    const size = body?.byteLength ?? 0;
    const line = url.length + method.length + referrer.length;
    const head = headers.reduce((sum, [name, value]) => sum + name.length + value.length + HEADER, line);
    if (this.#pending === MAX_REQUESTS || this.#bodies + size > MAX_BODIES || this.#heads + head > MAX_HEADS)
      throw new NetworkError(`requests with keepalive may have ${MAX_BODIES} bytes together`);
    this.#count(1, size, head);
    try {
      const message = /** @type {const} */ ({ type: 'keepalive', request, embedderPolicy });
      const { response, error, timing } = await this.#thread.ask(message, size + head);
      if (response === undefined) throw Object.assign(new NetworkError(error ?? 'too many requests wait'), { timing });
      return response;
    } finally {
      this.#count(-1, -size, -head);
    }
  }

  /** @param {number} requests @param {number} bodies @param {number} heads */
  #count(requests, bodies, heads) {
    this.#pending += requests;
    this.#bodies += bodies;
    this.#heads += heads;
  }
}

module.exports = { KeepaliveRequests };
