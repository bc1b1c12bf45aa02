// fetch() in pages, with its Request and Response objects.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { openHtml, serve, until } from './server.mjs';

suite('fetch', () => {
  const ECHO = ({ method, headers }) => ({
    body: JSON.stringify({ method, headers }),
    headers: { 'content-type': 'application/json', 'x-answer': '1', 'set-cookie': 'c=1' },
  });

  test('sends and receives', async (t) => {
    const page = await openHtml(t, '', {
      routes: { '/echo': ECHO, '/bytes': { body: Buffer.from([0, 255, 1]) }, '/empty': { status: 204 } },
    });
    const got = await page.evaluate(async () => {
      const response = await fetch('/echo', {
        method: 'post',
        body: new URLSearchParams({ a: 'b c' }),
        headers: { 'X-Own': 'ä', Cookie: 'stolen=1', Host: 'evil.test' },
      });
      const { method, headers } = await response.json();
      return {
        is: [
          response instanceof Response,
          response.ok,
          response.status,
          response.type,
          response.url === `${origin}/echo`,
          response.headers.get('x-answer'),
          response.headers.get('set-cookie'),
          response.bodyUsed,
        ],
        method,
        type: headers['content-type'],
        own: headers['x-own'],
        cookie: headers.cookie,
        host: headers.host === location.host,
        origin: headers.origin === origin,
        bytes: [...new Uint8Array(await (await fetch('/bytes')).arrayBuffer())],
        blob: await (await fetch('/bytes')).blob().then((blob) => [blob instanceof Blob, blob.size, blob.type]),
        empty: await fetch('/empty').then(async (r) => [r.status, await r.text()]),
        missing: (await fetch('/none')).status,
        again: await response.text().catch((error) => error.name),
        data: await (await fetch('data:text/plain,hi')).text(),
        head: (await (await fetch('/echo', { method: 'HEAD' })).text()).length,
      };
    });
    assert.deepEqual(got, {
      is: [true, true, 200, 'basic', true, '1', null, true],
      method: 'POST',
      type: 'application/x-www-form-urlencoded;charset=UTF-8',
      own: 'ä',
      cookie: undefined,
      host: true,
      origin: true,
      bytes: [0, 255, 1],
      blob: [true, 3, 'text/html; charset=utf-8'],
      empty: [204, ''],
      missing: 404,
      again: 'TypeError',
      data: 'hi',
      head: 0,
    });
    assert.equal(await page.evaluate(() => document.cookie), 'c=1');
    const ofAnotherDocument = await page.evaluate(() => {
      const other = new DOMParser().parseFromString('', 'text/html');
      other.cookie = 'd=1';
      return other.cookie;
    });
    assert.equal(ofAnotherDocument, '');
  });

  test('sends forms, blobs and buffers', async (t) => {
    const bodies = [];
    const page = await openHtml(t, '', { routes: { '/post': () => '' } });
    await page.evaluate(async () => {
      const form = new FormData();
      form.append('field', 'value');
      form.append('file', new Blob(['content'], { type: 'text/x' }), 'name.txt');
      for (const body of [
        form,
        new Blob(['blob'], { type: 'text/y' }),
        new Uint8Array([65, 66]).subarray(1),
        'text',
        new Uint8Array([67]).buffer,
      ])
        await fetch('/post', { method: 'POST', body });
      navigator.sendBeacon('/post', 'beacon');
    });
    await until(page, () => page.server.requests.filter(({ url }) => url === '/post').length === 6);
    for (const { body, headers, url } of page.server.requests)
      if (url === '/post') bodies.push([headers['content-type'], body]);
    assert.match(bodies[0][0], /^multipart\/form-data; boundary=/);
    assert.match(
      bodies[0][1],
      /name="field"\r\n\r\nvalue\r\n[\s\S]*filename="name\.txt"\r\nContent-Type: text\/x\r\n\r\ncontent\r\n/,
    );
    assert.deepEqual(bodies.slice(1), [
      ['text/y', 'blob'],
      [undefined, 'B'],
      ['text/plain;charset=UTF-8', 'text'],
      [undefined, 'C'],
      ['text/plain;charset=UTF-8', 'beacon'],
    ]);
  });

  test('follows CORS', async (t) => {
    const allow = (extra = {}) => ({
      body: 'open',
      headers: {
        'access-control-allow-origin': '*',
        'x-hidden': '1',
        'x-shown': '2',
        'access-control-expose-headers': 'X-Shown',
        ...extra,
      },
    });
    const foreign = await serve(t, {
      '/closed': 'secret',
      '/open': allow(),
      '/preflight': ({ method }) =>
        method === 'OPTIONS'
          ? {
              status: 204,
              headers: {
                'access-control-allow-origin': '*',
                'access-control-allow-methods': 'PUT',
                'access-control-allow-headers': 'x-own',
              },
            }
          : allow(),
      '/credentials': ({ headers }) => ({
        body: headers.cookie ?? 'none',
        headers: {
          'access-control-allow-origin': headers.origin,
          'access-control-allow-credentials': 'true',
          'set-cookie': 's=1',
        },
      }),
      '/redirect': { status: 302, headers: { location: '/open', 'access-control-allow-origin': '*' } },
    });
    const page = await openHtml(t, '');
    const attempt = (path, init) =>
      page.evaluate(
        async (url, options) => {
          try {
            const response = await fetch(url, options);
            return [
              response.type,
              response.status,
              await response.text(),
              response.headers.get('x-hidden'),
              response.headers.get('x-shown'),
              response.redirected,
            ].join();
          } catch (error) {
            return `${error.name} ${error instanceof TypeError}`;
          }
        },
        foreign.url(path),
        init,
      );
    assert.equal(await attempt('/closed'), 'TypeError true');
    assert.equal(await attempt('/closed', { mode: 'no-cors' }), 'opaque,0,,,,false');
    assert.equal(await attempt('/open', { mode: 'same-origin' }), 'TypeError true');
    assert.equal(await attempt('/open'), 'cors,200,open,,2,false');
    assert.equal(await attempt('/redirect'), 'cors,200,open,,2,true');
    assert.equal(await attempt('/redirect', { redirect: 'error' }), 'TypeError true');
    assert.equal(await attempt('/redirect', { redirect: 'manual' }), 'opaqueredirect,0,,,,false');
    assert.equal(await attempt('/open', { credentials: 'include' }), 'TypeError true');
    assert.equal(await attempt('/credentials', { credentials: 'include' }), 'cors,200,none,,,false');
    assert.equal(
      await attempt('/credentials', { credentials: 'include' }),
      'cors,200,none,,,false'.replace('none', 's=1'),
    );
    assert.equal(await attempt('/credentials'), 'cors,200,none,,,false');
    assert.equal(
      await attempt('/preflight', { method: 'PUT', headers: { 'x-own': '1' }, body: 'x' }),
      'cors,200,open,,2,false',
    );
    const { headers } = foreign.requests.findLast(({ method }) => method === 'OPTIONS');
    assert.deepEqual(
      ['dest', 'mode', 'site'].map((name) => headers[`sec-fetch-${name}`]),
      ['empty', 'cors', 'same-site'],
    );
    assert.equal(await attempt('/preflight', { method: 'DELETE' }), 'TypeError true');
    assert.equal(await attempt('/preflight', { headers: { 'x-other': '1' } }), 'TypeError true');
    assert.equal(await attempt('/open', { method: 'PUT' }), 'TypeError true');
  });

  test('can be aborted, and refuses invalid arguments', async (t) => {
    const page = await openHtml(t, '', { routes: { '/never': () => new Promise(() => {}) } });
    assert.deepEqual(
      await page.evaluate(async () => {
        const attempt = async (...parameters) => {
          try {
            await fetch(...parameters);
            return 'fetched';
          } catch (error) {
            return error.name;
          }
        };
        const controller = new AbortController();
        const pending = attempt('/never', { signal: controller.signal });
        controller.abort();
        return [
          await pending,
          await attempt('/never', { signal: AbortSignal.abort() }),
          await attempt(),
          await attempt('http://['),
          await attempt('/', { method: 'CONNECT' }),
          await attempt('/', { method: 'a b' }),
          await attempt('/', { body: 'x' }),
          await attempt('/', { mode: 'navigate' }),
          await attempt('/', { credentials: 'x' }),
          await attempt('file:///etc/hostname'),
          await attempt('http://127.0.0.1:1/'),
          await attempt('blob:nonsense'),
          await attempt('http://user:x@127.0.0.1/'),
        ];
      }),
      ['AbortError', 'AbortError', ...Array(11).fill('TypeError')],
    );
  });

  test('has Request and Response objects', async (t) => {
    const page = await openHtml(t, '');
    assert.deepEqual(
      await page.evaluate(async () => {
        const request = new Request('/x#f', { method: 'PUT', body: '{"a":1}', headers: [['x-a', '1']] });
        const copy = new Request(request.clone(), { headers: { 'x-b': '2' } });
        const response = Response.json({ b: 2 }, { status: 201, statusText: 'Made' });
        const attempt = (work) => {
          try {
            return work();
          } catch (error) {
            return error.name;
          }
        };
        return [
          request.url === `${origin}/x#f`,
          request.method,
          request.headers.get('content-type'),
          await request.json(),
          copy.headers.get('x-a'),
          copy.headers.get('x-b'),
          await copy.text(),
          response.status,
          response.statusText,
          response.headers.get('content-type'),
          await response.clone().text(),
          await response.json(),
          Response.error().type,
          Response.redirect('/y').headers.get('location') === `${origin}/y`,
          attempt(() => new Response('x', { status: 204 })),
          attempt(() => new Response(null, { status: 99 })),
          attempt(() => Response.error().headers.append('a', 'b')),
          (
            await new Response('a=1&b=2', {
              headers: { 'content-type': 'application/x-www-form-urlencoded' },
            }).formData()
          ).get('b'),
        ];
      }),
      [
        true,
        'PUT',
        'text/plain;charset=UTF-8',
        { a: 1 },
        null,
        '2',
        '{"a":1}',
        201,
        'Made',
        'application/json',
        '{"b":2}',
        { b: 2 },
        'error',
        true,
        'TypeError',
        'RangeError',
        'TypeError',
        '2',
      ],
    );
  });
});
