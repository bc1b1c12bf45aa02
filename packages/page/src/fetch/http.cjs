'use strict';

// One HTTP request and its response, without the rules of browsers: those are in network.cjs and what it uses.
//
// With Node's own `http`, not the `undici` of jsdom: its sockets have the times that Resource Timing reports, and it
// loads ten times as fast.

const dns = require('node:dns');
const http = require('node:http');
const { isIP } = require('node:net');

const { now, timeRequest } = require('./fetch-timing.cjs');
const { isLocalhost } = require('./origin.cjs');
const { readBody } = require('./response-body.cjs');

/** @typedef {import('./headers.cjs').HeaderList} HeaderList */

/**
 * @typedef {object} TransportOptions
 * @property {Record<string, string>} [hosts] addresses by host name, as in /etc/hosts
 * @property {string | string[]} [ca] certificates of trusted authorities, PEM
 * @property {boolean} [ignoreCertificateErrors]
 * @property {number} [bodyLimit] in bytes
 * @property {number} [timeout] in milliseconds without a byte
 */

/**
 * @typedef {object} HttpResponse
 * @property {number} status
 * @property {string} statusText
 * @property {HeaderList} headers
 * @property {Uint8Array} body decoded, in memory of its own
 * @property {import('./fetch-timing.cjs').RequestTiming} timing
 */

const DEFAULT_BODY_LIMIT = 256 << 20;

const POOL = { keepAlive: true, maxSockets: 16 };

/** Why a request fails whose connection the server closes. */
const RESET = new Set(['ECONNRESET', 'EPIPE']);

/**
 * Headers from the flat list of names and values that Node gives, whose values are read as Latin-1.
 *
 * @param {string[]} raw
 * @returns {HeaderList}
 */
function toHeaderList(raw) {
  /** @type {HeaderList} */
  const headers = [];
  for (let at = 0; at < raw.length; at += 2) headers.push([raw[at].toLowerCase(), raw[at + 1].trim()]);
  return headers;
}

/** Sends the requests of one host or one thread. */
class Transport {
  #httpAgent = new http.Agent(POOL);
  #httpsOptions;
  /** @type {{ request: typeof import('node:https').request, agent: import('node:https').Agent } | undefined} */
  #https;
  #hosts;
  /** The longest body, in bytes. */
  bodyLimit;
  #timeout;
  #isClosed = false;
  /** @type {Set<http.ClientRequest>} */
  #pending = new Set();

  /** @param {TransportOptions} [options] */
  constructor({
    hosts = {},
    ca,
    ignoreCertificateErrors = false,
    bodyLimit = DEFAULT_BODY_LIMIT,
    timeout = 60_000,
  } = {}) {
    this.#hosts = new Map(Object.entries(hosts));
    this.bodyLimit = bodyLimit;
    this.#timeout = timeout;
    this.#httpsOptions = { ...POOL, ca, rejectUnauthorized: !ignoreCertificateErrors };
  }

  /** For requests over TLS. Node's module for them takes milliseconds to load, and most threads need none. */
  get #secure() {
    if (this.#https === undefined) {
      const { Agent, request } = require('node:https');
      this.#https = { request, agent: new Agent(this.#httpsOptions) };
    }
    return this.#https;
  }

  /** @type {import('node:net').LookupFunction} */
  #lookup = (name, options, callback) => {
    const host = this.#hosts.get(name) ?? name;
    // https://datatracker.ietf.org/doc/html/draft-ietf-dnsop-let-localhost-be-localhost-02
    dns.lookup(isLocalhost(host) ? 'localhost' : host, options, callback);
  };

  /** How connections that are no requests are made: what `tls.connect` takes, and the address of a host. */
  get connections() {
    const { ca, rejectUnauthorized } = this.#httpsOptions;
    return {
      ca,
      rejectUnauthorized,
      lookup: this.#lookup,
      addressOf: (/** @type {string} */ host) => this.#addressOf(host),
    };
  }

  /** Node looks up no IP address. @param {string} host */
  #addressOf(host) {
    return isIP(host) === 0 ? host : (this.#hosts.get(host) ?? host);
  }

  /**
   * @param {{ url: URL, method: string, headers: HeaderList, body: Uint8Array | null, startedAt?: number }} message
   *   `startedAt` is when the fetch that this request belongs to began
   * @param {AbortSignal} [signal]
   * @returns {Promise<HttpResponse>}
   */
  send(message, signal) {
    const { url, method, headers, body, startedAt } = message;
    const isSecure = url.protocol === 'https:';
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const merged = mergedHeaders(headers);
    if (body !== null) merged['content-length'] = body.byteLength;
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw new Error('the page is closed');
      const { request, agent } = isSecure ? this.#secure : { request: http.request, agent: this.#httpAgent };
      const outgoing = request({
        agent,
        method,
        host: this.#addressOf(host),
        lookup: this.#lookup,
        port: url.port === '' ? undefined : Number(url.port),
        path: url.pathname + url.search,
        headers: { host: url.host, ...merged },
        setHost: false,
        signal,
        timeout: this.#timeout,
      });
      this.#pending.add(outgoing);
      outgoing.on('close', () => this.#pending.delete(outgoing));
      const timing = timeRequest(outgoing, isSecure, startedAt);
      /** @type {http.IncomingMessage | undefined} */
      let response;
      let isReused = false;
      outgoing.on('socket', (socket) => {
        // Node's own `reusedSocket` is not true for requests that have waited for a connection.
        isReused = !socket.connecting;
      });
      outgoing.on('timeout', () => outgoing.destroy(new Error(`${url.host} did not answer in ${this.#timeout} ms`)));
      outgoing.on('error', (error) => {
        // What comes after a complete response, as the body of a 204, is not part of it. Node closes the connection.
        if (response?.complete && 'code' in error && String(error.code).startsWith('HPE_')) return;
        // The server closed an idle connection at that moment. Chromium asks again, too, whatever the method.
        const isStale = isReused && response === undefined && 'code' in error && RESET.has(String(error.code));
        if (isStale && !this.#isClosed) resolve(this.send(message, signal));
        else reject(error);
      });
      outgoing.on('upgrade', (_incoming, socket) => {
        socket.destroy();
        reject(new Error(`${url.host} switched to a protocol that was not asked for`));
      });
      outgoing.on('response', (incoming) => {
        response = incoming;
        readBody(incoming, this.bodyLimit).then(({ body, encodedSize }) => {
          const { statusCode = 0, statusMessage = '', rawHeaders, httpVersion } = incoming;
          Object.assign(timing, { encodedSize, responseEnd: now(), protocol: `http/${httpVersion}` });
          resolve({ status: statusCode, statusText: statusMessage, headers: toHeaderList(rawHeaders), body, timing });
        }, reject);
      });
      outgoing.end(body ?? undefined);
    });
  }

  /** Ends the requests, and closes the connections. */
  close() {
    this.#isClosed = true;
    for (const outgoing of this.#pending) outgoing.destroy();
    this.#httpAgent.destroy();
    this.#https?.agent.destroy();
  }
}

/**
 * Headers as Node takes them. Of two names that differ in case alone, it would send the last one.
 *
 * @param {HeaderList} headers
 * @returns {Record<string, string | number>}
 */
function mergedHeaders(headers) {
  /** @type {Record<string, string | number>} */
  const merged = Object.create(null);
  for (const entries of Map.groupBy(headers, ([name]) => name.toLowerCase()).values())
    merged[entries[0][0]] = entries.map(([, value]) => value).join(', ');
  return merged;
}

module.exports = { DEFAULT_BODY_LIMIT, Transport };
