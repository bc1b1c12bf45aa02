'use strict';

// fetch(), Request and Response. https://fetch.spec.whatwg.org/#fetch-api
//
// What may be fetched and what of it may be seen, the main realm decides (thread/loader.cjs). Bodies come whole: `body` is
// null, for there are no streams here.

const host = require('selfprof:host');
const { defineInterfaceObject, defineOperation } = require('./definitions.cjs');

const MODES = ['same-origin', 'no-cors', 'cors'];
const CREDENTIALS = ['omit', 'same-origin', 'include'];
const REDIRECTS = ['follow', 'error', 'manual'];
const CACHES = ['default', 'no-store', 'reload', 'no-cache', 'force-cache', 'only-if-cached'];
const POLICIES = [
  '', 'no-referrer', 'no-referrer-when-downgrade', 'same-origin', 'origin', 'strict-origin', 'origin-when-cross-origin',
  'strict-origin-when-cross-origin', 'unsafe-url',
];
/** https://fetch.spec.whatwg.org/#null-body-status */
const NULL_BODIES = [101, 103, 204, 205, 304];

const { Headers, URL, URLSearchParams, AbortSignal, AbortController, Blob, FormData } = globalThis;
const { parse } = JSON;

function toEnumeration(value, values, name) {
  const text = `${value}`;
  if (!values.includes(text)) throw new TypeError(`The provided value '${text}' is not a valid enum value of type ${name}.`);
  return text;
}

/** https://fetch.spec.whatwg.org/#bodyinit-unions: the bytes, and the type that they have by themselves */
function extract(value) {
  const special = host.platform.bodyOf(value);
  if (special !== undefined) return { bytes: new Uint8Array(special.bytes), type: special.type };
  if (value instanceof URLSearchParams) {
    return { bytes: host.encode(`${value}`), type: 'application/x-www-form-urlencoded;charset=UTF-8' };
  }
  if (host.platform.kindOf(value) === 'ArrayBuffer') return { bytes: new Uint8Array(value).slice(), type: null };
  if (ArrayBuffer.isView(value)) {
    return { bytes: new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice(), type: null };
  }
  return { bytes: host.encode(`${value}`.toWellFormed()), type: 'text/plain;charset=UTF-8' };
}

/** What requests and responses have in common. https://fetch.spec.whatwg.org/#body-mixin */
class Body {
  #bytes;
  #used = false;
  #headers;

  constructor(bytes, headers) {
    this.#bytes = bytes;
    this.#headers = headers;
  }

  get bytes() {
    return this.#bytes;
  }

  get isUsed() {
    return this.#used;
  }

