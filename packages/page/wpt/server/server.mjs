// The server that tests are loaded from: a web-platform-tests checkout over http and https, two ports each, for all
// hosts.

import { readFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';

import { fileResponse } from './files.mjs';
import { scriptAt } from './scripts.mjs';

const LOOPBACK = '127.0.0.1';

/** Headers that this server sets itself. */
const NEVER_SENT = new Set(['content-length', 'connection', 'transfer-encoding']);

/** Files that the suite's own server does not take from the checkout. */
const MOVED = { '/resources/WebIDLParser.js': '/resources/webidl2/lib/webidl2.js' };

export class TestServer {
  #root;
  #overlays;
  #servers = [];
  /** By protocol, under the names that tests use. */
  ports = { http: [], https: [], ws: [], wss: [] };

  /**
   * @param {string} root the checkout
   * @param {Map<string, (test: string) => string>} overlays replacements for files of the checkout, by path: a text for
   *   each test
   */
  constructor(root, overlays) {
    this.#root = root;
    this.#overlays = overlays;
  }

  /** @param {{ key: string, cert: string }} [certificate] without one there is no https */
  async listen(certificate) {
    const protocols = certificate === undefined ? ['http', 'http'] : ['http', 'http', 'https', 'https'];
    for (const protocol of protocols) {
      const answer = (incoming, outgoing) => this.#answer(protocol, incoming, outgoing);
      const server = protocol === 'http' ? http.createServer(answer) : https.createServer(certificate, answer);
      // Only loopback: the checkout is not for the network.
      await new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(0, LOOPBACK, resolve);
      });
      this.#servers.push(server);
      this.ports[protocol].push(server.address().port);
    }
  }

  /** Where it listens. */
  addresses() {
    return this.#servers.map((server) => server.address().address);
  }

  async #answer(protocol, incoming, outgoing) {
    // A client that goes away in the middle is no failure.
    incoming.on('error', () => {});
    outgoing.on('error', () => {});
    incoming.resume();
    let response;
    try {
      response = await this.#respond(protocol, incoming);
    } catch (error) {
      response = textResponse(500, `${incoming.url}: ${error.message}`);
    }
    await send(response, incoming.method, outgoing);
  }

  async #respond(protocol, incoming) {
    const url = new URL(`${protocol}://${incoming.headers.host}${incoming.url}`);
    url.pathname = MOVED[url.pathname] ?? url.pathname;
    const request = { root: this.#root, url, headers: incoming.headers, ports: this.ports };
    const overlay = this.#overlays.get(url.pathname);
    if (overlay !== undefined) {
      return {
        status: 200,
        headers: [['Content-Type', 'text/javascript']],
        body: Buffer.from(overlay(testOf(incoming.headers.referer))),
      };
    }
    if (url.pathname.endsWith('.py')) {
      const script = scriptAt(url.pathname);
      if (script === undefined)
        return textResponse(501, `${url.pathname}: this server runs no Python, and does not stand in for this script`);
      const response = { status: 200, headers: [], body: Buffer.alloc(0) };
      await script(request, response);
      return response;
    }
    return (await fileResponse(request)) ?? textResponse(404, `${url.pathname} is not in the checkout`);
  }

  async close() {
    await Promise.all(
      this.#servers.map((server) => {
        const closed = new Promise((resolve) => server.close(resolve));
        server.closeAllConnections();
        return closed;
      }),
    );
  }
}

/** The path and query of the requesting test, in the form of a test's name. */
function testOf(referrer) {
  const url = URL.parse(referrer ?? '');
  return url === null ? '' : `${url.pathname}${url.search}`.slice(1);
}

function textResponse(status, text) {
  return { status, headers: [['Content-Type', 'text/plain; charset=utf-8']], body: Buffer.from(`${text}\n`) };
}

async function send({ status, headers, body, send: pieces }, method, outgoing) {
  try {
    outgoing.statusCode = status;
    for (const [name, value] of headers) if (!NEVER_SENT.has(name.toLowerCase())) outgoing.appendHeader(name, value);
    outgoing.setHeader('Date', new Date().toUTCString());
    if (pieces === undefined) {
      outgoing.setHeader('Content-Length', body.length);
      outgoing.end(method === 'HEAD' ? undefined : body);
      return;
    }
    for await (const piece of pieces(body)) {
      if (outgoing.destroyed) return;
      outgoing.write(piece);
    }
    outgoing.end();
  } catch {
    // A header that cannot be sent, or a client that is gone.
    outgoing.destroy();
  }
}

/**
 * Our scripts that replace scripts of the checkout, which are for running tests manually.
 *
 * @param {(test: string) => number} multiplierOf the time that a test may take
 */
export async function readOverlays(multiplierOf) {
  const read = (name) => readFile(new URL(`../page/${name}`, import.meta.url), 'utf8');
  const [report, vendor] = [await read('report.js'), await read('vendor.js')];
  return new Map([
    [
      '/resources/testharnessreport.js',
      (test) => report.replace('TIMEOUT_MULTIPLIER', String(Number(multiplierOf(test)))),
    ],
    ['/resources/testdriver-vendor.js', () => vendor],
  ]);
}
