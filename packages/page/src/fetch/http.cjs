'use strict';

// One HTTP request and its response, without the rules of browsers: those are in network.cjs and what it uses.

const http = require('node:http');
const { isIP } = require('node:net');

const { now, timeRequest } = require('./fetch-timing.cjs');
const { lookupFor } = require('./host-lookup.cjs');
const { closeIdle, closeUnlessEmpty } = require('./idle-connections.cjs');
const { resolveName } = require('./name-resolver.cjs');
const { receivedBytes } = require('./received-bytes.cjs');
const { readBody } = require('./response-body.cjs');
const { newSecureContext } = require('./tls-context.cjs');
const { readInTurns } = require('./tls-reading.cjs');
const { Turns } = require('./turns.cjs');

/** @typedef {import('./headers.cjs').HeaderList} HeaderList */
/** @typedef {import('./response-body.cjs').Decoders} Decoders */
/** @typedef {ReturnType<import('./buffer-budget.cjs').BufferBudget['lease']>} Lease */

/**
 * @typedef {object} TransportOptions
 * @property {Record<string, string>} [hosts] addresses by host name, as in /etc/hosts
 * @property {string | string[]} [ca] certificates of trusted authorities, PEM
 * @property {boolean} [ignoreCertificateErrors]
 * @property {number} [bodyLimit] in bytes
 * @property {number} [timeout] in milliseconds without a byte
 * @property {boolean} [isUnref] whether connections that are made do not keep the thread alive
 * @property {(host: string, signal: AbortSignal) => Promise<import('node:dns').LookupAddress[]>} [resolve] asks name servers
 * @property {object} [owner] such as a page, whose connections share the time of the thread with those of others
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

/** Why a request fails whose connection the server closes. */
const RESET = new Set(['ECONNRESET', 'EPIPE']);

/** How many requests over TLS may be under way: for each connection, OpenSSL keeps up to a megabyte of what its server sends in a handshake. */
const MAX_SECURE = 128;

/** How many names may be asked for at once: an answer can have thousands of addresses. */
const MAX_LOOKUPS = 6;

/** How many interim responses, as `103 Early Hints`, a server may send before its response. */
const MAX_INTERIM = 20;

