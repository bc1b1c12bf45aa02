// Synchronous requests of XMLHttpRequest, which the host makes while the thread of the page waits.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { eventually, host, open, openHtml, serve } from './server.mjs';

/** Sends a synchronous request, and returns what the page learns. */
function send(method, url, { headers = {}, body = null, withCredentials = false, type = '' } = {}) {
  const request = new XMLHttpRequest();
  const events = [];
  request.open(method, url, false);
  request.withCredentials = withCredentials;
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  if (type !== '') request.overrideMimeType(type);
  for (const name of ['readystatechange', 'load', 'loadend', 'error'])
    request.addEventListener(name, () => events.push(`${name} ${request.readyState}`));
  try {
    request.send(body);
  } catch (error) {
    return [error.name, error instanceof DOMException, request.readyState, request.status];
  }
  const { status, responseText, responseURL } = request;
  return { status, text: responseText, url: responseURL, a: request.getResponseHeader('x-a'), events };
}

suite('a synchronous request', () => {
  test('has its answer when send() returns, before anything else runs', async (t) => {
    const page = await openHtml(t, '', {
      routes: {
        '/echo': ({ method, headers }) => ({
          status: 201,
          body: `${method} é`,
          headers: { 'x-a': headers['x-b'] ?? 'none' },
        }),
        '/moved': { status: 302, headers: { location: '/echo' } },
      },
    });
    const result = await page.evaluate(`(${send})('POST', '/echo', { headers: { 'X-B': '1' }, body: 'the body' })`);
    const { origin, requests } = page.server;
    const events = ['readystatechange 4', 'load 4', 'loadend 4'];
    assert.deepEqual(result, { status: 201, text: 'POST é', url: `${origin}/echo`, a: '1', events });
    const { body, headers } = requests.at(-1);
    assert.deepEqual([body, headers['content-type']], ['the body', 'text/plain;charset=UTF-8']);
    assert.equal(headers.origin, origin);
    assert.equal(await page.evaluate(`(${send})('GET', '/moved').url`), `${origin}/echo`);
    const order = await page.evaluate(`new Promise((resolve) => {
      const log = [];
      setTimeout(() => { log.push('timer'); resolve(log); });
      Promise.resolve().then(() => log.push('job'));
      log.push((${send})('GET', '/echo').status);
    })`);
    assert.deepEqual(order, [201, 'job', 'timer']);
    const entries = await page.evaluate(
      "performance.getEntriesByType('resource').map(({ initiatorType, responseStatus }) => [initiatorType, responseStatus].join())",
    );
    assert.deepEqual(entries, Array(3).fill('xmlhttprequest,201'));
  });

  test('follows the rules of other requests: CORS, cookies, blobs and routes', async (t) => {
    const foreign = await serve(t, {
      '/closed': 'secret',
      '/open': { body: 'open', headers: { 'access-control-allow-origin': '*', 'x-a': 'hidden' } },
    });
    const page = await openHtml(t, '', {
      routes: {
        '/login': { headers: { 'set-cookie': 'id=1; HttpOnly' } },
        '/cookie': ({ headers }) => headers.cookie ?? 'none',
      },
    });
    const attempt = (...parameters) => page.evaluate(`(${send})(...${JSON.stringify(parameters)})`);
    const failure = ['NetworkError', true, 4, 0];
    assert.deepEqual(await attempt('GET', foreign.url('/closed')), failure);
    assert.deepEqual(await attempt('GET', foreign.url('/open'), { withCredentials: true }), failure);
    assert.deepEqual(await attempt('PUT', foreign.url('/open')), failure);
    assert.equal(foreign.requests.at(-1).method, 'OPTIONS');
    assert.deepEqual(await attempt('GET', 'http://127.0.0.1:1/'), failure);
    assert.deepEqual(await attempt('GET', 'file:///etc/hostname'), failure);
    assert.ok(page.problems.some(({ text }) => text.includes('Access-Control-Allow-Origin')));
    const { text, a } = await attempt('GET', foreign.url('/open'));
    assert.deepEqual([text, a], ['open', null]);
    await attempt('GET', '/login');
    assert.equal((await attempt('GET', '/cookie')).text, 'id=1');
    assert.equal(await page.evaluate("fetch('/cookie').then((response) => response.text())"), 'id=1');
    await page.evaluate("document.cookie = 'own=2'");
    assert.equal((await attempt('GET', '/cookie')).text, 'id=1; own=2');
    assert.equal((await attempt('GET', 'data:text/plain,data')).text, 'data');
    assert.equal(await page.evaluate(`(${send})('GET', URL.createObjectURL(new Blob(['blob']))).text`), 'blob');
    await page.route('**/cookie', (route) => route.fulfill({ body: 'fulfilled' }));
    assert.equal((await attempt('GET', '/cookie')).text, 'fulfilled');
  });

  test('is sent while the document is unloaded, and ends with a page that is closed', async (t) => {
    const server = await serve(t, {
      '/': `<script>${send}; onunload = () => send('POST', '/left', { body: 'bye' });</script>`,
      '/never': () => new Promise(() => {}),
      '*': '',
    });
    const page = await open(t, server.url('/'), { host: host(t) });
    await page.navigate(server.url('/next'));
    assert.equal(server.requests.find(({ url }) => url === '/left').body, 'bye');
    const waiting = assert.rejects(page.evaluate(`(${send})('GET', '/never')`), /the page is closed/);
    await eventually(() => server.requests.some(({ url }) => url === '/never'));
    await page.close();
    await waiting;
  });
});
