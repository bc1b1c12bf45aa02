'use strict';

// Stands in for jsdom's `living/xhr/XMLHttpRequest-impl.js`, and for `node:worker_threads` there: synchronous requests,
// which jsdom has a worker make, are made by the host while the thread waits.

const { MessageChannel, receiveMessageOnPort } = require('node:worker_threads');

const { thread } = require('../thread/thread.cjs');

/** @typedef {{ request: import('../loading/loader.cjs').RequestOfPage, body: Uint8Array | undefined }} Config */

/** In place of jsdom's worker. */
class Worker {
  unref() {}

  on() {}

  terminate() {}

  /** @param {{ sharedBuffer: SharedArrayBuffer, responsePort: import('node:worker_threads').MessagePort, config: Config }} message */
  postMessage({ sharedBuffer, responsePort, config: { request, body } }) {
    const response = thread.loader.sendNow(request, body);
    /** @type {Record<string, string>} */
    const headers = {};
    for (const [name, value] of response?.headers ?? [])
      headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
    responsePort.postMessage({
      error: response === undefined ? 'the request failed' : undefined,
      status: response?.status,
      statusText: response?.statusText,
      responseURL: response?.url,
      responseHeaders: headers,
      // They are filtered already.
      filteredResponseHeaders: new Set(),
      responseBytes: response?.body ?? new Uint8Array(),
      totalReceivedChunkSize: response?.body.byteLength ?? 0,
      uploadComplete: true,
    });
    // It was received, and answered.
    new Int32Array(sharedBuffer).fill(1);
  }
}

// The original requires these.
Object.assign(exports, { MessageChannel, Worker, receiveMessageOnPort });

const { implementation } = require('original:lib/jsdom/living/xhr/XMLHttpRequest-impl.js');

/** @returns {Config} */
implementation.prototype._serializeRequest = function serializeRequest() {
  return {
    request: {
      url: this._url,
      method: this._method,
      headers: [...this._requestHeaders],
      mode: 'cors',
      credentials: this._withCredentials ? 'include' : 'same-origin',
      referrer: this._referrer,
      usesPreflight: this._uploadListener,
      initiator: 'xmlhttprequest',
      window: this._dispatcher.window,
    },
    body: this._body ?? undefined,
  };
};

exports.implementation = implementation;
