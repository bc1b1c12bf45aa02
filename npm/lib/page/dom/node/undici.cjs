'use strict';

// `undici` for jsdom's WebSocket. Pages of this host have none: each connection fails, as an unreachable server's does.

exports.WebSocket = class WebSocket {
  #listeners = new Map();
  readyState = 0;

  constructor() {
    setImmediate(() => {
      this.readyState = 3;
      this.#fire('error', {});
      this.#fire('close', { code: 1006, reason: '', wasClean: false });
    });
  }

  #fire(type, event) {
    for (const listener of this.#listeners.get(type) ?? []) listener({ type, ...event });
  }

  addEventListener(type, listener) {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  send() {}
  close() {}
};
