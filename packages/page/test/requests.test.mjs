// Requests of pages to other origins: preflights, referrers, and what they say of their site.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { eventually, openHtml, serve } from './server.mjs';

suite('a preflight', () => {
  test('is made if values of one header are simple by themselves and not as they are sent', async (t) => {
    const victim = await serve(t, { '*': '' });
    const page = await openHtml(t, '');
    const headers = [
      [
        ['Range', 'bytes=0-1'],
        ['range', 'bytes=3-4'],
      ],
      [
        ['Content-Type', 'text/plain'],
        ['content-type', 'multipart/form-data; boundary=x'],
      ],
      Array.from({ length: 10 }, () => ['Accept', 'x'.repeat(90)]),
      [['X-Own', '1']],
    ];
    for (const list of headers)
      await page.evaluate(
        (url, headers) => fetch(url, { method: 'POST', headers }).catch(() => {}),
        victim.url('/change'),
        list,
      );
    assert.deepEqual(
      victim.requests.map(({ method, headers }) => [method, headers['access-control-request-headers']]),
      ['range', 'content-type', 'accept', 'x-own'].map((name) => ['OPTIONS', name]),
    );
  });

  test('is not made without CORS, and so the headers that need one are not sent', async (t) => {
    const victim = await serve(t, { '*': 'x' });
    const page = await openHtml(t, '');
    await page.evaluate((url) => {
      const headers = [
        ['Content-Type', 'application/json'],
        ['X-Own', '1'],
        ['Range', 'bytes=1-2'],
        ['Authorization', 'Basic eDp5'],
        ['accept', 'ok'],
      ];
      return fetch(url, { mode: 'no-cors', method: 'POST', headers }).then(() => {});
    }, victim.url('/change'));
    assert.equal(victim.requests.length, 1);
    const [{ method, headers }] = victim.requests;
    const sent = ['content-type', 'x-own', 'range', 'authorization', 'accept'].map((name) => headers[name]);
    assert.deepEqual([method, ...sent], ['POST', undefined, undefined, undefined, undefined, 'ok']);
  });

  test('is made if somebody listens to the upload, also when it is redirected', async (t) => {
    const victim = await serve(t, { '*': { body: 'x', headers: { 'access-control-allow-origin': '*' } } });
    const page = await openHtml(t, '', {
      routes: { '/away': { status: 307, body: '', headers: { location: victim.url('/change') } } },
    });
    const send = (listens) =>
      page.evaluate(
        (listens) =>
          new Promise((resolve) => {
            const request = new XMLHttpRequest();
            request.open('POST', '/away');
            if (listens) request.upload.addEventListener('progress', () => {});
            request.onloadend = () => resolve();
            request.send('x');
          }),
        listens,
      );
    await send(true);
    await send(false);
    assert.deepEqual(
      victim.requests.map(({ method }) => method),
      ['OPTIONS', 'POST', 'POST'],
    );
  });
});

suite('the referrer of a request', () => {
  test('is the origin of its page, for another origin, whatever makes the request', async (t) => {
    const victim = await serve(t, { '*': '' });
    const page = await openHtml(t, '');
    await page.evaluate((url) => {
      history.pushState(null, '', '/secret?secret#secret');
      const add = (tag, members) => document.head.append(Object.assign(document.createElement(tag), members));
      add('img', { src: `${url}/img` });
      add('link', { rel: 'stylesheet', href: `${url}/link` });
      add('script', { src: `${url}/script` });
      add('script', { type: 'module', src: `${url}/module` });
      document.body.append(Object.assign(document.createElement('iframe'), { src: `${url}/frame` }));
      const request = new XMLHttpRequest();
      request.open('GET', `${url}/xhr`);
      request.send();
      fetch(`${url}/fetch`).catch(() => {});
      import(`${url}/import`).catch(() => {});
    }, victim.origin);
    const paths = ['/img', '/link', '/script', '/module', '/frame', '/xhr', '/fetch', '/import'];
    await eventually(() => paths.every((path) => victim.requests.some(({ url }) => url === path)));
    await page.evaluate((url) => {
      location.href = `${url}/navigate`;
    }, victim.origin);
    await eventually(() => victim.requests.some(({ url }) => url === '/navigate'));
    for (const { url, headers } of victim.requests)
      if (!url.startsWith('/favicon')) assert.equal(headers.referer, `${page.server.origin}/`, url);
  });

  test('is the current URL of the document for its own origin', async (t) => {
    const page = await openHtml(t, '', { routes: { '/x': '' } });
    await page.evaluate("history.pushState(null, '', '/elsewhere?y#z'); fetch('/x').then(() => {})");
    assert.equal(page.server.requests.at(-1).headers.referer, page.server.url('/elsewhere?y'));
  });
});

test('Sec-Fetch-Site tells that a server of another site has redirected the request', async (t) => {
  const other = await serve(t, {
    '/back': ({ url }) => ({ status: 302, headers: { location: new URL(url, 'http://x').searchParams.get('to') } }),
  });
  const page = await openHtml(t, '', { routes: { '/action': '' } });
  await page.evaluate(
    (url) => fetch(url, { mode: 'no-cors' }).then(() => {}),
    `${other.url('/back').replace('127.0.0.1', 'localhost')}?to=${page.server.url('/action')}`,
  );
  assert.equal(page.server.requests.at(-1).url, '/action');
  assert.equal(page.server.requests.at(-1).headers['sec-fetch-site'], 'cross-site');
});
