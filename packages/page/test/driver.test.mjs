// The process that hosts pages for the CLI: requests and responses over a socket, and how it ends.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { eventually, jsdom, serve } from './server.mjs';

const PROGRAM = fileURLToPath(new URL('../src/host/driver-process.cjs', import.meta.url));

/** Two ends of a socket. */
async function pair() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-'));
  const server = net.createServer().listen(path.join(folder, 'socket'));
  await once(server, 'listening');
  const ours = net.connect(path.join(folder, 'socket'));
  const [theirs] = await once(server, 'connection');
  server.close();
  fs.rmSync(folder, { recursive: true });
  return [ours, theirs];
}

/** Starts the program as the CLI does: a socket is its standard input. */
async function start(t, stderr = 'inherit') {
  const [socket, theirs] = await pair();
  const child = spawn(process.execPath, [PROGRAM], { stdio: [theirs, 'inherit', stderr] });
  theirs.destroy();
  t.after(() => child.kill('SIGKILL'));
  const answers = new Map();
  const events = [];
  createInterface({ input: socket }).on('line', (line) => {
    const message = JSON.parse(line);
    if (message.id === undefined) events.push(message);
    else answers.get(message.id)(message);
  });
  let next = 1;
  const call = (method, parameters = {}) =>
    new Promise((resolve, reject) => {
      const id = next++;
      answers.set(id, ({ result, error }) =>
        error === undefined ? resolve(result) : reject(Object.assign(new Error(error.message), error)),
      );
      socket.write(`${JSON.stringify({ id, method, parameters })}\n`);
    });
  return { child, socket, events, call };
}

const TOP = { frame: 0, document: 0 };
const run = (call, window, script, timeout = 30_000, context = TOP) =>
  call('perform', {
    window,
    context,
    command: 'execute',
    parameters: { script, parameters: '[]' },
    timeout,
    timeoutError: 'script timeout',
  });

test('whatever a page throws is answered, and does not choose the error of WebDriver', async (t) => {
  const { call } = await start(t);
  await call('start', { jsdom });
  const { window } = await call('open', {});
  const codeOf = (answer) =>
    answer.then(
      () => undefined,
      ({ code }) => code,
    );
  for (const thrown of ['null', 'Symbol()', '{ get message() { throw 1 } }']) {
    assert.equal(await codeOf(run(call, window, `throw ${thrown}`)), 'javascript error', thrown);
    assert.equal(await codeOf(run(call, window, `return Promise.reject(${thrown})`)), 'javascript error', thrown);
    assert.equal(await codeOf(run(call, window, `return { get a() { throw ${thrown} } }`)), 'javascript error', thrown);
    const set = `Object.defineProperty(document.documentElement, 'thrown', { get() { throw ${thrown} }, configurable: true }); return document.documentElement`;
    const element = Object.values(await run(call, window, set))[0];
    const parameters = { element, name: 'thrown' };
    const asked = call('perform', { window, context: TOP, command: 'property', parameters, timeout: 30_000 });
    assert.ok(['unknown error', 'javascript error'].includes(await codeOf(asked)), thrown);
  }
  await run(
    call,
    window,
    `for (const name of ['code', 'message']) Object.defineProperty(Object.prototype, name, { set() {}, get: () => 'no such window' })`,
  );
  assert.equal(await codeOf(run(call, window, 'const a = []; a.push(a); return a')), 'javascript error');
});

test('references of frames of other origins are their own', async (t) => {
  const other = await serve(t, { '*': '' });
  const server = await serve(t, {
    '/': [1, 2, 3].map((n) => `<iframe src="${other.url(`/${n}`)}"></iframe>`).join(''),
  });
  const { call } = await start(t);
  await call('start', { jsdom });
  const { window } = await call('open', { url: server.url('/') });
  const references = new Set();
  for (const index of [0, 1, 2]) {
    const context = await call('enter', { window, context: TOP, which: { index }, timeout: 30_000 });
    const referTo = () => run(call, window, 'return document.documentElement', 30_000, context);
    const [reference] = Object.values(await referTo());
    assert.deepEqual(Object.values(await referTo()), [reference]);
    references.add(reference);
  }
  assert.equal(references.size, 3);
});

