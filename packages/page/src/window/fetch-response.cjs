'use strict';

// The interface `Response`. https://fetch.spec.whatwg.org/#response-class

const host = require('selfprof:host');
const { isStream } = require('./streams.cjs');
const { Body, extractBody, mixInBody } = require('./fetch-body.cjs');
const { defineAttributes, exposeInterface } = require('./webidl-members.cjs');

/** https://fetch.spec.whatwg.org/#null-body-status */
const NULL_BODY_STATUSES = [101, 103, 204, 205, 304];

/**
 * A response as the page may see it: see page/loading/loader.cjs.
 *
 * @typedef {{ type: string, url: string, redirected: boolean, status: number, statusText: string }} ResponseMembers
 */

/** @type {(response: ResponseMembers, bytes: Uint8Array<ArrayBuffer> | null, headers: unknown) => Response} */
let newResponse;
/** Throws for other objects. @type {(response: Response) => { members: ResponseMembers, body: Body }} */
let readResponse;

class Response {
  /** @type {ResponseMembers} */
  #response;
  /** @type {Headers} */
  #headers;
  /** @type {Body} */
  #body;

  static {
    newResponse = (response, bytes, headers) => {
      const made = new Response();
      made.#response = response;
      made.#headers = host.newHeaders(headers, 'immutable');
      made.#body = new Body(bytes, made.#headers);
      return made;
    };
    readResponse = (response) => ({ members: response.#response, body: response.#body });
  }

  /**
   * @param {any} [body] of the page
   * @param {any} [init] of the page
   */
  constructor(body = null, init = {}) {
    const options = init ?? {};
    const status = options.status === undefined ? 200 : Number(options.status) & 0xffff;
    if (status < 200 || status > 599)
      throw new RangeError(`The status provided (${options.status}) is outside the range [200, 599].`);
    const statusText = options.statusText === undefined ? '' : `${options.statusText}`;
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(statusText)) throw new TypeError('Invalid statusText');
    this.#response = { type: 'default', url: '', redirected: false, status, statusText };
    this.#headers = host.newHeaders(options.headers, 'response');
    /** @type {Uint8Array<ArrayBuffer> | ReadableStream | null} */
    let content = null;
    if (body !== null) {
      if (NULL_BODY_STATUSES.includes(status)) throw new TypeError('Response with null body status cannot have body');
      const extracted = isStream(body) ? { bytes: body, type: null } : extractBody(body);
      content = extracted.bytes;
      if (extracted.type !== null && !this.#headers.has('content-type'))
        this.#headers.append('content-type', extracted.type);
    }
    this.#body = new Body(content, this.#headers);
  }

  static error() {
    return newResponse({ type: 'error', url: '', redirected: false, status: 0, statusText: '' }, null, []);
  }

  /**
   * @param {any} data of the page
   * @param {any} [init] of the page
   */
  static json(data, init = {}) {
    const text = JSON.stringify(data);
    if (text === undefined) throw new TypeError('The data is not JSON serializable');
    const response = new Response(text, init);
    if (init?.headers === undefined || !host.newHeaders(init.headers, 'none').has('content-type')) {
      response.#headers.set('content-type', 'application/json');
    }
    return response;
  }

  /**
   * @param {any} url of the page
   * @param {any} [status] of the page
   */
  static redirect(url, status = 302) {
    const { href } = new URL(`${url}`, host.baseUrl());
    if (![301, 302, 303, 307, 308].includes(status)) throw new RangeError('Invalid status code');
    const response = new Response(null, { status });
    response.#headers.set('location', href);
    return response;
  }

  get url() {
    return this.#response.url.replace(/#.*$/s, '');
  }

  get ok() {
    return this.#response.status >= 200 && this.#response.status <= 299;
  }

  get headers() {
    return this.#headers;
  }

  clone() {
    const response = new Response();
    response.#response = this.#response;
    response.#headers = host.newHeaders(this.#headers, 'response');
    response.#body = this.#body.copy(response.#headers);
    return response;
  }
}

defineAttributes(
  Response,
  ['type', 'redirected', 'status', 'statusText'],
  (response, name) => readResponse(response).members[/** @type {'type'} */ (name)],
);
mixInBody(Response, (response) => readResponse(response).body);

function installResponse() {
  exposeInterface(Response, { statics: ['error', 'json', 'redirect'] });
}

module.exports = { NULL_BODY_STATUSES, installResponse, newResponse };
