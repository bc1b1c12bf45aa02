// Requests that the caller of the network answers in place of their servers.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { Cookies } from '../src/fetch/cookies.cjs';
import { Transport } from '../src/fetch/http.cjs';
import { useJsdom } from '../src/fetch/jsdom-packages.cjs';
import { Network } from '../src/fetch/network.cjs';
import { jsdom, serve } from './server.mjs';

useJsdom({ folder: jsdom });

const ORIGIN = 'http://page.test';
const CLIENT = { origin: ORIGIN, embedderPolicy: 'unsafe-none' };
const USER = { origin: 'null 1', embedderPolicy: 'unsafe-none', isUser: true };

/** A network whose requests are answered by `answers`, by URL; all others go to their servers. */
function intercepting(t, answers) {
  const transport = new Transport();
  t.after(() => transport.close());
  const seen = [];
  const cookies = new Cookies();
  const network = new Network(transport, cookies, 'agent', async (request) => {
    seen.push(request);
    const answer = answers[request.url];
    return typeof answer === 'string' ? { status: 200, headers: [], body: Buffer.from(answer) } : answer;
  });
  const fetch = (url, request = {}, client = CLIENT) =>
    network.fetch({ url, mode: 'cors', ...request }, client, request.signal);
  return { network, fetch, seen, cookies };
}

const answer = (status, headers, body = '') => ({ status, headers: Object.entries(headers), body: Buffer.from(body) });
const textOf = ({ body }) => Buffer.from(body).toString();

suite('a request that is intercepted', () => {
  test('says what would be sent, and its answer is the response', async (t) => {
    const { fetch, seen } = intercepting(t, {
      [`${ORIGIN}/a`]: answer(404, { 'Content-Type': 'text/plain' }, 'none'),
    });
    const body = Buffer.from('body');
    const response = await fetch(`${ORIGIN}/a#x`, { method: 'POST', body, headers: [['X-Own', '1']] });
    const { type, url, status, statusText, headers, timing } = response;
    assert.deepEqual(
      { type, url, status, statusText, headers, text: textOf(response) },
      {
        type: 'basic',
        url: `${ORIGIN}/a#x`,
        status: 404,
        statusText: 'Not Found',
        headers: [['content-type', 'text/plain']],
        text: 'none',
      },
    );
    assert.ok(timing.isAllowed && timing.decodedSize === 4);
    const [request] = seen;
    const sent = Object.fromEntries(request.headers);
    assert.deepEqual([sent['X-Own'], sent['User-Agent'], sent.Origin], ['1', 'agent', ORIGIN]);
    const { method, destination, mode } = request;
    assert.equal(request.url, `${ORIGIN}/a`);
    assert.deepEqual(
      { method, destination, mode, body: request.body },
      { method: 'POST', destination: '', mode: 'cors', body },
    );
  });

  test('goes to its server if there is no answer', async (t) => {
    const server = await serve(t, { '/a': 'from the server' });
    const { fetch, seen } = intercepting(t, {});
    const response = await fetch(
      server.url('/a'),
      { mode: 'navigate', destination: 'document', isTopLevel: true },
      USER,
    );
    assert.equal(textOf(response), 'from the server');
    assert.deepEqual(
      seen.map(({ mode, destination }) => [mode, destination]),
      [['navigate', 'document']],
    );
  });

  test('fails if it is aborted', async (t) => {
    const { fetch } = intercepting(t, { [`${ORIGIN}/a`]: { abort: true } });
    await assert.rejects(fetch(`${ORIGIN}/a`), { name: 'NetworkError', message: `GET ${ORIGIN}/a was aborted` });
  });

  test('ends with its signal, however long the answer takes', async (t) => {
    const { network, fetch } = intercepting(t, {});
    const asked = Promise.withResolvers();
    network.intercept = () => {
      asked.resolve();
      return new Promise(() => {});
    };
    const controller = new AbortController();
    const response = fetch(`${ORIGIN}/a`, { signal: controller.signal });
    await asked.promise;
    controller.abort(new Error('no longer'));
    await assert.rejects(response, /no longer/);
  });

  test('has the cookies of its URL, and its answer sets cookies', async (t) => {
    const { fetch, seen, cookies } = intercepting(t, {
      [`${ORIGIN}/a`]: answer(200, { 'Set-Cookie': 'id=1; HttpOnly' }),
    });
    await fetch(`${ORIGIN}/a`);
    assert.deepEqual(
      cookies.list(ORIGIN).map(({ name, httpOnly }) => [name, httpOnly]),
      [['id', true]],
    );
    await fetch(`${ORIGIN}/a`);
    assert.equal(Object.fromEntries(seen[1].headers).Cookie, 'id=1');
  });

  test('is readable for another origin if its answer says so, without a preflight', async (t) => {
    const allowed = { 'Access-Control-Allow-Origin': '*' };
    const { fetch, seen } = intercepting(t, {
      'http://other.test/open': answer(200, allowed, 'open'),
      'http://other.test/closed': answer(200, {}, 'closed'),
    });
    const request = { method: 'PUT', headers: [['X-Own', '1']] };
    const response = await fetch('http://other.test/open', request);
    assert.deepEqual([response.type, textOf(response)], ['cors', 'open']);
    await assert.rejects(fetch('http://other.test/closed', request), /Access-Control-Allow-Origin/);
    assert.deepEqual(
      seen.map(({ method }) => method),
      ['PUT', 'PUT'],
    );
  });

  test('is embedded by another origin if its answer says so', async (t) => {
    const { fetch } = intercepting(t, {
      'http://other.test/any': 'any',
      'http://other.test/own': answer(200, { 'Cross-Origin-Resource-Policy': 'same-origin' }),
    });
    assert.equal((await fetch('http://other.test/any', { mode: 'no-cors' })).type, 'opaque');
    await assert.rejects(fetch('http://other.test/own', { mode: 'no-cors' }), /Cross-Origin-Resource-Policy/);
  });

  test('is redirected by its answer, and the next one is intercepted, too', async (t) => {
    const server = await serve(t, { '/b': { status: 302, headers: { location: `${ORIGIN}/c` } } });
    const { fetch, seen } = intercepting(t, {
      [`${ORIGIN}/a`]: answer(303, { location: server.url('/b') }),
      [`${ORIGIN}/c`]: 'end',
    });
    const response = await fetch(`${ORIGIN}/a`, { method: 'POST', mode: 'navigate', isTopLevel: true }, USER);
    assert.deepEqual([response.url, response.redirected, textOf(response)], [`${ORIGIN}/c`, true, 'end']);
    assert.deepEqual(
      seen.map(({ method, url }) => `${method} ${url}`),
      [`POST ${ORIGIN}/a`, `GET ${server.url('/b')}`, `GET ${ORIGIN}/c`],
    );
  });

  test('is of HTTP', async (t) => {
    const { fetch, seen } = intercepting(t, {});
    assert.equal(textOf(await fetch('data:,text')), 'text');
    assert.deepEqual(seen, []);
  });
});
