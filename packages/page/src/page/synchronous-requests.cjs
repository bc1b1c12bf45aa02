'use strict';

// Stands in for jsdom's `living/xhr/XMLHttpRequest-impl.js`, and for `node:worker_threads` there: synchronous requests, which jsdom has a worker
// make, are made by the host while the thread waits.

const { MessageChannel, receiveMessageOnPort } = require('node:worker_threads');

const { thread } = require('./thread.cjs');
const realms = require('./window-realms.cjs');

/** @typedef {{ request: import('./page-request.cjs').RequestOfPage, body: Uint8Array | undefined }} Config */

/** In place of jsdom's worker. */
class Worker {
  unref() {}

  on() {}

  terminate() {}

  /** @param {{ sharedBuffer: SharedArrayBuffer, responsePort: import('node:worker_threads').MessagePort, config: Config }} message */
  postMessage({ sharedBuffer, responsePort, config: { request, body } }) {
    const [{ error, status, statusText, url, headers = [] }, bytes = new Uint8Array()] = thread.loader.sendNow(
      request,
      body,
    );
    /** @type {Record<string, string>} */
    const received = {};
    for (const [name, value] of headers) received[name] = name in received ? `${received[name]}, ${value}` : value;
    responsePort.postMessage({
      error,
      status,
      statusText,
      responseURL: url,
      responseHeaders: received,
      // They are filtered already.
      filteredResponseHeaders: new Set(),
      responseBytes: bytes,
      totalReceivedChunkSize: bytes.byteLength,
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
      window: realms.numberOf(this._globalObject),
    },
    body: this._body ?? undefined,
  };
};

exports.implementation = implementation;
