// WebSockets of pages and workers, with a server of RFC 6455.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { suite, test } from 'node:test';

import { cert, key } from './certificate.mjs';
import { eventually, host, open, openHtml, serve } from './server.mjs';

const TEXT = 1;
const CLOSE = 8;

function frame(opcode, payload) {
  return Buffer.concat([Buffer.from([0x80 | opcode, payload.length]), payload]);
}

/** Reads a short frame of a client, all of which are masked. */
function readFrames(data, onFrame) {
  for (let at = 0; at < data.length; ) {
    const length = data[at + 1] & 0x7f;
    const payload = data.subarray(at + 6, at + 6 + length);
    onFrame(data[at] & 15, Buffer.from(payload.map((byte, i) => byte ^ data[at + 2 + (i % 4)])));
    at += 6 + length;
  }
}

/** A server that sends back what it gets, and closes when it is asked to. */
async function serveSockets(t, { secure = false, headers = [], answersClose = true } = {}) {
  const server = secure ? https.createServer({ key, cert }) : http.createServer();
  const handshakes = [];
  const closed = [];
  const sockets = new Set();
  server.on('request', (_request, response) => response.writeHead(404, { 'set-cookie': 'refused=1' }).end());
  server.on('upgrade', (request, socket) => {
    handshakes.push(request);
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    const protocol = request.headers['sec-websocket-protocol']?.split(',')[0];
    const lines = [
      'HTTP/1.1 101 Switching Protocols',
      'Upgrade: websocket',
      'Connection: Upgrade',
      `Sec-WebSocket-Accept: ${accept}`,
      ...(protocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
      ...headers,
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    socket.on('data', (data) =>
      readFrames(data, (opcode, payload) => {
        if (opcode === CLOSE) closed.push(payload.toString('latin1'));
        if (opcode === CLOSE && !answersClose) return;
        const end = opcode === TEXT && String(payload) === 'end';
        socket.write(end ? frame(CLOSE, Buffer.from([0x0f, 0xa0])) : frame(opcode, payload));
        if (opcode === CLOSE) socket.end();
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address();
  return { handshakes, closed, sockets, port, url: `${secure ? 'wss' : 'ws'}://localhost:${port}/socket` };
}

/** Sends texts and bytes, has them sent back, and closes. Runs in the page. */
function talk(url, protocols = []) {
  return new Promise((resolve) => {
    const log = [];
    const socket = new WebSocket(url, protocols);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      log.push(`open ${socket.protocol} ${socket.readyState}`);
      socket.send('tëxt');
      socket.send(new Uint8Array([1, 2, 3]));
      socket.send(new Blob(['blob']));
    };
    socket.onmessage = ({ data, origin }) => {
      log.push(typeof data === 'string' ? data : data instanceof ArrayBuffer && [...new Uint8Array(data)].join());
      if (log.length === 4) socket.close(4001, origin === new URL(url).origin ? 'done' : origin);
    };
    socket.onerror = () => log.push('error');
    socket.onclose = ({ code, reason, wasClean }) => resolve([...log, `${code} ${reason} ${wasClean}`]);
  });
}

const TALK = ['tëxt', '1,2,3', '98,108,111,98', '4001 done true'];
const FAILED = ['error', '1006  false'];

suite('a WebSocket', () => {
  test('carries texts and bytes, with the headers and the cookies of its page', async (t) => {
    const sockets = await serveSockets(t, { headers: ['Set-Cookie: id=1; HttpOnly', 'Set-Cookie: shown=2'] });
    const server = await serve(t, { '/': '', '/cookie': ({ headers }) => headers.cookie });
    const page = await open(t, `http://localhost:${server.port}/`, { host: host(t, { userAgent: 'own agent' }) });
    await page.evaluate("document.cookie = 'page=3'");
    assert.deepEqual(await page.evaluate(talk, sockets.url, ['chat', 'other']), ['open chat 1', ...TALK]);
    const { headers } = sockets.handshakes[0];
    const { origin, cookie } = headers;
    assert.deepEqual([origin, cookie], [`http://localhost:${server.port}`, 'page=3']);
    assert.equal(headers['user-agent'], 'own agent');
    assert.equal(await page.evaluate('document.cookie'), 'page=3; shown=2');
    const sent = await page.evaluate("fetch('/cookie').then((response) => response.text())");
    assert.equal(sent, 'page=3; id=1; shown=2');
    await page.evaluate(talk, sockets.url);
    assert.equal(sockets.handshakes[1].headers.cookie, sent);
    assert.deepEqual(page.problems, []);
  });

  test('works in a worker', async (t) => {
    const sockets = await serveSockets(t);
    const page = await openHtml(t, '', {
      routes: { '/w.js': `${talk}; onmessage = async ({ data }) => postMessage(await talk(data));` },
    });
    const result = await page.evaluate(
      `new Promise((resolve) => {
        const worker = new Worker('/w.js');
        worker.onmessage = ({ data }) => resolve(data);
        worker.postMessage('${sockets.url}');
      })`,
    );
    assert.deepEqual(result, ['open  1', ...TALK]);
    assert.equal(sockets.handshakes[0].headers.origin, page.server.origin);
  });

  test('uses the addresses and certificates of the host', async (t) => {
    const sockets = await serveSockets(t);
    const secure = await serveSockets(t, { secure: true });
    const server = await serve(t, { '/': '' });
    const named = `ws://name.test:${sockets.port}/`;
    const attempt = async (options, url) => {
      const page = await open(t, server.url('/'), { host: host(t, options) });
      return [(await page.evaluate(talk, url)).at(-1), page.problems.length];
    };
    assert.deepEqual(await attempt({ hosts: { 'name.test': '127.0.0.1' } }, named), [TALK.at(-1), 0]);
    assert.equal(sockets.handshakes[0].headers.host, `name.test:${sockets.port}`);
    assert.deepEqual(await attempt({}, secure.url), [FAILED[1], 1]);
    assert.deepEqual(await attempt({ ca: cert }, secure.url), [TALK.at(-1), 0]);
    assert.deepEqual(await attempt({ ignoreCertificateErrors: true }, secure.url), [TALK.at(-1), 0]);
  });

  test('fails where it must not or cannot connect, and the user is told why', async (t) => {
    const sockets = await serveSockets(t);
    const server = await serve(t, { '*': '' });
    const page = await openHtml(t, '');
    for (const url of ['ws://127.0.0.1:1/', 'ws://localhost:6000/', server.origin.replace('http', 'ws')])
      assert.deepEqual(await page.evaluate(talk, url), FAILED, url);
    assert.equal(page.problems.length, 3);
    for (const parameters of ["'ws://['", "'ftp://x/'", `'${sockets.url}', 'a b'`])
      assert.equal(
        await page.evaluate(
          `(() => { try { new WebSocket(${parameters}); } catch (error) { return error.name + (error instanceof DOMException); } })()`,
        ),
        'SyntaxErrortrue',
      );
    assert.equal((await page.evaluate(talk, sockets.url)).at(-1), TALK.at(-1));
  });

  test('is closed by its server', async (t) => {
    const { url } = await serveSockets(t);
    const page = await openHtml(t, '');
    const code = await page.evaluate(
      `new Promise((resolve) => {
        const socket = new WebSocket('${url}');
        socket.onopen = () => socket.send('end');
        socket.onclose = ({ code, wasClean }) => resolve([code, wasClean, socket.readyState].join());
      })`,
    );
    assert.equal(code, '4000,true,3');
  });

  for (const answersClose of [true, false])
    test(`is closed with its document, if its server answers that: ${answersClose}`, async (t) => {
      const sockets = await serveSockets(t, { answersClose });
      const connect = `new Promise((resolve) => { new WebSocket('${sockets.url}').onopen = resolve; })`;
      const page = await openHtml(t, '<iframe src="/frame"></iframe>', {
        routes: {
          '/frame': `<script>parent.opened = ${connect};</script>`,
          '/next': '',
          '/w.js': `${connect}.then(() => postMessage('open'));`,
        },
      });
      await page.evaluate('opened.then(() => {})');
      assert.equal(sockets.sockets.size, 1);
      await page.evaluate("document.querySelector('iframe').remove()");
      await eventually(() => sockets.sockets.size === 0);
      assert.equal(sockets.closed.length, 1);
      await page.evaluate(`${connect}.then(() => {})`);
      await page.evaluate(
        "new Promise((resolve) => { globalThis.worker = new Worker('/w.js'); worker.onmessage = () => resolve(); })",
      );
      assert.equal(sockets.sockets.size, 2);
      await page.evaluate('worker.terminate()');
      await eventually(() => sockets.sockets.size === 1);
      await page.navigate(page.server.url('/next'));
      await eventually(() => sockets.sockets.size === 0);
      await page.evaluate(`${connect}.then(() => {})`);
      await page.close();
      await eventually(() => sockets.sockets.size === 0);
    });
});