  /** Another of the same; throws when this one was read. */
  copy(headers) {
    if (this.#used) throw new TypeError('The body has already been read.');
    return new Body(this.#bytes, headers);
  }

  /** Reads it, which can be done once. */
  consume(convert) {
    return new Promise((resolve) => {
      if (this.#used) throw new TypeError('The body has already been read.');
      this.#used = this.#bytes !== null;
      resolve(convert(this.#bytes ?? new Uint8Array(), this.#headers.get('content-type') ?? ''));
    });
  }
}

/** Operations of the mixin, on a class that keeps its body where `bodyOf` finds it. */
function mixInBody(Interface, bodyOf) {
  const consumer = (convert) =>
    function consume() {
      try {
        return bodyOf(this).consume(convert);
      } catch (error) {
        return Promise.reject(error);
      }
    };
  const operations = {
    arrayBuffer: consumer((bytes) => bytes.slice().buffer),
    blob: consumer((bytes, type) => new Blob([bytes], { type })),
    bytes: consumer((bytes) => bytes.slice()),
    formData: consumer(toFormData),
    json: consumer((bytes) => parse(host.decode(bytes))),
    text: consumer((bytes) => host.decode(bytes)),
  };
  for (const [name, value] of Object.entries(operations)) {
    Object.defineProperty(value, 'name', { value: name });
    Object.defineProperty(Interface.prototype, name, { value, writable: true, enumerable: true, configurable: true });
  }
  const attributes = {
    get body() {
      bodyOf(this);
      return null;
    },
    get bodyUsed() {
      return bodyOf(this).isUsed;
    },
  };
  for (const name of ['body', 'bodyUsed']) {
    Object.defineProperty(Interface.prototype, name, Object.getOwnPropertyDescriptor(attributes, name));
  }
}

function toFormData(bytes, type) {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) throw new TypeError(`Bodies of type '${type}' cannot be read as form data.`);
  const data = new FormData();
  for (const [name, value] of new URLSearchParams(host.decode(bytes))) data.append(name, value);
  return data;
}

function finish(Interface, attributes) {
  for (const name of attributes) Object.defineProperty(Interface.prototype, name, { enumerable: true });
  Object.defineProperty(Interface.prototype, Symbol.toStringTag, { value: Interface.name, configurable: true });
  defineInterfaceObject(Interface.name, Interface);
}

/** What is inside of a Request. */
let inside;

class Request {
  #request;
  #headers;
  #signal;
  #body;

  static {
    inside = (request) => ({ ...request.#request, headers: request.#headers, signal: request.#signal, body: request.#body });
  }

  constructor(input, init = {}) {
    if (arguments.length < 1) throw new TypeError("Failed to construct 'Request': 1 argument required, but only 0 present.");
    const from = typeof input === 'object' && input !== null && #request in input ? input : undefined;
    const options = init ?? {};
    if (typeof options !== 'object' && typeof options !== 'function') throw new TypeError("Failed to construct 'Request': options are no object.");
    let url;
    if (from === undefined) {
      url = new URL(`${input}`, host.baseUrl());
      if (url.username !== '' || url.password !== '') throw new TypeError(`'${url}' is a URL with credentials.`);
    }
    const base = from?.#request ?? {
      url: url.href, method: 'GET', mode: 'cors', credentials: 'same-origin', redirect: 'follow', cache: 'default',
      referrer: 'about:client', referrerPolicy: '', integrity: '', keepalive: false,
    };
    const choose = (name, values, type) => (options[name] === undefined ? base[name] : toEnumeration(options[name], values, type));
    if (options.mode === 'navigate') throw new TypeError("The mode 'navigate' cannot be used.");
    this.#request = {
      url: base.url,
      method: options.method === undefined ? base.method : toMethod(`${options.method}`),
      mode: choose('mode', MODES, 'RequestMode'),
      credentials: choose('credentials', CREDENTIALS, 'RequestCredentials'),
      redirect: choose('redirect', REDIRECTS, 'RequestRedirect'),
      cache: choose('cache', CACHES, 'RequestCache'),
      referrer: options.referrer === undefined ? base.referrer : toReferrer(`${options.referrer}`),
      referrerPolicy: choose('referrerPolicy', POLICIES, 'ReferrerPolicy'),
      integrity: options.integrity === undefined ? base.integrity : `${options.integrity}`,
      keepalive: options.keepalive === undefined ? base.keepalive : Boolean(options.keepalive),
    };
    const { method, mode } = this.#request;
    if (mode === 'no-cors' && !['GET', 'HEAD', 'POST'].includes(method)) throw new TypeError(`'${method}' is unsupported in no-cors mode.`);
    const signal = options.signal === undefined ? from?.#signal : options.signal;
    if (signal !== undefined && signal !== null && !(signal instanceof AbortSignal)) throw new TypeError("member signal is not of type 'AbortSignal'.");
    this.#signal = follow(signal);
    this.#headers = host.newHeaders(options.headers ?? from?.#headers, mode === 'no-cors' ? 'request-no-cors' : 'request');
    const given = options.body ?? null;
    if ((given !== null || (from?.#body.bytes ?? null) !== null) && (method === 'GET' || method === 'HEAD')) {
      throw new TypeError('Request with GET/HEAD method cannot have body.');
    }
    if (given !== null) {
      const { bytes, type } = extract(given);
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

mixInBody(Request, (request) => inside(request).body);

/** A method in upper case, if it is one of those that are. https://fetch.spec.whatwg.org/#concept-method-normalize */
function toMethod(text) {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text)) throw new TypeError(`'${text}' is not a valid HTTP method.`);
  if (/^(connect|trace|track)$/i.test(text)) throw new TypeError(`'${text}' HTTP method is unsupported.`);
  return /^(delete|get|head|options|post|put)$/i.test(text) ? text.toUpperCase() : text;
}

function toReferrer(text) {
  if (text === '') return '';
  const { href, origin } = new URL(text, host.baseUrl());
  return href === 'about:client' || origin !== globalThis.origin ? 'about:client' : href;
}

/** A signal of its own that is aborted with another. */
function follow(signal) {
  const controller = new AbortController();
  if (signal === undefined || signal === null) return controller.signal;
  if (signal.aborted) controller.abort(signal.reason);
  else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  return controller.signal;
}

/** Makes a Response of what the host gave. */
let newResponse;
let insideResponse;

class Response {
  #response;
  #headers;
  #body;

  static {
    newResponse = (response, bytes, headers) => {
      const made = new Response();
      made.#response = response;
      made.#headers = host.newHeaders(headers, 'immutable');
      made.#body = new Body(bytes, made.#headers);
      return made;
    };
    insideResponse = (response) => ({ response: response.#response, body: response.#body });
  }

  constructor(body = null, init = {}) {
    const options = init ?? {};
    const status = options.status === undefined ? 200 : Number(options.status) & 0xffff;
    if (status < 200 || status > 599) throw new RangeError(`The status provided (${options.status}) is outside the range [200, 599].`);
    const statusText = options.statusText === undefined ? '' : `${options.statusText}`;
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(statusText)) throw new TypeError('Invalid statusText');
    this.#response = { type: 'default', url: '', redirected: false, status, statusText };
    this.#headers = host.newHeaders(options.headers, 'response');
    let bytes = null;
    if (body !== null) {
      if (NULL_BODIES.includes(status)) throw new TypeError('Response with null body status cannot have body');
      const extracted = extract(body);
      bytes = extracted.bytes;
      if (extracted.type !== null && !this.#headers.has('content-type')) this.#headers.append('content-type', extracted.type);
    }
    this.#body = new Body(bytes, this.#headers);
  }

  static error() {
    return newResponse({ type: 'error', url: '', redirected: false, status: 0, statusText: '' }, null, []);
  }

  static json(data, init = {}) {
    const text = JSON.stringify(data);
    if (text === undefined) throw new TypeError('The data is not JSON serializable');
    const response = new Response(text, init);
    if (init?.headers === undefined || !host.newHeaders(init.headers, 'none').has('content-type')) {
      response.#headers.set('content-type', 'application/json');
    }
    return response;
  }

  static redirect(url, status = 302) {
    const { href } = new URL(`${url}`, host.baseUrl());
    if (![301, 302, 303, 307, 308].includes(status)) throw new RangeError('Invalid status code');
    const response = new Response(null, { status });
    response.#headers.set('location', href);
    return response;
  }

  get type() {
    return this.#response.type;
  }
  get url() {
    return this.#response.url.replace(/#.*$/s, '');
  }
  get redirected() {
    return this.#response.redirected;
  }
  get status() {
    return this.#response.status;
  }
  get ok() {
    return this.#response.status >= 200 && this.#response.status <= 299;
  }
  get statusText() {
    return this.#response.statusText;
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

mixInBody(Response, (response) => insideResponse(response).body);

/** Starts a request. https://fetch.spec.whatwg.org/#fetch-method */
function start(input, init, resolve, reject, initiator = 'fetch') {
  const { headers, signal, body, ...request } = inside(new Request(input, init));
  if (signal.aborted) {
    reject(signal.reason);
    return;
  }
  const list = [];
  for (const [name, value] of headers) list.push([name, value]);
  const noReferrer = request.referrer === '' || request.referrerPolicy === 'no-referrer';
  const wish = { ...request, headers: list, destination: '', initiator, referrer: noReferrer ? '' : host.referrer() };
  const abort = host.request(
    wish,
    body.bytes ?? undefined,
    (answer, bytes) => {
      const { headers: received, ...response } = parse(answer);
      const isNull = NULL_BODIES.includes(response.status) || request.method === 'HEAD' || response.type.startsWith('opaque');
      resolve(newResponse(response, isNull ? null : new Uint8Array(bytes), received));
    },
    (message) => reject(new TypeError(`Failed to fetch: ${message}`)),
  );
  signal.addEventListener('abort', () => {
    abort();
    reject(signal.reason);
  });
}

function installFetch() {
  finish(Request, [
    'method', 'url', 'headers', 'destination', 'referrer', 'referrerPolicy', 'mode', 'credentials', 'cache', 'redirect',
    'integrity', 'keepalive', 'signal', 'duplex', 'clone',
  ]);
  finish(Response, ['type', 'url', 'redirected', 'status', 'ok', 'statusText', 'headers', 'clone']);
  for (const name of ['error', 'json', 'redirect']) Object.defineProperty(Response, name, { enumerable: true });
  const { fetch } = {
    fetch(input, init = undefined) {
      return new Promise((resolve, reject) => {
        if (arguments.length < 1) throw new TypeError("Failed to execute 'fetch' on 'Window': 1 argument required, but only 0 present.");
        start(input, init ?? {}, resolve, reject);
      });
    },
  };
  Object.defineProperty(fetch, 'length', { value: 1, configurable: true });
  defineOperation('fetch', fetch);
  installBeacons();
}

/** https://w3c.github.io/beacon/ */
function installBeacons() {
  const { navigator } = globalThis;
  if (navigator === undefined) return;
  const { sendBeacon } = {
    sendBeacon(url, data = null) {
      const { href, protocol } = new URL(`${url}`, host.baseUrl());
      if (protocol !== 'http:' && protocol !== 'https:') throw new TypeError(`'${href}' is not a URL of http or https.`);
      const init = { method: 'POST', body: data, keepalive: true, credentials: 'include', mode: 'no-cors' };
      const type = data === null ? null : extract(data).type;
      if (type !== null && !/^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)/i.test(type)) init.mode = 'cors';
      start(href, init, () => {}, () => {}, 'beacon');
      return true;
    },
  };
  Object.defineProperty(sendBeacon, 'length', { value: 1, configurable: true });
  const prototype = Object.getPrototypeOf(navigator);
  Object.defineProperty(prototype, 'sendBeacon', { value: sendBeacon, writable: true, enumerable: true, configurable: true });
}

module.exports = { installFetch };
