'use strict';

// Requests that outlive their document, which the host makes for page threads.
// https://fetch.spec.whatwg.org/#request-keepalive-flag

const { NetworkError } = require('../fetch/request.cjs');
const { messageOf } = require('../client/errors.cjs');
const { waitAtMost } = require('./time-limit.cjs');

/** How long a request may take, in milliseconds. */
const MAX_TIME = 30_000;

/** @typedef {import('../fetch/request.cjs').Client} Client */
/** @typedef {import('./thread-handle.cjs').ThreadHandle} ThreadHandle */
/** @typedef {import('../page/thread-messages.js').KeptRequest} KeptRequest */

class KeptRequests {
  /** @type {Set<Promise<void>>} */
  #pending = new Set();

  /**
   * @param {import('../fetch/network.cjs').Network} network
   * @param {Client} client
   * @param {ThreadHandle} handle of the thread that gets the answer, if it is still there
   * @param {KeptRequest} message
   */
  async start(network, client, handle, message) {
    const pending = this.#send(network, client, handle, message);
    this.#pending.add(pending);
    await pending;
    this.#pending.delete(pending);
  }

  /**
   * @param {import('../fetch/network.cjs').Network} network
   * @param {Client} client
   * @param {ThreadHandle} handle
   * @param {KeptRequest} message
   */
  async #send(network, client, handle, { id, request }) {
    try {
      const response = await network.fetch(request, client, AbortSignal.timeout(MAX_TIME));
      handle.post({ type: 'answer', id, response });
    } catch (error) {
      const timing = error instanceof NetworkError ? error.timing : undefined;
      handle.post({ type: 'answer', id, error: messageOf(error), timing });
    }
  }

  /** Waits for the pending requests, but no longer than this. @param {number} milliseconds */
  async settled(milliseconds) {
    await waitAtMost(milliseconds, Promise.all(this.#pending));
  }
}

module.exports = { KeptRequests };
