// The process that hosts pages for the CLI: requests and responses over a socket, and how it ends.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { suite, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { jsdom, serve } from './server.mjs';

const require = createRequire(import.meta.url);
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
      answers.set(id, ({ result, json, error }) => {
        if (error !== undefined) reject(Object.assign(new Error(error.message), error));
        else resolve(json === undefined ? result : JSON.parse(json));
      });
      socket.write(`${JSON.stringify({ id, method, parameters })}\n`);
    });
  return { child, socket, events, call };
}

const TOP = { frame: 0, document: 0 };
const run = (call, window, script, timeout = 30_000) =>
  call('perform', {
    window,
    context: TOP,
    command: 'execute',
    parameters: { script, parameters: '[]' },
    timeout,
    timeoutError: 'script timeout',
  });

test('errors of pages are as long as the user can take, and do not end the process', {
  timeout: 120_000,
}, async (t) => {
  const { call } = await start(t);
  await call('start', { jsdom });
  const { window } = await call('open', {});
  // JSON escapes each of the characters by six, which is more than V8's longest text.
  for (const thrown of [
    "new Error('\\x01'.repeat(9e7))",
    "Object.assign(new Error('a'), { stack: '\\x01'.repeat(9e7) })",
    "({ toString() { return '\\x01'.repeat(9e7); } })",
  ]) {
    const error = await run(call, window, `throw ${thrown};`, 60_000).then(
      () => undefined,
      (error) => error,
    );
    assert.equal(error.code, 'javascript error', error.message);
    assert.ok(error.message.length + error.stack.length < 30_000, thrown);
  }
  assert.equal(await run(call, window, 'return 1 + 1;'), 2);
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
  const REVOKED = '(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy })()';
  for (const thrown of [
    'new Proxy({}, { getPrototypeOf() { throw 1 }, get() { throw 2 } })',
    REVOKED,
    'null',
    'Symbol()',
  ]) {
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

test('a frame does not learn from references how many frames of other origins there are', async (t) => {
  const other = await serve(t, { '*': '' });
  const server = await serve(t, {
    '/': `<iframe src="${other.url('/1')}"></iframe><iframe src="${other.url('/2')}"></iframe><iframe src="${other.url('/3')}"></iframe>`,
  });
  const { call } = await start(t);
  await call('start', { jsdom });
  const { window } = await call('open', { url: server.url('/') });
  const numbers = [];
  for (const index of [0, 1, 2]) {
    const context = await call('enter', { window, context: TOP, which: { index }, timeout: 30_000 });
    const parameters = { script: 'return document.documentElement', parameters: '[]' };
    const run = () =>
      call('perform', {
        window,
        context,
        command: 'execute',
        parameters,
        timeout: 30_000,
        timeoutError: 'script timeout',
      });
    const [reference] = Object.values(await run());
    assert.deepEqual(Object.values(await run()), [reference]);
    numbers.push(Number(reference.split('.')[2]));
  }
  assert.ok(
    numbers.some((number) => number > 1_000),
    `${numbers}`,
  );
  assert.equal(new Set(numbers).size, 3);
});

test('the history of a window is limited in length, and has its current URL', () => {
  const { History } = createRequire(import.meta.url)('../src/host/history.cjs');
  const history = new History();
  for (let count = 0; count < 300; count++) history.push({ url: `http://a.test/${count}` });
  assert.equal(history.peek(0).url, 'http://a.test/299');
  assert.equal(history.peek(-99).url, 'http://a.test/200');
  assert.equal(history.peek(-100), undefined);
  const long = (letter) => `http://a.test/${letter.repeat(600_000)}`;
  for (const letter of 'abc') history.push({ url: long(letter) });
  assert.equal(history.peek(0).url, long('c'));
  assert.equal(history.peek(-1), undefined);
  history.push({ url: `http://a.test/${'d'.repeat(2_000_000)}` });
  assert.equal(history.peek(0).url.length, 2_000_014);
  assert.equal(history.peek(-1), undefined);
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

test('a document that has moved is loaded again where it is, unless it does not answer', async (t) => {
  const server = await serve(t, { '/': '<title>first</title>', '/moved': '<title>second</title>' });
  const { call } = await start(t);
  await call('start', { jsdom });
  const { window } = await call('open', { url: server.url('/') });
  await run(call, window, "history.pushState(null, '', '/moved#y')");
  await call('reload', { window });
  assert.equal(await call('url', { window }), server.url('/moved#y'));
  await run(call, window, "history.pushState(null, '', '/'); setTimeout(() => { for (;;); })");
  await delay(500);
  await call('reload', { window });
  assert.equal(await call('url', { window }), server.url('/moved#y'));
  assert.deepEqual(
    server.requests.map(({ url }) => url).filter((url) => !url.startsWith('/favicon')),
    ['/', '/moved', '/moved'],
  );
});

test('the URL of a document is of its origin, whatever its page says', async (t) => {
  const victim = await serve(t, { '/': '<title>victim</title>' });
  const attacker = await serve(t, { '/': '<title>attacker</title>', '/moved': '' });
  const { call } = await start(t);
  await call('start', { jsdom });
  const { window } = await call('open', { url: attacker.url('/') });
  const ask = (command, parameters = {}) =>
    call('perform', { window, context: TOP, command, parameters, timeout: 10_000 });
  assert.equal(await ask('url'), attacker.url('/'));
  assert.equal(await ask('fragment', { url: attacker.url('/#x') }), true);
  await run(call, window, "history.pushState(null, '', '/moved#y')");
  assert.equal(await ask('url'), attacker.url('/moved#y'));
  await run(call, window, `history.pushState(null, '', '/${'x'.repeat(10_000)}')`);
  assert.equal(await ask('url'), attacker.url(`/${'x'.repeat(10_000)}`));
  for (const claimed of [
    victim.url('/'),
    `${attacker.origin}${'\\t'.repeat(5_000)}@127.0.0.1/`,
    `${attacker.origin}@127.0.0.1/`,
    'http://user@127.0.0.1/',
    'nonsense',
    'file:///etc/passwd',
    'about:blank',
  ]) {
    await run(
      call,
      window,
      `const { host, port } = new URL('${victim.origin}');
      const claimed = { scheme: 'http', username: '', password: '', host, port: Number(port), path: [''], query: null, fragment: null };
      Object.defineProperty(window._document, 'URL', { get: () => '${claimed}', configurable: true });
      Object.defineProperty(window._document, '_URL', { get: () => claimed, set() {}, configurable: true });`,
    );
    assert.equal(await ask('url'), attacker.url('/'), claimed);
    assert.equal(await ask('fragment', { url: victim.url('/#x') }), false, claimed);
    assert.equal(await ask('fragment', { url: 'about:blank#x' }), false, claimed);
  }
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

suite('JSON of a page', () => {
  const { JsonText } = require('../src/host/json-text.cjs');
  const { toAnswer } = require('../src/host/lines.cjs');

  test('is passed on as text, in which every reader finds characters', () => {
    const text = JSON.stringify(['"\\', '\ud800', '\\ud800', '\u2028ä']);
    const { id, json, result } = JSON.parse(toAnswer(7, new JsonText(text)));
    assert.deepEqual([id, result], [7, undefined]);
    assert.deepEqual(JSON.parse(json), ['"\\', '\ufffd', '\\ud800', '\u2028ä']);
    assert.equal(json.includes('\\ud800"'), true, 'which is no escape');
    assert.equal(JSON.parse(toAnswer(7, new JsonText('"\ud800"'))).json, '"\ufffd"');
    // `JSON.rawJSON` can hold them as they are.
    assert.equal(toAnswer(7, new JsonText(`"${'\ud800'.repeat(1_000)}"`)).length, 1_022);
    assert.equal(toAnswer(7, undefined), '{"id":7,"result":null}');
  });

  test('is refused if it is no text, or has characters that JSON escapes', () => {
    for (const given of [undefined, null, 7, {}, '"\n"', '\0'.repeat(1e6)])
      assert.throws(() => new JsonText(given), { code: 'unknown error', message: "the page's answer cannot be read" });
  });

  test('is read here only if it is short', () => {
    assert.deepEqual(new JsonText('{"window":1}').read(), { window: 1 });
    for (const text of ['', '{', `[${'1,'.repeat(1_000)}1]`])
      assert.throws(() => new JsonText(text).read(), { code: 'unknown error' });
  });
});
