// What connections receive: parsed in slices of time, and joined before it is decoded, however servers divide it.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import net from 'node:net';
import { Readable } from 'node:stream';
import { suite, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

import { setClock } from './clock.mjs';

const require = createRequire(import.meta.url);
const { Transport } = require('../src/fetch/http.cjs');
const { receivedBytes } = require('../src/fetch/received-bytes.cjs');

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
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

/** A server that answers each request for a path with these bytes, and says how many connections it had. */
async function serveBytes(t, responses) {
  const connections = { count: 0, open: new Set() };
  const server = net.createServer((socket) => {
    connections.count += 1;
    connections.open.add(socket);
    socket.on('close', () => connections.open.delete(socket));
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
    for (const socket of connections.open) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, connections };
}

function transport(t, options) {
  const made = new Transport(options);
  t.after(() => made.close());
  return (url, sendOptions) =>
    made.send({ url: new URL(url), method: 'GET', headers: [], body: null }, sendOptions).then(({ body }) => body);
}

suite('what connections receive', () => {
  test('is parsed in slices of time, also if all of them have received something', async (t) => {
    let time = 0;
    // Each part takes a millisecond or more.
    setClock(t, () => ++time);
    const sockets = Array.from({ length: 40 }, () => new Readable({ read() {} }));
    const read = sockets.map(() => '');
    for (const [at, socket] of sockets.entries()) {
      receivedBytes(socket);
      socket.on('data', (bytes) => (read[at] += bytes));
    }
    await setTimeout(0);
    const text = (at) => String.fromCharCode(97 + (at % 26)).repeat(60_000 + at);
    const wanted = sockets.map((socket, at) => socket.push(Buffer.from(text(at))));
    for (const socket of sockets) socket.push(null);
    const length = () => read.reduce((sum, { length }) => sum + length, 0);
    assert.ok(length() <= 10 * (16 << 10), `${length()} bytes in one go`);
    assert.equal(wanted.at(-1), false);
    await Promise.all(sockets.map((socket) => once(socket, 'end')));
    assert.ok(read.every((part, at) => part === text(at)));
  });

  test('is not passed on while it is held, nor after its connection is gone', async () => {
    const socket = new Readable({ read() {} });
    const received = receivedBytes(socket);
    assert.equal(receivedBytes(socket), received);
    const read = [];
    socket.on('data', (bytes) => read.push(String(bytes)));
    // The slice of the test before is over then.
    await setTimeout(20);
    assert.equal(socket.push(Buffer.from('first')), true);
    received.hold();
    assert.equal(socket.push(Buffer.from('second')), false);
    await setTimeout(20);
    assert.deepEqual(read, ['first']);
    received.release();
    assert.deepEqual(read, ['first', 'second']);
    received.hold();
    socket.push(Buffer.from('third'));
    socket.destroy();
    received.release();
    await setTimeout(20);
    assert.deepEqual(read, ['first', 'second']);
  });

  const text = Buffer.concat([randomBytes(100_000), Buffer.alloc(300_000, 'text'), randomBytes(100_000)]);
  const encoded = {
    '': text,
    gzip: gzipSync(text),
    deflate: deflateSync(text),
    br: brotliCompressSync(text),
    'gzip, gzip, gzip': gzipSync(gzipSync(gzipSync(text))),
  };

  for (const [coding, body] of Object.entries(encoded))
    test(`is what was sent, in pieces of any size${coding && `: ${coding}`}`, async (t) => {
      const codingHeader = coding === '' ? '' : `Content-Encoding: ${coding}\r\n`;
      const head = Buffer.from(HEAD + codingHeader);
      const { url, connections } = await serveBytes(t, {
        '/small': Buffer.concat([head, Buffer.from(`${CHUNKED}\r\n`), chunked(body, 17)]),
        '/medium': Buffer.concat([head, Buffer.from(`${CHUNKED}\r\n`), chunked(body, 1_000)]),
        '/whole': Buffer.concat([head, Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]),
        '/close': (socket) => {
          socket.write(Buffer.concat([head, Buffer.from('Connection: close\r\n\r\n'), body.subarray(0, 500)]));
          socket.end(body.subarray(500));
        },
        '/slow': async (socket) => {
          socket.write(Buffer.concat([head, Buffer.from(`Content-Length: ${body.length}\r\n\r\n`)]));
          for (let at = 0; at < body.length; at += 100_000) {
            socket.write(body.subarray(at, at + 100_000));
            await setTimeout(2);
          }
        },
      });
      const get = transport(t);
      // More than there are connections, so that each is used again.
      const paths = ['/small', '/medium', '/whole', '/close', '/slow'].flatMap((path) => Array(10).fill(path));
      const bodies = await Promise.all(paths.map((path) => get(url + path)));
      for (const [at, body] of bodies.entries()) assert.equal(Buffer.compare(text, body), 0, paths[at]);
      assert.ok(connections.count <= 16 + 10, `${connections.count} connections`);
    });

  test('is an error if it ends too early, or is no text of its coding', async (t) => {
    const body = encoded.gzip;
    const head = `${HEAD}Content-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`;
    const { url } = await serveBytes(t, {
      '/early': (socket) => socket.end(Buffer.concat([Buffer.from(head), body.subarray(0, body.length - 100)])),
      '/wrong': Buffer.concat([Buffer.from(head), Buffer.alloc(body.length, 'x')]),
      '/after': Buffer.concat([Buffer.from(head), body]),
    });
    const get = transport(t);
    await assert.rejects(get(`${url}/early`), /aborted|lost/);
    await assert.rejects(get(`${url}/wrong`), /incorrect header check/);
    assert.equal(Buffer.compare(text, await get(`${url}/after`)), 0);
  });

  test('does not wait for decoders in small pieces', async (t) => {
    const body = gzipSync(gzipSync(gzipSync(randomBytes(200_000))));
    const bytes = Buffer.concat([
      Buffer.from(`${HEAD}Content-Encoding: gzip, gzip, gzip\r\n${CHUNKED}\r\n`),
      chunked(body, 17),
    ]);
    const waiting = [];
    const { url } = await serveBytes(t, { '/': (socket) => waiting.push(socket) });
    const gets = Array.from({ length: 10 }, () => transport(t));
    const done = Promise.all(Array.from({ length: 80 }, (_, at) => gets[at % gets.length](url)));
    while (waiting.length < 80) await setTimeout(10);
    const before = process.memoryUsage().heapUsed;
    let peak = 0;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().heapUsed - before);
    }, 5);
    t.after(() => clearInterval(watch));
    for (const socket of waiting) socket.write(bytes);
    for (const { length } of await done) assert.equal(length, 200_000);
    assert.ok(peak < 150e6, `${(peak / 1e6).toFixed()} MB`);
  });
});
