'use strict';

// The interface `Request`. https://fetch.spec.whatwg.org/#request-class

const host = require('selfprof:host');
const { REFERRER_POLICIES } = require('../fetch/referrer-policies.cjs');
const { normalizedMethod } = require('../fetch/request-methods.cjs');
const { Body, extractBody, mixInBody } = require('./fetch-body.cjs');
const { defineAttributes, exposeInterface, requireArguments, toEnumeration } = require('./webidl-members.cjs');

/** Members with a fixed set of values: the name of the type, and the values. */
const ENUMERATIONS = Object.entries({
  mode: ['RequestMode', 'same-origin', 'no-cors', 'cors'],
  credentials: ['RequestCredentials', 'omit', 'same-origin', 'include'],
  redirect: ['RequestRedirect', 'follow', 'error', 'manual'],
  cache: ['RequestCache', 'default', 'no-store', 'reload', 'no-cache', 'force-cache', 'only-if-cached'],
  referrerPolicy: ['ReferrerPolicy', ...REFERRER_POLICIES],
});

/** The members of a request that a page does not set. */
const DEFAULTS = {
  url: '',
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

/** @typedef {typeof DEFAULTS & { headers: Headers, signal: AbortSignal }} RequestMembers */

/** Throws for other objects. @type {(request: Request) => { members: RequestMembers, body: Body }} */
let readRequest;

class Request {
  /** @type {RequestMembers} */
  #members;
  /** @type {Body} */
  #body;

  static {
    readRequest = (request) => ({ members: request.#members, body: request.#body });
  }

  /**
   * @param {any} input of the page
   * @param {any} [init] of the page
   */
  constructor(input, init = {}) {
    requireArguments(arguments.length, "Failed to construct 'Request'");
    const isRequest = typeof input === 'object' && input !== null && #members in input;
    const from = isRequest ? readRequest(input) : undefined;
    const options = init ?? {};
    if (typeof options !== 'object' && typeof options !== 'function')
      throw new TypeError("Failed to construct 'Request': the options are not an object.");
    const members = { ...(from?.members ?? { ...DEFAULTS, url: toUrl(`${input}`) }) };
    if (options.mode === 'navigate') throw new TypeError("The mode 'navigate' cannot be used.");
    if (options.method !== undefined) members.method = toMethod(`${options.method}`);
    for (const [name, [type, ...values]] of ENUMERATIONS)
      if (options[name] !== undefined) Object.assign(members, { [name]: toEnumeration(options[name], values, type) });
    if (options.referrer !== undefined) members.referrer = toReferrer(`${options.referrer}`);
    if (options.integrity !== undefined) members.integrity = `${options.integrity}`;
    if (options.keepalive !== undefined) members.keepalive = Boolean(options.keepalive);
    const { method, mode } = members;
    if (mode === 'no-cors' && !['GET', 'HEAD', 'POST'].includes(method))
      throw new TypeError(`'${method}' is unsupported in no-cors mode.`);
    const signal = options.signal === undefined ? from?.members.signal : options.signal;
    if (signal !== undefined && signal !== null && !(signal instanceof AbortSignal))
      throw new TypeError("member signal is not of type 'AbortSignal'.");
    const headers = host.newHeaders(
      options.headers ?? from?.members.headers,
      mode === 'no-cors' ? 'request-no-cors' : 'request',
    );
    this.#members = { ...members, headers, signal: AbortSignal.any(signal ? [signal] : []) };
    const given = options.body ?? null;
    if ((given !== null || (from?.body.bytes ?? null) !== null) && (method === 'GET' || method === 'HEAD'))
      throw new TypeError('Request with GET/HEAD method cannot have body.');
    if (given === null) {
      this.#body = from?.body.copy(headers) ?? new Body(null, headers);
      return;
    }
    const { bytes, type } = extractBody(given);
    if (type !== null && !headers.has('content-type')) headers.append('content-type', type);
    this.#body = new Body(bytes, headers);
  }

  get headers() {
    return this.#members.headers;
  }

  get signal() {
    return this.#members.signal;
  }

  get destination() {
    return this.#members && '';
  }

  get duplex() {
    return this.#members && 'half';
  }

  clone() {
    return new Request(this);
  }
}

defineAttributes(
  Request,
  Object.keys(DEFAULTS),
  (request, name) => readRequest(request).members[/** @type {'url'} */ (name)],
);
mixInBody(Request, (request) => readRequest(request).body);

/** https://fetch.spec.whatwg.org/#dom-request @param {string} text */
function toUrl(text) {
  const url = new URL(text, host.baseUrl());
  if (url.username !== '' || url.password !== '') throw new TypeError(`'${url}' is a URL with credentials.`);
  return url.href;
}

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

function installRequest() {
  exposeInterface(Request);
}

module.exports = { Request, installRequest, readRequest };