/** After how many pieces a body must have this many bytes in each, on average: reading a piece takes as long as reading many bytes. */
const MAX_SMALL_PIECES = 2_000;
const MIN_PIECE = 16;

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
  #httpAgent;
  #httpsOptions;
  /** @type {{ request: typeof import('node:https').request, agent: import('node:https').Agent } | undefined} */
  #https;
  #hosts;
  /** The longest body, in bytes. */
  bodyLimit;
  #timeout;
  #isUnref;
  #resolve;
  #lookups = new Turns(MAX_LOOKUPS);
  /** @type {object} */
  #owner;
  #isClosed = false;
  #secureTurns = new Turns(MAX_SECURE);
  /** Those that wait for a connection get a new one when others are closed, unless they are ended. @type {Set<http.ClientRequest>} */
  #pending = new Set();

  /** @param {TransportOptions} [options] */
  constructor({
    hosts = {},
    ca,
    ignoreCertificateErrors = false,
    bodyLimit = DEFAULT_BODY_LIMIT,
    timeout = 60_000,
    isUnref = false,
    resolve = resolveName,
    owner,
  } = {}) {
    this.#hosts = new Map(Object.entries(hosts));
    this.bodyLimit = bodyLimit;
    this.#timeout = timeout;
    this.#isUnref = isUnref;
    this.#resolve = resolve;
    this.#owner = owner ?? this;
    const pool = { keepAlive: true, maxSockets: 16 };
    this.#httpAgent = new http.Agent(pool);
    this.#httpsOptions = { ...pool, ca, rejectUnauthorized: !ignoreCertificateErrors };
  }

  /** For requests over TLS. Node's module for them takes milliseconds to load, and most threads need none. */
  get #secure() {
    if (this.#https === undefined) {
      const { Agent, request } = require('node:https');
      const { ca, ...options } = this.#httpsOptions;
      this.#https = { request, agent: new Agent({ ...options, secureContext: newSecureContext(ca) }) };
    }
    return this.#https;
  }

  /**
   * @param {{ url: URL, method: string, headers: HeaderList, body: Uint8Array | null, startedAt?: number }} message
   *   `startedAt` is when the fetch that this request belongs to began
   * @param {{ signal?: AbortSignal | undefined, lease?: Lease | undefined, decoders?: Decoders | undefined }} [options] `lease`
   *   counts the bytes of the body
   * @returns {Promise<HttpResponse>}
   */
  send(message, options = {}) {
    const send = () => this.#send(message, options);
    return message.url.protocol === 'https:' ? this.#secureTurns.run(send, options.signal) : send();
  }

  /**
   * @param {Parameters<Transport['send']>[0]} message
   * @param {NonNullable<Parameters<Transport['send']>[1]>} options
   * @returns {Promise<HttpResponse>}
   */
  #send({ url, method, headers, body, startedAt }, { signal, lease, decoders }) {
    const isSecure = url.protocol === 'https:';
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const merged = mergedHeaders(headers);
    if (body !== null) merged['content-length'] = body.byteLength;
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw new Error('the page is closed');
      const { request, agent } = isSecure ? this.#secure : { request: http.request, agent: this.#httpAgent };
      closeIdle(agent);
      const closed = new AbortController();
      const outgoing = request({
        agent,
        method,
        // Connections are kept by it, and those of one host are not for another one at the same address.
        host: isIP(host) === 0 ? host : (this.#hosts.get(host) ?? host),
        lookup: lookupFor({
          hosts: this.#hosts,
          resolve: (name) => this.#lookups.run(() => this.#resolve(name, closed.signal), closed.signal),
        }),
        // An IP address is no server name.
        servername: isSecure && isIP(host) === 0 ? host : undefined,
        port: url.port === '' ? undefined : Number(url.port),
        path: url.pathname + url.search,
        headers: { host: url.host, ...merged },
        setHost: false,
        signal,
        timeout: this.#timeout,
      });
      this.#pending.add(outgoing);
      outgoing.on('close', () => {
        this.#pending.delete(outgoing);
        closed.abort();
      });
      outgoing.on('socket', (socket) => {
        receivedBytes(socket, this.#owner);
        closeUnlessEmpty(socket);
        // Node's own `reusedSocket` is not true for requests that have waited for a connection.
        isReused = !socket.connecting;
        if (!this.#isUnref) return;
        if (isSecure) readInTurns(socket, outgoing, this.#owner);
        // The agent references a connection that is used again, and Node each address that it tries.
        socket.unref();
        if (socket.connecting) socket.once('connect', () => socket.unref());
      });
      const timing = timeRequest(outgoing, isSecure, startedAt);
      /** @type {http.IncomingMessage | undefined} */
      let response;
      let isReused = false;
      outgoing.on('timeout', () => outgoing.destroy(new Error(`${url.host} did not answer in ${this.#timeout} ms`)));
      outgoing.on('error', (error) => {
        // What comes after a complete response, as the body of a 204, is not part of it. Node closes the connection.
        if (response?.complete && 'code' in error && String(error.code).startsWith('HPE_')) return;
        // The server closed an idle connection at that moment. Chromium asks again, too, whatever the method.
        const isClosed = isReused && response === undefined && 'code' in error && RESET.has(String(error.code));
        if (isClosed && !this.#isClosed)
          resolve(this.#send({ url, method, headers, body, startedAt }, { signal, lease, decoders }));
        else reject(error);
      });
      let interim = 0;
      outgoing.on('information', () => {
        interim += 1;
        if (interim > MAX_INTERIM) outgoing.destroy(new Error(`${url.host} sent more than ${MAX_INTERIM} responses`));
      });
      outgoing.on('upgrade', (_incoming, socket) => {
        socket.destroy();
        reject(new Error(`${url.host} switched to a protocol that was not asked for`));
      });
      outgoing.on('response', (incoming) => {
        response = incoming;
        /** @type {Error | undefined} */
        let refusal;
        const refuse = (/** @type {string} */ reason) => {
          refusal ??= new Error(reason);
          incoming.destroy();
        };
        let pieces = 0;
        incoming.on('data', (chunk) => {
          const size = (timing.encodedSize ?? 0) + chunk.length;
          timing.encodedSize = size;
          pieces += 1;
          if (pieces > MAX_SMALL_PIECES && size < pieces * MIN_PIECE)
            refuse(`${url.host} sends a body in more than ${MAX_SMALL_PIECES} small pieces`);
          // A body of any length can decode to nothing.
          if (size > this.bodyLimit) refuse(`the response is larger than ${this.bodyLimit} bytes`);
        });
        readBody(incoming, { method, limit: this.bodyLimit, lease, decoders, signal }).then(
          (decoded) => {
            // A decoder has found the end of its text, and the server sends more.
            if (!incoming.complete) outgoing.destroy();
            const { statusCode = 0, statusMessage = '', rawHeaders, httpVersion } = incoming;
            resolve({
              status: statusCode,
              statusText: statusMessage,
              headers: toHeaderList(rawHeaders),
              body: decoded,
              timing: Object.assign(timing, { responseEnd: now(), protocol: `http/${httpVersion}` }),
            });
          },
          (error) => {
            outgoing.destroy();
            reject(refusal ?? error);
          },
        );
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
  /** The first spelling of a name. @type {Map<string, string>} */
  const names = new Map();
  /** @type {Record<string, string | number>} */
  const merged = Object.create(null);
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    const spelling = names.get(key) ?? name;
    names.set(key, spelling);
    merged[spelling] = spelling in merged ? `${merged[spelling]}, ${value}` : value;
  }
  return merged;
}

module.exports = { DEFAULT_BODY_LIMIT, Transport };
