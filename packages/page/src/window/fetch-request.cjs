'use strict';

// The interface `Request`. https://fetch.spec.whatwg.org/#request-class

const host = require('selfprof:host');
const { REFERRER_POLICIES } = require('../fetch/referrer-policies.cjs');
const { normalizedMethod } = require('../fetch/request-methods.cjs');
const { Body, exposeInterface, extractBody, mixInBody } = require('./fetch-body.cjs');
const { toEnumeration } = require('./webidl-members.cjs');

const MODES = ['same-origin', 'no-cors', 'cors'];
const CREDENTIALS = ['omit', 'same-origin', 'include'];
const REDIRECTS = ['follow', 'error', 'manual'];
const CACHES = ['default', 'no-store', 'reload', 'no-cache', 'force-cache', 'only-if-cached'];

/**
 * The members of a request that a page can set.
 *
 * @typedef {object} RequestMembers
 * @property {string} url
 * @property {string} method
 * @property {string} mode
 * @property {string} credentials
 * @property {string} redirect
 * @property {string} cache
 * @property {string} referrer
 * @property {string} referrerPolicy
 * @property {string} integrity
 * @property {boolean} keepalive
 */

/** @type {(request: Request) => RequestMembers & { headers: Headers, signal: AbortSignal, body: Body }} */
let readRequest;

class Request {
  /** @type {RequestMembers} */
  #request;
  /** @type {Headers} */
  #headers;
  /** @type {AbortSignal} */
  #signal;
  /** @type {Body} */
  #body;

  static {
    readRequest = (request) => ({
      ...request.#request,
      headers: request.#headers,
      signal: request.#signal,
      body: request.#body,
    });
  }

  /**
   * @param {any} input of the page
   * @param {any} [init] of the page
   */
  constructor(input, init = {}) {
    if (arguments.length < 1)
      throw new TypeError("Failed to construct 'Request': 1 argument required, but only 0 present.");
    /** @type {Request | undefined} */
    const from = typeof input === 'object' && input !== null && #request in input ? input : undefined;
    const options = init ?? {};
    if (typeof options !== 'object' && typeof options !== 'function')
      throw new TypeError("Failed to construct 'Request': the options are not an object.");
    const base = from === undefined ? defaultsFor(`${input}`) : from.#request;
    const choose = (
      /** @type {'mode' | 'credentials' | 'redirect' | 'cache' | 'referrerPolicy'} */ name,
      /** @type {string[]} */ values,
      /** @type {string} */ type,
    ) => (options[name] === undefined ? base[name] : toEnumeration(options[name], values, type));
    if (options.mode === 'navigate') throw new TypeError("The mode 'navigate' cannot be used.");
    this.#request = {
      url: base.url,
      method: options.method === undefined ? base.method : toMethod(`${options.method}`),
      mode: choose('mode', MODES, 'RequestMode'),
      credentials: choose('credentials', CREDENTIALS, 'RequestCredentials'),
      redirect: choose('redirect', REDIRECTS, 'RequestRedirect'),
      cache: choose('cache', CACHES, 'RequestCache'),
      referrer: options.referrer === undefined ? base.referrer : toReferrer(`${options.referrer}`),
      referrerPolicy: choose('referrerPolicy', REFERRER_POLICIES, 'ReferrerPolicy'),
      integrity: options.integrity === undefined ? base.integrity : `${options.integrity}`,
      keepalive: options.keepalive === undefined ? base.keepalive : Boolean(options.keepalive),
    };
    const { method, mode } = this.#request;
    if (mode === 'no-cors' && !['GET', 'HEAD', 'POST'].includes(method))
      throw new TypeError(`'${method}' is unsupported in no-cors mode.`);
    const signal = options.signal === undefined && from !== undefined ? from.#signal : options.signal;
    if (signal !== undefined && signal !== null && !(signal instanceof AbortSignal))
      throw new TypeError("member signal is not of type 'AbortSignal'.");
    this.#signal = followSignal(signal);
    this.#headers = host.newHeaders(
      options.headers ?? (from === undefined ? undefined : from.#headers),
      mode === 'no-cors' ? 'request-no-cors' : 'request',
    );
    const given = options.body ?? null;
    if (
      (given !== null || (from !== undefined && from.#body.bytes !== null)) &&
      (method === 'GET' || method === 'HEAD')
    ) {
      throw new TypeError('Request with GET/HEAD method cannot have body.');
    }
    if (given !== null) {
      const { bytes, type } = extractBody(given);
      if (type !== null && !this.#headers.has('content-type')) this.#headers.append('content-type', type);
      this.#body = new Body(bytes, this.#headers);
    } else {
      this.#body = from === undefined ? new Body(null, this.#headers) : from.#body.copy(this.#headers);
    }
  }

  get method() {
    return this.#request.method;
  }
  get url() {
    return this.#request.url;
  }
  get headers() {
    return this.#headers;
  }
  get destination() {
    return this.#request && '';
  }
  get referrer() {
    return this.#request.referrer;
  }
  get referrerPolicy() {
    return this.#request.referrerPolicy;
  }
  get mode() {
    return this.#request.mode;
  }
  get credentials() {
    return this.#request.credentials;
  }
  get cache() {
    return this.#request.cache;
  }
  get redirect() {
    return this.#request.redirect;
  }
  get integrity() {
    return this.#request.integrity;
  }
  get keepalive() {
    return this.#request.keepalive;
  }
  get signal() {
    return this.#signal;
  }
  get duplex() {
    return this.#request && 'half';
  }

  clone() {
    return new Request(this);
  }
}

mixInBody(Request, (request) => readRequest(request).body);

/** https://fetch.spec.whatwg.org/#dom-request @param {string} text */
function toMethod(text) {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text)) throw new TypeError(`'${text}' is not a valid HTTP method.`);
  if (/^(connect|trace|track)$/i.test(text)) throw new TypeError(`'${text}' HTTP method is unsupported.`);
  return normalizedMethod(text);
}

/** @param {string} text */
function toReferrer(text) {
  if (text === '') return '';
  const { href, origin } = new URL(text, host.baseUrl());
  return href === 'about:client' || origin !== globalThis.origin ? 'about:client' : href;
}

/** A new signal that is aborted with another one. @param {AbortSignal | null | undefined} signal */
function followSignal(signal) {
  const controller = new AbortController();
  if (signal === undefined || signal === null) return controller.signal;
  if (signal.aborted) controller.abort(signal.reason);
  else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  return controller.signal;
}

/** The members of a request for a URL that sets none. @param {string} text @returns {RequestMembers} */
function defaultsFor(text) {
  const url = new URL(text, host.baseUrl());
  if (url.username !== '' || url.password !== '') throw new TypeError(`'${url}' is a URL with credentials.`);
  return {
    url: url.href,
    method: 'GET',
    mode: 'cors',
    credentials: 'same-origin',
    redirect: 'follow',
    cache: 'default',
    referrer: 'about:client',
    referrerPolicy: '',
    integrity: '',
    keepalive: false,
  };
}

function installRequest() {
  exposeInterface(Request, [
    'method',
    'url',
    'headers',
    'destination',
    'referrer',
    'referrerPolicy',
    'mode',
    'credentials',
    'cache',
    'redirect',
    'integrity',
    'keepalive',
    'signal',
    'duplex',
    'clone',
  ]);
}

module.exports = { Request, installRequest, readRequest };
