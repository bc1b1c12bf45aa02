// What connections receive: parsed in slices of time, and joined before it is decoded, however servers divide it.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { suite, test } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import tls, { TLSSocket } from 'node:tls';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

import { cert, key } from './certificate.mjs';
import { setClock } from './clock.mjs';
import { ODD_CERTIFICATES, USUAL_CERTIFICATE } from './odd-certificates.mjs';
import { block, jsdom, openInThisProcess } from './server.mjs';
import { uncaught } from './taken-over.mjs';
import { serveTls } from './tls-server.mjs';

openInThisProcess();

const require = createRequire(import.meta.url);
const { BodyDecoder } = require('../src/fetch/body-decoder.cjs');
const { Transport } = require('../src/fetch/http.cjs');
const { useJsdom } = require('../src/fetch/jsdom-packages.cjs');
const { newDecoders } = require('../src/fetch/network.cjs');
const { receivedBytes } = require('../src/fetch/received-bytes.cjs');

useJsdom({ folder: jsdom });

/** Keeps the program alive until the test ends: what the host does for pages does not. */
function keepAlive(t) {
  const timer = setInterval(() => {}, 1_000);
  t.after(() => clearInterval(timer));
}

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

/** @param {Uint8Array} body */
function whole(body, headers = '') {
  return Buffer.concat([Buffer.from(`${HEAD}${headers}Content-Length: ${body.length}\r\n\r\n`), body]);
}

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
    keepAlive(t);
    let time = 0;
    // Each part takes a millisecond or more.
    await setClock(t, () => ++time);
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

  test('is not read before it is passed on', async (t) => {
    keepAlive(t);
    const { url } = await serveBytes(t, { '/': Buffer.alloc(2 << 20) });
    const sockets = Array.from({ length: 20 }, () => net.connect(Number(new URL(url).port), '127.0.0.1'));
    t.after(() => {
      for (const socket of sockets) socket.destroy();
    });
    const passed = sockets.map(() => 0);
    for (const [at, socket] of sockets.entries()) {
      receivedBytes(socket);
      socket.on('data', ({ length }) => {
        passed[at] += length;
      });
      socket.write('GET / HTTP/1.1\r\n\r\n');
    }
    let time = 0;
    // A slice has time for ten parts.
    await setClock(t, () => ++time);
    let most = 0;
    while (passed.some((length) => length < 2 << 20)) {
      await setImmediate();
      most = Math.max(most, ...sockets.map(({ bytesRead }, at) => bytesRead - passed[at]));
    }
    assert.ok(most <= 128 << 10, `${most} bytes wait`);
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

  test('is asked for again if the server has closed a connection that was used before', async (t) => {
    // Its connections are for one response each, of which it does not say so.
    const { url, connections } = await serveBytes(t, {
      '/': (socket) => {
        if (socket.isUsed) {
          socket.destroy();
          return;
        }
        socket.isUsed = true;
        socket.write(`${HEAD}Content-Length: 4\r\n\r\ntext`);
      },
    });
    const get = transport(t);
    // More than there are connections, so that some wait for them.
    const bodies = await Promise.all(Array.from({ length: 60 }, () => get(url)));
    assert.ok(bodies.every(({ length }) => length === 4));
    assert.equal(connections.count, 60);
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

suite('a response that nobody asked for', () => {
  /** A response of so many bytes whose body comes in 1,900 pieces, so that it takes a slice of time. */
  function inPieces(size) {
    const start = `${HEAD}${CHUNKED}\r\n${'1\r\nx\r\n'.repeat(1_900)}`;
    const end = '\r\n0\r\n\r\n';
    const length = size - start.length - end.length - '1000\r\n'.length;
    return `${start}${length.toString(16)}\r\n${'a'.repeat(length)}${end}`;
  }

  const more = whole(Buffer.from('more'));
  const responses = {
    '/more': Buffer.concat([Buffer.from(inPieces(16 << 10)), more]),
    '/': whole(Buffer.from('body')),
  };

  const hosts = { 'one.test': '127.0.0.1', 'other.test': '127.0.0.1' };

  /** What both hosts answer to requests beside those that are answered twice. */
  async function bodiesBeside(get, protocol, port) {
    const bodies = Object.fromEntries(Object.keys(hosts).map((host) => [host, []]));
    for (let round = 0; round < 10; round++) {
      for (let count = 0; count < 16; count++) get(`${protocol}://one.test:${port}/more`).catch(() => {});
      for (const host of Object.keys(hosts))
        for (let count = 0; count < 8; count++) bodies[host].push(get(`${protocol}://${host}:${port}/`));
      await Promise.all(bodies['other.test']);
    }
    const texts = (host) => Promise.all(bodies[host].map(async (body) => String(Buffer.from(await body))));
    return { one: await texts('one.test'), other: await texts('other.test') };
  }

  test('is not that of the next request on its connection', async (t) => {
    keepAlive(t);
    const { port } = new URL((await serveBytes(t, responses)).url);
    const { one, other } = await bodiesBeside(transport(t, { hosts }), 'http', port);
    assert.deepEqual(new Set([...one, ...other]), new Set(['body']));
  });

  for (const isUnref of [false, true])
    test(`nor an end is taken for that of the next request, though it has not been read${isUnref ? ', in turns' : ''}`, async (t) => {
      keepAlive(t);
      const body = whole(Buffer.from('body'));
      const next = whole(Buffer.from('next'));
      const responses = { '/?more': body, '/?end': body, '/?reset': body, '/': body, '/next': next };
      const { url } = await serveTls(t, { responses });
      for (const path of ['/?more', '/?end', '/?reset']) {
        const made = new Transport({ ca: cert, isUnref });
        t.after(() => made.close());
        const send = async (path, method = 'GET') => {
          const { body } = await made.send({ url: new URL(url + path), method, headers: [], body: null });
          return String(Buffer.from(body));
        };
        await Promise.all(['/', path, path].map((path) => send(path)));
        block(150);
        // One that is not sent again.
        assert.deepEqual(await Promise.all([send('/next', 'POST'), send('/next')]), ['next', 'next'], path);
      }
    });

  test('is not that of another host at the same address', async (t) => {
    keepAlive(t);
    const { port } = new URL((await serveTls(t, { responses })).url);
    for (const isUnref of [false, true]) {
      const get = transport(t, { hosts, ignoreCertificateErrors: true, isUnref });
      // A server that sends it late can have it taken for its own next one, as in browsers.
      const { other } = await bodiesBeside(get, 'https', port);
      assert.deepEqual(new Set(other), new Set(['body']));
    }
  });
});

suite('bodies', () => {
  const HEADERS = `${HEAD}Content-Encoding: gzip\r\n`;
  const text = Buffer.alloc(500_000, 'some text of a page, ');

  /** What is going on at once. */
  function countDecoding(t) {
    const { decode } = BodyDecoder.prototype;
    const counts = { now: 0, most: 0 };
    BodyDecoder.prototype.decode = async function (bytes) {
      counts.now += 1;
      counts.most = Math.max(counts.most, counts.now);
      await decode.call(this, bytes);
      counts.now -= 1;
    };
    t.after(() => {
      BodyDecoder.prototype.decode = decode;
    });
    return counts;
  }

  test('are decoded two at a time, since all threads of the process share those that decode', async (t) => {
    const counts = countDecoding(t);
    const body = gzipSync(randomBytes(300_000));
    const { url } = await serveBytes(t, {
      '/': Buffer.concat([Buffer.from(`${HEADERS}Content-Length: ${body.length}\r\n\r\n`), body]),
    });
    const get = transport(t);
    const decoders = newDecoders();
    const bodies = await Promise.all(Array.from({ length: 30 }, () => get(url, { decoders })));
    assert.ok(bodies.every(({ length }) => length === 300_000));
    assert.deepEqual(counts, { now: 0, most: 2 });
    assert.equal(decoders.memory.used, 0);
  });

  test('whose requests are aborted, or that are damaged, do not keep others from being decoded', async (t) => {
    const body = gzipSync(text);
    const damaged = Buffer.concat([gzipSync(randomBytes(200_000)).subarray(0, 150_000), randomBytes(50_000)]);
    const bomb = gzipSync(gzipSync(Buffer.alloc(50 << 20)));
    const { url } = await serveBytes(t, {
      '/': Buffer.concat([Buffer.from(`${HEADERS}Content-Length: ${body.length}\r\n\r\n`), body]),
      '/damaged': Buffer.concat([Buffer.from(`${HEADERS}Content-Length: ${damaged.length}\r\n\r\n`), damaged]),
      '/bomb': Buffer.concat([
        Buffer.from(`${HEAD}Content-Encoding: gzip, gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`),
        bomb,
      ]),
      '/unfinished': Buffer.concat([Buffer.from(`${HEADERS}Content-Length: 1000000\r\n\r\n`), body]),
    });
    const get = transport(t, { bodyLimit: 10 << 20 });
    const decoders = newDecoders();
    const aborted = Array.from({ length: 10 }, (_, at) =>
      get(`${url}/unfinished`, { decoders, signal: AbortSignal.timeout(at * 10) }),
    );
    const failed = ['/damaged', '/bomb'].flatMap((path) =>
      Array.from({ length: 10 }, () => get(url + path, { decoders })),
    );
    const good = Array.from({ length: 10 }, () => get(url, { decoders }));
    for (const { status, reason } of await Promise.allSettled([...aborted, ...failed]))
      assert.match(`${status} ${reason}`, /^rejected .*(aborted|timeout|incorrect|invalid|larger than)/i);
    for (const read of await Promise.all(good)) assert.equal(Buffer.compare(text, read), 0);
    assert.equal((await get(url, { decoders })).length, text.length);
    assert.equal(decoders.memory.used, 0);
  });

  test('are as long as allowed, also encoded: they can decode to nothing', async (t) => {
    const blocks = Buffer.from('000000ffff'.repeat(400_000), 'hex');
    const empty = Buffer.concat([Buffer.from('1f8b0800000000000003', 'hex'), blocks]);
    const { url } = await serveBytes(t, {
      '/': Buffer.concat([Buffer.from(`${HEADERS}Content-Length: ${empty.length}\r\n\r\n`), empty]),
    });
    await assert.rejects(transport(t, { bodyLimit: 1 << 20 })(url), /larger than 1048576 bytes/);
  });

  test('end where their headers say, and what comes after that is no part of the next one', async (t) => {
    const more = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmore';
    const { url, connections } = await serveBytes(t, {
      '/none': Buffer.from(`HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody`),
      '/longer': Buffer.from(`${HEAD}Content-Length: 4\r\n\r\nbody and more`),
      '/response': Buffer.from(`${HEAD}Content-Length: 4\r\n\r\nbody${more}`),
      '/': Buffer.from(`${HEAD}Content-Length: 4\r\n\r\nnext`),
    });
    const get = transport(t);
    for (const [path, body] of Object.entries({ '/none': '', '/longer': 'body', '/response': 'body' })) {
      assert.equal(String(Buffer.from(await get(url + path))), body, path);
      assert.equal(String(Buffer.from(await get(url))), 'next');
    }
    assert.ok(connections.count >= 3, `${connections.count} connections`);
  });

  test('end where their coding does, whatever comes after that', async (t) => {
    const body = Buffer.concat([gzipSync(text), Buffer.alloc(10_000)]);
    const twice = gzipSync(body);
    const { url } = await serveBytes(t, {
      // There is more to come, which nobody waits for.
      '/more': Buffer.concat([Buffer.from(`${HEADERS}Content-Length: 100000000\r\n\r\n`), body]),
      '/twice': Buffer.concat([
        Buffer.from(`${HEAD}Content-Encoding: gzip, gzip\r\nContent-Length: ${twice.length}\r\n\r\n`),
        twice,
      ]),
      '/empty': Buffer.from(`${HEADERS}Content-Length: 0\r\n\r\n`),
    });
    const get = transport(t);
    const decoders = newDecoders();
    for (const path of ['/more', '/twice'])
      assert.equal(Buffer.compare(text, await get(url + path, { decoders })), 0, path);
    assert.equal((await get(`${url}/empty`, { decoders })).length, 0);
    assert.equal(decoders.memory.used, 0);
  });
});

const hasOpenSsl = spawnSync('openssl', ['version']).status === 0;

suite('connections over TLS', () => {
  const text = Buffer.concat([randomBytes(200_000), Buffer.alloc(200_000, 'text')]);
  const short = whole(Buffer.from('text'));
  const options = { ca: cert, isUnref: true };

  test('receive what was sent, also on those that are used again', async (t) => {
    keepAlive(t);
    const { url, stats } = await serveTls(t, {
      responses: {
        '/whole': whole(text),
        '/gzip': whole(gzipSync(text), 'Content-Encoding: gzip\r\n'),
        '/chunked': Buffer.concat([Buffer.from(`${HEAD}${CHUNKED}\r\n`), chunked(text, 1_000)]),
        '/end?close': Buffer.concat([Buffer.from(`${HEAD}\r\n`), text]),
      },
    });
    const get = transport(t, options);
    const paths = ['/whole', '/gzip', '/chunked', '/end?close'].flatMap((path) => Array(12).fill(path));
    const bodies = await Promise.all(paths.map((path) => get(url + path)));
    for (const [at, body] of bodies.entries()) assert.equal(Buffer.compare(text, body), 0, paths[at]);
    const { connections } = await stats();
    assert.ok(connections <= 16 + 12, `${connections} connections`);
    // What a server does with a connection that is idle is noticed: it is not used any more.
    const again = transport(t, options);
    assert.equal((await again(`${url}/end?close`)).length, text.length);
    assert.equal((await again(`${url}/whole`)).length, text.length);
  });

  test('receive records in pieces of a byte each', async (t) => {
    keepAlive(t);
    const { url } = await serveTls(t, { responses: { '/': whole(text.subarray(0, 2_000)) } });
    // Between the two, so that pieces come one after the other.
    const proxy = net.createServer((socket) => {
      const server = net.connect(Number(new URL(url).port), 'localhost');
      for (const one of [socket, server]) one.on('error', () => {}).setNoDelay(true);
      socket.pipe(server);
      server.on('data', async (bytes) => {
        server.pause();
        for (const byte of bytes) {
          socket.write(Buffer.of(byte));
          await setImmediate();
        }
        server.resume();
      });
    });
    proxy.listen(0, 'localhost');
    await once(proxy, 'listening');
    t.after(() => proxy.close());
    const body = await transport(t, options)(`https://localhost:${proxy.address().port}/`);
    assert.equal(Buffer.compare(text.subarray(0, 2_000), body), 0);
  });

  test('receive records of a byte each', async (t) => {
    keepAlive(t);
    const { url } = await serveTls(t, { responses: { '/': whole(text.subarray(0, 3_000)) }, recordSize: 1 });
    const get = transport(t, options);
    const bodies = await Promise.all(Array.from({ length: 10 }, () => get(`${url}/`)));
    for (const body of bodies) assert.equal(Buffer.compare(text.subarray(0, 3_000), body), 0);
  });

  test('are read one after the other, however many have received something', async (t) => {
    keepAlive(t);
    const { url } = await serveTls(t, { responses: { '/': short } });
    const gets = [transport(t, options), transport(t, options)];
    // Two handshakes in a turn of the event loop would be two certificates to verify.
    let inTurn = 0;
    let most = 0;
    let handshakes = 0;
    const { emit } = TLSSocket.prototype;
    TLSSocket.prototype.emit = function (name, ...values) {
      if (name === 'secure' && !this.isServer) {
        handshakes += 1;
        inTurn += 1;
        most = Math.max(most, inTurn);
        setImmediate().then(() => {
          inTurn = 0;
        });
      }
      return emit.call(this, name, ...values);
    };
    t.after(() => {
      TLSSocket.prototype.emit = emit;
    });
    const bodies = Promise.all(Array.from({ length: 32 }, (_, at) => gets[at % 2](`${url}/`)));
    for (let turn = 0; turn < 20; turn++) {
      await setTimeout(5);
      // The server answers all of them meanwhile.
      block(50);
    }
    assert.equal((await bodies).length, 32);
    assert.ok(handshakes >= 20, `${handshakes} handshakes`);
    assert.equal(most, 1);
  });

  test('have their turns page by page', async (t) => {
    keepAlive(t);
    const { url } = await serveTls(t, { responses: { '/': short } });
    const [many, few] = [transport(t, options), transport(t, options)];
    const order = [];
    const note = (who) => () => order.push(who);
    // The second one asks later, and does not wait for all of the first one.
    const first = Array.from({ length: 16 }, () => many(`${url}/`).then(note('many')));
    const second = few(`${url}/`).then(note('few'));
    for (let turn = 0; turn < 10; turn++) {
      await setTimeout(5);
      // The server answers all of them meanwhile.
      block(50);
    }
    await Promise.all([...first, second]);
    assert.ok(order.indexOf('few') < 12, order.join());
  });

  test('make no handshake that a server can make expensive', async (t) => {
    keepAlive(t);
    const length = (size) => (size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255]);
    const der = (tag, content) => Buffer.concat([Buffer.from([tag, ...length(content.length)]), content]);
    // Any odd number does as a prime. Computing with one of 8,800 bits took 0.7 s.
    const prime = Buffer.concat([Buffer.from([0, 0x80]), randomBytes(1_098), Buffer.from([1])]);
    const parameters = der(0x30, Buffer.concat([der(2, prime), der(2, Buffer.from([5]))]));
    const base64 = parameters.toString('base64').replace(/.{64}/g, '$&\n');
    const dhparam = `-----BEGIN DH PARAMETERS-----\n${base64}\n-----END DH PARAMETERS-----\n`;
    const { url } = await serveTls(t, {
      responses: { '/': short },
      tls: { maxVersion: 'TLSv1.2', ciphers: 'DHE-RSA-AES128-GCM-SHA256', dhparam },
    });
    await assert.rejects(transport(t, options)(`${url}/`), /handshake failure/);
    const groups = await serveTls(t, { responses: { '/': short }, tls: { ecdhCurve: 'ffdhe8192:sect571r1' } });
    await assert.rejects(transport(t, options)(`${groups.url}/`), /handshake failure/);
  });

  test('refuse certificates that are very long together', async (t) => {
    keepAlive(t);
    const server = (count) =>
      serveTls(t, { responses: { '/': short }, tls: { cert: cert + `\n${cert}`.repeat(count) } });
    // Each has 800 bytes.
    const [few, many] = await Promise.all([server(10), server(30)]);
    assert.equal(String(await transport(t, options)(`${few.url}/`)), '116,101,120,116');
    await assert.rejects(transport(t, options)(`${many.url}/`), /excessive message size/);
  });

  test('refuse certificates with keys of kinds that browsers do not know, however they are written', async (t) => {
    keepAlive(t);
    const tlsVersions = [{}, { maxVersion: 'TLSv1.2' }];
    // Beside the server's own.
    const get = async (certificate, version) => {
      const tls = { cert: `${cert}\n${certificate}`, ...version };
      const { url } = await serveTls(t, { responses: { '/': short }, tls });
      return await transport(t, options)(`${url}/`).then(String, ({ message }) => message);
    };
    for (const version of tlsVersions) {
      assert.equal(await get(USUAL_CERTIFICATE, version), '116,101,120,116');
      for (const [what, certificate] of Object.entries(ODD_CERTIFICATES))
        assert.match(await get(certificate, version), /SSL routines/, what);
    }
  });

  test('take certificates with keys of all kinds that browsers know', {
    skip: !hasOpenSsl && 'it needs openssl',
  }, async (t) => {
    keepAlive(t);
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-'));
    t.after(() => fs.rmSync(folder, { recursive: true }));
    const file = path.join(folder, 'certificate');
    const curve = (name) => ['ec', '-pkeyopt', `ec_paramgen_curve:${name}`];
    for (const kind of [['rsa:2048'], ['rsa-pss'], ['ed25519'], ['ed448'], curve('P-256'), curve('P-521')]) {
      const { status } = spawnSync('openssl', [
        ...['req', '-x509', '-newkey', ...kind, '-nodes', '-keyout', `${file}.key`, '-out', file],
        ...['-days', '9', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'],
      ]);
      assert.equal(status, 0);
      const own = { cert: fs.readFileSync(file, 'utf8'), key: fs.readFileSync(`${file}.key`, 'utf8') };
      const { url } = await serveTls(t, { responses: { '/': short }, tls: own });
      const got = await transport(t, { ...options, ca: own.cert })(`${url}/`);
      assert.equal(String(got), '116,101,120,116', kind.join(' '));
    }
  });

  test('end after very many messages that are no data', { skip: !hasOpenSsl && 'it needs openssl' }, async (t) => {
    keepAlive(t);
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-'));
    t.after(() => fs.rmSync(folder, { recursive: true }));
    const file = path.join(folder, 'certificate.pem');
    fs.writeFileSync(file, `${key}\n${cert}\n`);
    for (const [tickets, isFine] of [
      [8, true],
      [300, false],
    ]) {
      const server = spawn('openssl', [
        ...['s_server', '-www', '-accept', '127.0.0.1:0', '-cert', file, '-key', file],
        ...['-num_tickets', String(tickets)],
      ]);
      t.after(() => server.kill());
      let port;
      for await (const output of server.stdout) {
        port = /^ACCEPT .*:(\d+)$/m.exec(String(output))?.[1];
        if (port !== undefined) break;
      }
      const got = transport(
        t,
        options,
      )(`https://127.0.0.1:${port}/`).then(
        ({ length }) => length > 100,
        () => false,
      );
      assert.equal(await got, isFine, `${tickets} tickets`);
    }
  });

  test('end no process by a damaged record after a response', async (t) => {
    keepAlive(t);
    const thrown = uncaught(t);
    const switching = Buffer.from('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n');
    for (const [response, expected] of [
      [short, '116,101,120,116'],
      [switching, /switched to a protocol/],
    ]) {
      let isResponding = false;
      const server = tls.createServer({ key, cert }, (socket) => {
        socket.on('error', () => {});
        socket.on('data', () => {
          isResponding = true;
          socket.write(response);
        });
      });
      server.on('tlsClientError', () => {});
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const damaged = Buffer.concat([Buffer.from([0x17, 3, 3, 0, 64]), randomBytes(64)]);
      const proxy = net.createServer((socket) => {
        const connection = net.connect(server.address().port, '127.0.0.1');
        for (const end of [socket, connection]) end.on('error', () => {});
        socket.on('data', (bytes) => connection.write(bytes));
        socket.on('close', () => connection.destroy());
        connection.on('data', (bytes) => {
          if (isResponding) socket.end(Buffer.concat([bytes, damaged]));
          else socket.write(bytes);
          isResponding = false;
        });
      });
      proxy.listen(0, '127.0.0.1');
      await once(proxy, 'listening');
      t.after(() => {
        proxy.close();
        server.close();
      });
      for (const isUnref of [false, true]) {
        const got = transport(t, { ...options, isUnref })(`https://localhost:${proxy.address().port}/`);
        assert.match(await got.then(String, ({ message }) => message), new RegExp(expected));
        await setTimeout(100);
      }
    }
    assert.deepEqual(thrown, []);
  });

  test('make no second handshake', async (t) => {
    keepAlive(t);
    const { url, stats } = await serveTls(t, {
      responses: { '/': short },
      tls: { maxVersion: 'TLSv1.2' },
      renegotiates: true,
    });
    await transport(t, options)(`${url}/`).catch(() => {});
    assert.equal((await stats()).renegotiated, 0);
  });
});
