'use strict';

// Requests that outlive their document: `fetch()` with `keepalive`, and `sendBeacon()`. The host makes them.
// https://fetch.spec.whatwg.org/#request-keepalive-flag

const { NetworkError } = require('../fetch/request.cjs');

/** How many bytes the bodies of all pending requests may have together. https://fetch.spec.whatwg.org/#http-network-or-cache-fetch */
const MAX_BODIES = 64 << 10;

/** @typedef {import('../fetch/request.cjs').Request} Request */
/** @typedef {import('../fetch/request.cjs').Response} Response */

class KeepaliveRequests {
  #thread;
  #bodies = 0;

  /** @param {Pick<import('./page-thread.cjs').PageThread, 'ask'>} thread */
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
    const size = request.body?.byteLength ?? 0;
    if (this.#bodies + size > MAX_BODIES)
      throw new NetworkError(`requests with keepalive may have ${MAX_BODIES} bytes together`);
    this.#bodies += size;
    try {
      const { response, error, timing } = await this.#thread.ask({ type: 'keepalive', request, embedderPolicy });
      if (response === undefined) throw Object.assign(new NetworkError(error), { timing });
      return response;
    } finally {
      this.#bodies -= size;
    }
  }
}

module.exports = { KeepaliveRequests };
