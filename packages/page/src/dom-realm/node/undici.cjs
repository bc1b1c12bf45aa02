'use strict';

// `undici` for jsdom's WebSocket. Pages of this host have no WebSockets: each connection fails, as if the server were unreachable.

exports.WebSocket = class WebSocket {
  /** @type {Map<string, ((event: object) => void)[]>} */
  #listeners = new Map();
  readyState = 0;

  constructor() {
    setImmediate(() => {
      this.readyState = 3;
      this.#fire('error', {});
      this.#fire('close', { code: 1006, reason: '', wasClean: false });
    });
  }

  /**
   * @param {string} type
   * @param {object} event
   */
  #fire(type, event) {
    for (const listener of this.#listeners.get(type) ?? []) listener({ type, ...event });
  }

  /**
   * @param {string} type
   * @param {(event: object) => void} listener
   */
  addEventListener(type, listener) {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  send() {}
  close() {}
};
