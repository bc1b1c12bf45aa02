'use strict';

// One HTTP request and its response, without a browser's rules: those are in fetch.cjs.

const http = require('node:http');
const https = require('node:https');
const zlib = require('node:zlib');

const { now, timeRequest } = require('./timing.cjs');

const DECODERS = {
  gzip: () => zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH }),
  'x-gzip': () => zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH }),
  deflate: () => zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH }),
  br: () => zlib.createBrotliDecompress(),
};

/** Header names and values as Node has them in a row, in pairs. */
function pairs(raw) {
  const headers = [];
  // Node reads header bytes as Latin-1, which is what Fetch's byte sequences are shown as.
  for (let at = 0; at < raw.length; at += 2) headers.push([raw[at].toLowerCase(), raw[at + 1].trim()]);
  return headers;
}

/** The values of a header, joined as Fetch's "get" does, or `null`. https://fetch.spec.whatwg.org/#concept-header-list-get */
function getHeader(headers, name) {
  const values = headers.filter(([key]) => key === name).map(([, value]) => value);
  return values.length === 0 ? null : values.join(', ');
}

/** The requests of one browsing session. */
class Transport {
  #agents;
  #hosts;
  #bodyLimit;
  #timeout;

  /**
   * @param {{ hosts?: Record<string, string>, ca?: string | string[], ignoreCertificateErrors?: boolean,
   *   bodyLimit?: number, timeout?: number }} options `hosts` gives the addresses of host names, as /etc/hosts does;
   *   `bodyLimit` is in bytes, `timeout` in milliseconds without a byte
   */
  constructor({ hosts = {}, ca, ignoreCertificateErrors = false, bodyLimit = 256 << 20, timeout = 60_000 } = {}) {
    this.#hosts = hosts;
    this.#bodyLimit = bodyLimit;
    this.#timeout = timeout;
    const kept = { keepAlive: true, maxSockets: 16 };
    const rejectUnauthorized = !ignoreCertificateErrors;
    this.#agents = { 'http:': new http.Agent(kept), 'https:': new https.Agent({ ...kept, ca, rejectUnauthorized }) };
  }

  /**
   * @param {{ url: URL, method: string, headers: [string, string][], body: Uint8Array | null, startedAt?: number }} request
   *   `startedAt` is when whoever asks for it began
   * @param {AbortSignal} [signal]
   * @returns {Promise<{ status: number, statusText: string, headers: [string, string][], body: Buffer, timing: object }>}
   */
  send({ url, method, headers, body, startedAt }, signal) {
    const { request } = url.protocol === 'https:' ? https : http;
    const host = url.hostname.replace(/^\[|\]$/g, '');
    return new Promise((resolve, reject) => {
      const flat = {};
      for (const [name, value] of headers) flat[name] = name in flat ? `${flat[name]}, ${value}` : value;
      if (body !== null) flat['content-length'] = body.byteLength;
      const outgoing = request({
        agent: this.#agents[url.protocol],
        method,
        host: this.#hosts[host] ?? host,
        servername: url.protocol === 'https:' && !/^[\d.:]+$/.test(host) ? host : undefined,
        port: url.port === '' ? undefined : Number(url.port),
        path: url.pathname + url.search,
        headers: { host: url.host, ...flat },
        setHost: false,
        signal,
        timeout: this.#timeout,
      });
      const timing = timeRequest(outgoing, url.protocol === 'https:', startedAt);
      outgoing.on('timeout', () => outgoing.destroy(new Error(`${url.host} did not answer in ${this.#timeout} ms`)));
      outgoing.on('error', reject);
      outgoing.on('response', (incoming) => {
        const { statusCode, statusMessage, rawHeaders } = incoming;
        incoming.on('data', (chunk) => {
          timing.encodedSize = (timing.encodedSize ?? 0) + chunk.length;
        });
        collect(incoming, this.#bodyLimit).then(
          (body) => {
            Object.assign(timing, { responseEnd: now(), protocol: `http/${incoming.httpVersion}` });
            resolve({ status: statusCode, statusText: statusMessage, headers: pairs(rawHeaders), body, timing });
          },
          (error) => {
            outgoing.destroy();
            reject(error);
          },
        );
      });
      outgoing.end(body ?? undefined);
    });
  }

  close() {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }
}

/** How often a body may be encoded. Each decoder takes memory, and none of them is sent for nothing. */
const MAX_CODINGS = 5;

/** The decoded body. What a page may be sent is limited before and after it is unpacked. */
function collect(incoming, limit) {
  return new Promise((resolve, reject) => {
    let last = incoming;
    incoming.on('error', reject);
    incoming.on('aborted', () => reject(new Error('the connection was lost')));
    const named = (incoming.headers['content-encoding'] ?? '').toLowerCase().split(',');
    const codings = named.map((name) => name.trim()).filter((name) => Object.hasOwn(DECODERS, name));
    if (codings.length > MAX_CODINGS) {
      reject(new Error(`the response is encoded more than ${MAX_CODINGS} times`));
      return;
    }
    for (const coding of codings.reverse()) {
      last = last.pipe(DECODERS[coding]());
      last.on('error', reject);
    }
    const chunks = [];
    let length = 0;
    last.on('data', (chunk) => {
      length += chunk.length;
      if (length <= limit) chunks.push(chunk);
      else reject(new Error(`the response is larger than ${limit} bytes`));
    });
    last.on('end', () => resolve(Buffer.concat(chunks, Math.min(length, limit))));
  });
}

module.exports = { Transport, getHeader };
