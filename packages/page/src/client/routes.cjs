'use strict';

// What the user does with the requests of a page: `Page.route`.

const fs = require('node:fs/promises');
const path = require('node:path');
const { types } = require('node:util');

const { toHeaderList } = require('./navigate-options.cjs');
const { matchesUrl } = require('./url-patterns.cjs');

/** @typedef {import('./url-patterns.cjs').UrlPattern} UrlPattern */
/** @typedef {{ url: string, method: string, headers: [string, string][], body: Uint8Array | null, destination: string, mode: string }} RequestData */
/** @typedef {{ status: number, headers: [string, string][], body: Uint8Array } | { abort: true } | { send: object } | undefined} Answer */
/** @typedef {(route: Route, request: RoutedRequest) => unknown} Handler */
/** @typedef {{ pattern: UrlPattern, handler: Handler, left: number }} Entry */

/** Types of files by their extensions, for `fulfill({ path })`. @type {Record<string, string>} */
const TYPES = {
  '.css': 'text/css',
  '.gif': 'image/gif',
  '.html': 'text/html; charset=utf-8',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
};

/** Playwright's names of what requests are for. @type {Record<string, string>} */
const RESOURCE_TYPES = { '': 'fetch', iframe: 'document', frame: 'document', module: 'script', style: 'stylesheet' };

/** @param {unknown} body */
function toBytes(body) {
  if (body === undefined) return new Uint8Array();
  if (types.isUint8Array(body)) return body;
  return new TextEncoder().encode(String(body));
}

class RoutedRequest {
  #data;

  /** @param {RequestData} data */
  constructor(data) {
    this.#data = data;
  }

  url() {
    return this.#data.url;
  }

  method() {
    return this.#data.method;
  }

  /** By their names in lower case. @returns {Record<string, string>} */
  headers() {
    return Object.fromEntries(this.#data.headers.map(([name, value]) => [name.toLowerCase(), value]));
  }

  postDataBuffer() {
    const { body } = this.#data;
    return body === null ? null : Buffer.from(body);
  }

  postData() {
    return this.postDataBuffer()?.toString() ?? null;
  }

  postDataJSON() {
    const text = this.postData();
    return text === null ? null : JSON.parse(text);
  }

  resourceType() {
    const { destination } = this.#data;
    return RESOURCE_TYPES[destination] ?? destination;
  }

  isNavigationRequest() {
    return this.#data.mode === 'navigate';
  }
}

class Route {
  #request;
  #settle;
  /** Not of the public API. */
  isHandled = false;

  /** @param {RoutedRequest} request @param {(answer: Answer | 'fallback') => void} settle */
  constructor(request, settle) {
    this.#request = request;
    this.#settle = settle;
  }

  request() {
    return this.#request;
  }

  /** @param {Answer | 'fallback'} answer */
  #answer(answer) {
    if (this.isHandled) throw new Error('the route is already handled');
    this.isHandled = true;
    this.#settle(answer);
  }

  /** @param {import('../../index.js').FulfillOptions} [options] */
  async fulfill({ status = 200, headers = {}, contentType, body, json, path: file } = {}) {
    const list = toHeaderList(headers);
    let bytes = toBytes(body);
    let type = contentType;
    if (json !== undefined) {
      if (body !== undefined) throw new TypeError('fulfill takes `body` or `json`');
      bytes = toBytes(JSON.stringify(json));
      type ??= 'application/json';
    } else if (file !== undefined) {
      bytes = new Uint8Array(await fs.readFile(file));
      type ??= TYPES[path.extname(file).toLowerCase()] ?? 'application/octet-stream';
    }
    const has = (/** @type {string} */ wanted) => list.some(([name]) => name === wanted);
    if (type !== undefined) list.splice(0, Infinity, ...list.filter(([name]) => name !== 'content-type'));
    if (type !== undefined) list.push(['content-type', type]);
    // The page may read it, as if its server knew of the page.
    const { origin } = this.#request.headers();
    if (origin !== undefined && !has('access-control-allow-origin'))
      list.push(['access-control-allow-origin', origin], ['access-control-allow-credentials', 'true']);
    if (!has('content-length')) list.push(['content-length', String(bytes.byteLength)]);
    this.#answer({ status, headers: list, body: bytes });
  }

  async abort() {
    this.#answer({ abort: true });
  }

  /** @param {import('../../index.js').ContinueOptions} [options] */
  async continue({ url, method, headers, postData } = {}) {
    const body = postData === undefined || typeof postData === 'string' || types.isUint8Array(postData);
    this.#answer({
      send: {
        ...(url !== undefined && { url }),
        ...(method !== undefined && { method }),
        ...(headers !== undefined && { headers: toHeaderList(headers) }),
        ...(postData !== undefined && { body: toBytes(body ? postData : JSON.stringify(postData)) }),
      },
    });
  }

  /** Leaves the request to the next route that matches, or sends it. */
  async fallback() {
    this.#answer('fallback');
  }
}

class Routes {
  /** The newest first. @type {Entry[]} */
  #entries = [];

  get isEmpty() {
    return this.#entries.length === 0;
  }

  /** @param {UrlPattern} pattern @param {Handler} handler @param {number} times */
  add(pattern, handler, times) {
    this.#entries.unshift({ pattern, handler, left: times });
  }

  /** @param {UrlPattern} pattern @param {Handler} [handler] */
  remove(pattern, handler) {
    this.#entries = this.#entries.filter(
      (entry) => String(entry.pattern) !== String(pattern) || (handler !== undefined && entry.handler !== handler),
    );
  }

  clear() {
    this.#entries = [];
  }

  /**
   * @param {RequestData} data
   * @param {string} base the page's URL
   * @param {(error: unknown) => void} onError called with what a handler throws; the request then fails
   * @returns {Promise<Answer>}
   */
  async answer(data, base, onError) {
    for (const entry of [...this.#entries]) {
      if (entry.left <= 0 || !this.#entries.includes(entry)) continue;
      try {
        if (!matchesUrl(entry.pattern, data.url, base)) continue;
        entry.left -= 1;
        if (entry.left <= 0) this.#entries.splice(this.#entries.indexOf(entry), 1);
        const answer = await handle(entry.handler, new RoutedRequest(data), onError);
        if (answer !== 'fallback') return answer;
      } catch (error) {
        onError(error);
        return { abort: true };
      }
    }
    return undefined;
  }
}

/**
 * @param {Handler} handler
 * @param {RoutedRequest} request
 * @param {(error: unknown) => void} onError called with what is thrown after the request was answered
 * @returns {Promise<Answer | 'fallback'>}
 */
function handle(handler, request, onError) {
  return new Promise((resolve, reject) => {
    const route = new Route(request, resolve);
    (async () => handler(route, request))().catch((error) => {
      if (route.isHandled) onError(error);
      else reject(error);
    });
  });
}

module.exports = { Routes };
