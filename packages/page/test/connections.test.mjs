// HTTP over connections: bodies and how they are decoded, connections that are used again, the addresses of hosts, and
// certificates.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import https from 'node:https';
import net from 'node:net';
import { suite, test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

import { Transport } from '../src/fetch/http.cjs';
import { cert, key } from './certificate.mjs';

/** A body in pieces of this many bytes. */
function chunked(body, size) {
  const parts = [];
  for (let at = 0; at < body.length; at += size) {
    const piece = body.subarray(at, at + size);
    parts.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

const HEAD = 'HTTP/1.1 200 OK\r\n';

/** @param {Uint8Array} body */
function whole(body, headers = '') {
  return Buffer.concat([Buffer.from(`${HEAD}${headers}Content-Length: ${body.length}\r\n\r\n`), body]);
}

/** A server that answers each request for a path with these bytes, and counts its connections. */
async function serveBytes(t, responses) {
  const open = new Set();
  const connections = { count: 0 };
  const server = net.createServer((socket) => {
    connections.count += 1;
    open.add(socket);
    socket.on('error', () => {});
    socket.on('data', (request) => {
      const response = responses[/ (\S*)/.exec(request)[1]];
      if (typeof response === 'function') response(socket);
      else socket.write(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const { port } = server.address();
  return { url: `http://127.0.0.1:${port}`, port, connections };
}

function transport(t, options) {
  const made = new Transport(options);
  t.after(() => made.close());
  const get = async (url) => {
    const message = { url: new URL(url), method: 'GET', headers: [], body: null };
    return Buffer.from((await made.send(message)).body);
  };
  return Object.assign(get, { close: () => made.close() });
}

suite('bodies', () => {
  const text = Buffer.concat([randomBytes(100_000), Buffer.alloc(300_000, 'text'), randomBytes(100_000)]);
  const encoded = {
    '': text,
    gzip: gzipSync(text),
    deflate: deflateSync(text),
    br: brotliCompressSync(text),
    'gzip, BR': brotliCompressSync(gzipSync(text)),
  };

  for (const [coding, body] of Object.entries(encoded))
    test(`are what was sent, and connections are used again${coding && `: ${coding}`}`, async (t) => {
      const header = coding === '' ? '' : `Content-Encoding: ${coding}\r\n`;
      const { url, connections } = await serveBytes(t, {
        '/chunked': Buffer.concat([
          Buffer.from(`${HEAD}${header}Transfer-Encoding: chunked\r\n\r\n`),
          chunked(body, 1_000),
        ]),
        '/whole': whole(body, header),
        '/close': (socket) =>
          socket.end(Buffer.concat([Buffer.from(`${HEAD}${header}Connection: close\r\n\r\n`), body])),
      });
      const get = transport(t);
      const paths = ['/chunked', '/whole', '/close'].flatMap((path) => Array(10).fill(path));
      const bodies = await Promise.all(paths.map((path) => get(url + path)));
      for (const [at, body] of bodies.entries()) assert.equal(Buffer.compare(text, body), 0, paths[at]);
      assert.ok(connections.count < paths.length, `${connections.count} connections`);
    });

  test('that end too early or are not in their coding are errors', async (t) => {
    const body = encoded.gzip;
    const head = `${HEAD}Content-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`;
    const { url } = await serveBytes(t, {
      '/early': (socket) => socket.end(Buffer.concat([Buffer.from(head), body.subarray(0, body.length - 100)])),
      '/wrong': Buffer.concat([Buffer.from(head), Buffer.alloc(body.length, 'x')]),
      '/empty': `${HEAD}Content-Encoding: br\r\nContent-Length: 0\r\n\r\n`,
      '/after': Buffer.concat([Buffer.from(head), body]),
    });
    const get = transport(t);
    await assert.rejects(get(`${url}/early`), /aborted/);
    await assert.rejects(get(`${url}/wrong`), /incorrect header check/);
    assert.equal((await get(`${url}/empty`)).length, 0);
    assert.equal(Buffer.compare(text, await get(`${url}/after`)), 0);
  });

  test('end where their headers say, and what comes after that is no part of the next one', async (t) => {
    const { url } = await serveBytes(t, {
      '/none': `HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody`,
      '/longer': `${HEAD}Content-Length: 4\r\n\r\nbody and more`,
      '/response': `${HEAD}Content-Length: 4\r\n\r\nbody${HEAD}Content-Length: 4\r\n\r\nmore`,
      '/': `${HEAD}Content-Length: 4\r\n\r\nnext`,
    });
    const get = transport(t);
    for (const [path, body] of Object.entries({ '/none': '', '/longer': 'body', '/response': 'body' })) {
      assert.equal(String(await get(url + path)), body, path);
      assert.equal(String(await get(url)), 'next');
    }
  });
});

suite('connections', () => {
  test('that the server closes after one response do not fail the requests that wait for them', async (t) => {
    const { url, connections } = await serveBytes(t, {
      '/': (socket) => {
        if (socket.isUsed) socket.destroy();
        else socket.write(`${HEAD}Content-Length: 4\r\n\r\ntext`);
        socket.isUsed = true;
      },
    });
    const get = transport(t);
    const bodies = await Promise.all(Array.from({ length: 60 }, () => get(url)));
    assert.ok(bodies.every(({ length }) => length === 4));
    assert.equal(connections.count, 60);
  });

  test('are made to the addresses that the user names for hosts', async (t) => {
    const { port } = await serveBytes(t, { '/': whole(Buffer.from('text')) });
    const hosts = { 'name.test': '127.0.0.1', '192.0.2.1': '127.0.0.1', 'other.test': 'a.localhost' };
    const get = transport(t, { hosts });
    for (const host of ['name.test', '192.0.2.1', 'other.test', 'localhost', 'b.localhost'])
      assert.equal(String(await get(`http://${host}:${port}/`)), 'text', host);
    await assert.rejects(get(`http://unknown.invalid:${port}/`), /unknown\.invalid/);
  });

  test('end when nothing comes for too long, and when the page is closed', async (t) => {
    const { url } = await serveBytes(t, { '/': () => {} });
    await assert.rejects(transport(t, { timeout: 50 })(url), /did not answer in 50 ms/);
    const get = transport(t);
    const pending = Array.from({ length: 20 }, () => get(url));
    get.close();
    for (const { status } of await Promise.allSettled(pending)) assert.equal(status, 'rejected');
    await assert.rejects(get(url), /the page is closed/);
  });

  test('over TLS are to servers with a certificate that the user trusts', async (t) => {
    const server = https.createServer({ key, cert }, (_request, response) => response.end('text'));
    server.listen(0);
    await once(server, 'listening');
    t.after(() => {
      server.close();
      server.closeAllConnections();
    });
    const { port } = server.address();
    const hosts = { 'other.test': '127.0.0.1' };
    await assert.rejects(transport(t)(`https://localhost:${port}/`), /self-signed certificate/);
    assert.equal(String(await transport(t, { ca: cert })(`https://localhost:${port}/`)), 'text');
    await assert.rejects(transport(t, { ca: cert, hosts })(`https://other.test:${port}/`), /altnames/);
    const trusting = transport(t, { ignoreCertificateErrors: true, hosts });
    assert.equal(String(await trusting(`https://other.test:${port}/`)), 'text');
  });
});
