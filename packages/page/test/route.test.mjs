// Requests that the user of a page decides about.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { suite, test } from 'node:test';

import { runProgram } from './programs.mjs';
import { host, open, serve } from './server.mjs';

/** What the page gets for a URL. */
const get = (page, url, init) =>
  page.evaluate(
    async (url, init) => {
      const response = await fetch(url, init);
      return [response.status, response.headers.get('content-type'), await response.text()];
    },
    url,
    init,
  );

suite('a route', () => {
  test('answers requests of all kinds', async (t) => {
    const server = await serve(t, { '*': 'of the server' });
    const page = await open(t, 'about:blank');
    const seen = [];
    await page.route('**/*', (route, request) => {
      const { pathname } = new URL(request.url());
      seen.push(`${request.resourceType()} ${request.method()} ${pathname} ${request.isNavigationRequest()}`);
      const bodies = {
        '/': '<link rel="stylesheet" href="/a.css"><script src="/a.js"></script><iframe src="/frame"></iframe>',
        '/a.css': 'p { color: red }',
        '/a.js': 'new Worker("/worker.js").onmessage = ({ data }) => { window.worker = data }',
        '/worker.js': 'fetch("/of-worker").then((response) => response.text()).then(postMessage)',
      };
      return route.fulfill({
        body: bodies[pathname] ?? `own ${pathname}`,
        contentType: pathname.endsWith('.css')
          ? 'text/css'
          : pathname.endsWith('.js')
            ? 'text/javascript'
            : 'text/html',
      });
    });
    const { status } = await page.goto(server.url('/'));
    assert.equal(status, 200);
    assert.equal(await page.waitForFunction('window.worker'), 'own /of-worker');
    assert.equal(await page.evaluate('frames[0].document.body.textContent'), 'own /frame');
    assert.deepEqual(await get(page, '/x', { method: 'POST', body: 'b' }), [200, 'text/html', 'own /x']);
    assert.deepEqual(server.requests, []);
    assert.deepEqual(seen.sort(), [
      'document GET / true',
      'document GET /frame true',
      'fetch GET /of-worker false',
      'fetch POST /x false',
      'script GET /a.js false',
      'stylesheet GET /a.css false',
      'worker GET /worker.js false',
    ]);
  });

  test('gives bodies, types, headers and statuses', async (t) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-'));
    t.after(() => fs.rmSync(folder, { recursive: true }));
    const file = path.join(folder, 'file.json');
    fs.writeFileSync(file, '[1]');
    const server = await serve(t, { '/': '' });
    const page = await open(t, server.url('/'));
    await page.route('/json', (route) => route.fulfill({ json: { a: [1] }, status: 201 }));
    await page.route('/bytes', (route) =>
      route.fulfill({ body: new Uint8Array([0xc3, 0xa9]), headers: { 'X-A': 'b' } }),
    );
    await page.route('/file', (route) => route.fulfill({ path: file }));
    await page.route('/gone', (route) => route.fulfill({ status: 404, contentType: 'text/x', body: 'no' }));
    assert.deepEqual(await get(page, '/json'), [201, 'application/json', '{"a":[1]}']);
    assert.deepEqual(await get(page, '/bytes'), [200, null, 'é']);
    assert.equal(await page.evaluate('fetch("/bytes").then(({ headers }) => headers.get("x-a"))'), 'b');
    assert.deepEqual(await get(page, '/file'), [200, 'application/json', '[1]']);
    assert.deepEqual(await get(page, '/gone'), [404, 'text/x', 'no']);
  });

  test('is chosen by a glob, a regular expression or a function, the newest first', async (t) => {
    const server = await serve(t, { '*': 'server' });
    const page = await open(t, server.url('/'));
    const own = (body) => (route) => route.fulfill({ body });
    const text = async (url) => (await get(page, url))[2];
    const handler = own('handler');
    await page.route('**/*.txt', own('glob'));
    await page.route(/b\.txt$/, own('expression'));
    await page.route(({ searchParams }) => searchParams.has('q'), handler);
    assert.deepEqual(
      [await text('/a.txt'), await text('/b.txt'), await text('/b.txt?q'), await text('/a')],
      ['glob', 'expression', 'handler', 'server'],
    );
    await page.route('/once', own('once'), { times: 1 });
    assert.deepEqual([await text('/once'), await text('/once')], ['once', 'server']);
    await page.route('**/a.txt', (route) => route.fallback());
    assert.equal(await text('/a.txt'), 'glob');
    await page.unroute(/b\.txt$/);
    assert.equal(await text('/b.txt'), 'glob');
    await page.unroute('**/*.txt', handler);
    assert.equal(await text('/b.txt'), 'glob');
    await page.unrouteAll();
    assert.deepEqual([await text('/b.txt'), await text('/?q')], ['server', 'server']);
    await assert.rejects(page.route(5, handler), { name: 'TypeError' });
    await assert.rejects(page.route('**', 5), { name: 'TypeError' });
  });

  test('sends requests as they are, or changed', async (t) => {
    const server = await serve(t, { '*': 'server' });
    const page = await open(t, server.url('/'));
    const seen = [];
    await page.route('/as-it-is', async (route, request) => {
      seen.push(request.postData(), request.postDataJSON(), request.headers()['x-own'], request.postDataBuffer());
      await route.continue();
    });
    await page.route('/changed', (route) =>
      route.continue({ url: server.url('/other'), method: 'PUT', headers: { 'X-New': '1' }, postData: { a: 1 } }),
    );
    await get(page, '/as-it-is', { method: 'POST', body: '{"b":2}', headers: { 'X-Own': 'x' } });
    assert.deepEqual(seen, ['{"b":2}', { b: 2 }, 'x', Buffer.from('{"b":2}')]);
    await get(page, '/changed', { method: 'POST', body: 'old', headers: { 'X-Old': '1' } });
    const [, first, second] = server.requests;
    assert.deepEqual(
      [first.url, first.method, first.body, first.headers['x-own']],
      ['/as-it-is', 'POST', '{"b":2}', 'x'],
    );
    assert.deepEqual([second.url, second.method, second.body], ['/other', 'PUT', '{"a":1}']);
    assert.deepEqual([second.headers['x-new'], second.headers['x-old']], ['1', undefined]);
  });

  test('has requests fail', async (t) => {
    const server = await serve(t, { '*': 'server' });
    const page = await open(t, server.url('/'));
    await page.route('/aborted', (route) => route.abort());
    await assert.rejects(get(page, '/aborted'), { name: 'PageError', message: 'TypeError: Failed to fetch' });
    await assert.rejects(page.goto(server.url('/aborted')), { name: 'NetworkError' });
    assert.equal(server.requests.length, 1);
  });

  test('answers other origins, with CORS unless its headers say otherwise', async (t) => {
    const server = await serve(t, { '*': 'server' });
    const page = await open(t, server.url('/'));
    await page.route('http://api.test/**', (route, request) =>
      route.fulfill({
        json: request.method(),
        headers: request.url().endsWith('/closed') ? { 'Access-Control-Allow-Origin': 'http://b.test' } : {},
      }),
    );
    const init = { method: 'DELETE', headers: { 'X-Unsafe': '1' }, credentials: 'include' };
    assert.deepEqual(await get(page, 'http://api.test/open', init), [200, 'application/json', '"DELETE"']);
    await assert.rejects(get(page, 'http://api.test/closed'), { name: 'PageError' });
  });

  test('answers as a server does: with cookies and redirects, which are routed, too', async (t) => {
    const server = await serve(t, { '*': ({ headers }) => headers.cookie ?? 'none' });
    const page = await open(t, server.url('/'));
    await page.route('/cookie', (route) => route.fulfill({ headers: { 'Set-Cookie': 'id=1; HttpOnly' } }));
    await page.route('/from', (route) => route.fulfill({ status: 303, headers: { Location: '/to' } }));
    await page.route('/to', (route, request) => route.fulfill({ body: request.method() }));
    await page.route('http://other.test/**', (route) =>
      route.fulfill({ headers: { 'Cross-Origin-Resource-Policy': 'same-origin' } }),
    );
    await get(page, '/cookie');
    assert.equal((await get(page, '/'))[2], 'id=1');
    assert.equal((await get(page, '/from', { method: 'POST' }))[2], 'GET');
    await assert.rejects(get(page, 'http://other.test/', { mode: 'no-cors' }), { name: 'PageError' });
  });

  test('that throws has the request fail, and the program hear of it', async (t) => {
    const server = await serve(t, { '*': 'server' });
    const { stdout } = await runProgram(`
      process.on('uncaughtException', ({ message }) => console.log(message));
      const host = new PageHost({ jsdom });
      const page = await host.open(${JSON.stringify(server.url('/'))});
      const get = (path) => page.evaluate((path) => fetch(path).then((response) => response.text()), path);
      await page.route('/throws', () => { throw new Error('of the handler'); });
      await page.route('/twice', async (route) => {
        await route.fulfill({ body: 'once' });
        await route.abort();
      });
      await get('/throws').catch(({ message }) => console.log(message));
      console.log(await get('/twice'));
      await host.close();`);
    assert.deepEqual(stdout.trim().split('\n').sort(), [
      'TypeError: Failed to fetch',
      'of the handler',
      'once',
      'the route is already handled',
    ]);
  });

  test('that never answers keeps no page from closing', async (t) => {
    const server = await serve(t, { '*': 'server' });
    const pages = host(t);
    const page = await open(t, server.url('/'), { host: pages });
    const reached = new Promise((resolve) => {
      page.route('/waits', () => {
        resolve();
        return new Promise(() => {});
      });
    });
    await page.evaluate('fetch("/waits"); 1');
    await reached;
    await page.close();
    await pages.close();
    assert.equal(page.closed, true);
  });
});