test('a document that a page has asked for is loaded again as it asked for it', async (t) => {
  const victim = await serve(t, {
    '*': {
      body: '',
      headers: { 'content-type': 'text/html', 'set-cookie': ['strict=1; SameSite=Strict', 'lax=1; SameSite=Lax'] },
    },
  });
  const attacker = await serve(t, { '*': { body: '', headers: { 'content-type': 'text/html' } } });
  const { call } = await start(t);
  await call('start', { jsdom });
  const local = (path) => `http://localhost:${victim.port}${path}`;
  const { window } = await call('open', { url: local('/login') });
  await call('navigate', { window, url: attacker.url('/') });
  await run(call, window, `location.href = '${local('/transfer')}'`);
  await call('settle', { window, waitUntil: 'load', timeout: 10_000 });
  assert.equal(await call('url', { window }), local('/transfer'));
  await call('reload', { window });
  const traverse = (delta) => call('traverse', { window, delta, context: TOP, scriptTimeout: 10_000 });
  await traverse(-1);
  await traverse(1);
  await call('navigate', { window, url: local('/own') });
  await call('reload', { window });
  assert.deepEqual(
    victim.requests.slice(1).map(({ url, headers }) => [url, headers.cookie, headers['sec-fetch-site']]),
    [...Array(3).fill(['/transfer', 'lax=1', 'cross-site']), ...Array(2).fill(['/own', 'strict=1; lax=1', 'none'])],
  );
});

test('a document that has moved is loaded again where it is, also when it does not answer', async (t) => {
  const server = await serve(t, { '/': '<title>first</title>', '/moved': '<title>second</title>' });
  const { call, events } = await start(t);
  await call('start', { jsdom });
  const { window } = await call('open', { url: server.url('/') });
  await run(call, window, "history.pushState(null, '', '/moved#y')");
  await call('reload', { window });
  assert.equal(await call('url', { window }), server.url('/moved#y'));
  await run(call, window, "history.pushState(null, '', '/'); setTimeout(() => { console.log('loop'); for (;;); })");
  await eventually(() => events.some(({ text }) => text === 'loop'));
  await call('reload', { window });
  assert.equal(await call('url', { window }), server.url('/'));
  assert.deepEqual(
    server.requests.map(({ url }) => url).filter((url) => !url.startsWith('/favicon')),
    ['/', '/moved', '/'],
  );
});

test('the URL of a document is the one that its page has given it, with its fragment', async (t) => {
  const server = await serve(t, { '/': '<title>first</title>' });
  const { call } = await start(t);
  await call('start', { jsdom });
  const { window } = await call('open', { url: server.url('/') });
  const ask = (command, parameters = {}) =>
    call('perform', { window, context: TOP, command, parameters, timeout: 10_000 });
  assert.equal(await ask('url'), server.url('/'));
  assert.equal(await ask('fragment', { url: server.url('/#x') }), true);
  assert.equal(await ask('fragment', { url: server.url('/other#x') }), false);
  await run(call, window, "history.pushState(null, '', '/moved#y')");
  assert.equal(await ask('url'), server.url('/moved#y'));
});

test('several pages run at once and do not block each other', async (t) => {
  const server = await serve(t, { '/': '<script>console.log("hello")</script>' });
  const { call, events } = await start(t);
  assert.deepEqual(await call('start', { jsdom }), { node: process.version });
  const [a, b] = (await Promise.all([call('open', {}), call('open', { url: server.url('/') })])).map(
    ({ window }) => window,
  );
  assert.deepEqual((await call('windows')).sort(), [a, b].sort());
  const endless = run(call, a, 'for (;;);', 2_000);
  endless.catch(() => {});
  for (let i = 0; i < 3; i++) assert.equal(await run(call, b, `return ${i}`), i);
  await assert.rejects(endless, { code: 'script timeout' });
  await assert.rejects(run(call, a, 'return 1'), { code: 'unknown error' });
  await call('navigate', { window: b, url: server.url('/'), waitUntil: 'load', timeout: null });
  assert.ok(events.some(({ event, window, text }) => event === 'console' && window === b && text === 'hello'));
  await call('close', { window: a });
  await assert.rejects(run(call, a, 'return 1'), { code: 'no such window' });
  await assert.rejects(call('fly'), { code: 'unknown command' });
  await assert.rejects(call('constructor'), { code: 'unknown command' });
});

test('without jsdom, it reports that jsdom was not found', async (t) => {
  const { call } = await start(t);
  await assert.rejects(
    call('start', { jsdom: path.join(os.tmpdir(), 'nowhere') }),
    /jsdom was not found at .*npm install/s,
  );
});

test('it ends when its socket closes, even while a page is in an endless loop', async (t) => {
  const { call, child, socket } = await start(t);
  await call('start', { jsdom });
  const { window } = await call('open', {});
  await run(call, window, 'setTimeout(() => { for (;;); })');
  socket.destroy();
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('a malformed request ends it', async (t) => {
  const { child, socket } = await start(t, 'ignore');
  socket.write('hello\n');
  const [code] = await once(child, 'exit');
  assert.notEqual(code, 0);
});
