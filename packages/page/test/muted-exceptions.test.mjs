// What a page learns of the exceptions of muted scripts: those of other origins, loaded without CORS.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { eventually, openHtml, serve } from './server.mjs';

/** Ways to throw later. */
const LATER = `
  const own = document.createElement('p');
  const fail = () => { const secret = new TypeError('secret of a function'); throw secret; };
  setTimeout(fail);
  setTimeout(() => { throw 'secret text'; });
  setTimeout(() => { throw { secret: 1, stack: 'secret' }; });
  setTimeout(() => own.querySelector('secret!!'));
  setTimeout(() => eval('throw new Error("secret of eval")'));
  setTimeout(() => eval('secret? syntax'));
  setTimeout(new Function('throw new Error("secret of a function made of text")'));
  new IntersectionObserver(() => { throw 'secret intersection'; }).observe(document.documentElement);
  addEventListener('message', { get handleEvent() { throw 'secret getter'; } });
  const id = setInterval(() => { clearInterval(id); throw 'secret interval'; });
  requestAnimationFrame(() => { throw 'secret frame'; });
  requestIdleCallback(() => { throw 'secret idle'; });
  queueMicrotask(() => { throw 'secret microtask'; });
  addEventListener('message', () => { throw 'secret listener'; });
  addEventListener('message', { handleEvent() { throw 'secret object'; } });
  own.onclick = () => { throw 'secret handler'; };
  own.click();
  postMessage('');
  new MutationObserver(() => { throw 'secret mutation'; }).observe(own, { attributes: true });
  own.id = 'other';
  new PerformanceObserver(() => { throw 'secret entry'; }).observe({ type: 'mark' });
  performance.mark('any');
  setTimeout(() => structuredClone({ get any() { throw 'secret property'; } }));
  reportError('secret report');`;
const COUNT = LATER.match(/throw |!!|syntax|reportError/g).length;
const REJECTED = `
  Promise.reject('secret rejection');
  Promise.reject(new Error('secret rejection'));
  new Promise((resolve, reject) => reject('secret executor'));
  Promise.resolve().then(() => { throw new Error('secret reaction'); });
  (async () => { throw 'secret async'; })();
  (async () => { await null; throw 'secret after await'; })();
  (async () => { await fetch('//secret:secret@['); })();`;
const REJECTED_COUNT = REJECTED.trim().split('\n').length;

/** Notes what a window or a worker learns of what fails in it. */
const NOTE = `
  globalThis.seen = [];
  addEventListener('error', ({ message, filename, lineno, colno, error }) => seen.push([message, filename, lineno, colno, error === null]));
  addEventListener('unhandledrejection', ({ reason }) => seen.push([String(reason?.stack ?? reason)]));`;
const MUTED = ['Script error.', '', 0, 0, true];

/** A page that has loaded a script of another origin. */
async function openWith(t, script, options = {}) {
  const other = await serve(t, { '/muted.js': script });
  const html = `<script>${NOTE} ${options.before ?? ''}</script><script src="${other.url('/muted.js')}"></script>`;
  return await openHtml(t, html, { routes: options.routes });
}

suite('a muted script', () => {
  test('tells its page nothing by what it throws while it is run, even if it is no script', async (t) => {
    const text = { 'content-type': 'text/plain' };
    const other = await serve(t, {
      '/list': { body: 'secret1, other', headers: text },
      '/words': { body: 'some secret2', headers: text },
      '/throws.js': "throw Object.assign(new Error('secret3'), { name: 'secret3' })",
      '/object.js': "throw { name: 'secret4', stack: 'secret4', toString() { return 'secret4' } }",
      '/value': { body: "({ member: 'secret5' })", headers: text },
    });
    const page = await openHtml(t, `<script>${NOTE}</script>`);
    await page.evaluate(async (origin) => {
      for (const path of ['/list', '/words', '/throws.js', '/object.js', '/value']) {
        const script = document.createElement('script');
        script.src = origin + path;
        await new Promise((resolve) => {
          script.onload = script.onerror = resolve;
          document.head.append(script);
        });
      }
    }, other.origin);
    assert.deepEqual(await page.evaluate('seen'), Array(4).fill(MUTED));
    // The page's user learns it.
    const told = page.problems
      .filter(({ kind }) => kind === 'script')
      .map(({ text }) => /(secret\d|an object)/.exec(text)?.[0]);
    assert.deepEqual(told, ['secret1', 'secret2', 'secret3', 'an object']);
  });

  test('tells its page nothing by what it throws later', async (t) => {
    const page = await openWith(t, `{ ${LATER} }`);
    await eventually(() => page.evaluate((count) => seen.length >= count, COUNT));
    assert.deepEqual(await page.evaluate('seen'), Array(COUNT).fill(MUTED));
    // The page's user learns it.
    await eventually(() => page.problems.length >= COUNT);
    const told = page.problems.map(({ text }) => text).join('\n');
    for (const [what] of LATER.matchAll(/(?<=[`'"])secret [a-z ]+(?=["'])/g))
      assert.ok(told.includes(what), `${what}: ${told}`);
    assert.match(told, /muted\.js:3:\d+" threw: secret of a function/);
    assert.deepEqual([...new Set(page.errors.map(({ message }) => message))], ['Script error.']);
  });

  test('tells its page nothing by code that it has made, whoever makes that run', async (t) => {
    const page = await openWith(
      t,
      `(function secretName() {
        const secret = 'secret';
        addEventListener('go', eval('(() => { throw new Error(secret); })'));
        addEventListener('go', eval('(() => eval("throw secret"))'));
        addEventListener('go', (0, eval)('(() => document.querySelector("secret!!")) //# sourceURL=node:secret'));
        addEventListener('go', new Function('throw "secret"'));
        addEventListener('go', new Function('Promise.reject("secret")'));
        customElements.define('x-text', class extends HTMLElement { constructor() { super(); throw 'secret'; } });
        customElements.define('x-object', class extends HTMLElement { constructor() { throw { secret }; } });
      })();`,
    );
    await page.evaluate(() => {
      dispatchEvent(new Event('go'));
      document.createElement('x-text');
      document.body.innerHTML = '<x-object></x-object>';
    });
    assert.deepEqual(await page.evaluate('seen'), Array(6).fill(MUTED));
    await eventually(() => page.problems.length >= 7);
    // The page's own is shown.
    await page.evaluate(
      `seen.length = 0; addEventListener('own', eval('() => { throw "own" }')); dispatchEvent(new Event('own'))`,
    );
    assert.equal((await page.evaluate('seen'))[0][0], "Uncaught 'own'");
  });

  test('tells its page nothing when its frame is gone', async (t) => {
    const other = await serve(t, {
      '/frame.js': `
        parent.addEventListener('go', () => { throw new Error('secret'); });
        parent.addEventListener('go', () => { Promise.reject('secret'); });`,
    });
    const page = await openHtml(t, `<script>${NOTE}</script><iframe src="/frame"></iframe>`, {
      routes: { '/frame': `<script src="${other.url('/frame.js')}"></script>` },
    });
    await page.evaluate("document.querySelector('iframe').remove(); dispatchEvent(new Event('go'))");
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
    await page.evaluate("dispatchEvent(new Event('go'))");
    assert.deepEqual(await page.evaluate('seen'), Array(2).fill(MUTED));
  });

  test('tells its page nothing by promises that it rejects', async (t) => {
    const page = await openWith(t, `{ ${REJECTED} }`);
    await eventually(() => page.problems.length >= REJECTED_COUNT);
    assert.match(
      page.problems.map(({ text }) => text).join('\n'),
      /muted\.js:2:\d+" rejected a promise: secret rejection/,
    );
    assert.deepEqual(await page.evaluate('seen'), []);
  });

  test('in a worker tells it nothing by what it throws or rejects later', async (t) => {
    const other = await serve(t, {
      '/later.js': `
        setTimeout(() => { throw new Error('secret'); });
        setTimeout(() => { throw 'secret'; });
        queueMicrotask(() => { throw 'secret'; });
        addEventListener('message', () => { throw 'secret'; }, { once: true });
        ${REJECTED}`,
    });
    const page = await openHtml(t, '', {
      routes: {
        '/worker.js': `${NOTE} importScripts('${other.url('/later.js')}');
          addEventListener('message', ({ data }) => data === 'done' && setTimeout(() => postMessage(seen)));`,
      },
    });
    const [inWorker, outside] = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const worker = new Worker('/worker.js');
          const outside = [];
          worker.onerror = ({ message, filename, lineno, colno }) => outside.push([message, filename, lineno, colno]);
          worker.onmessage = ({ data }) => resolve([data, outside]);
          worker.postMessage('first');
          worker.postMessage('done');
        }),
    );
    assert.deepEqual(inWorker, Array(4).fill(MUTED));
    assert.deepEqual(outside, Array(4).fill(MUTED.slice(0, 4)));
  });

  test('does not hide what the scripts of its page throw and reject when it calls them', async (t) => {
    const before = `globalThis.callbacks = [
      () => { throw new Error('one'); }, () => { throw 'two'; }, () => void Promise.reject(new Error('three')), () => null.x];`;
    const script = `
      for (const callback of callbacks) setTimeout(() => callback());
      for (const callback of callbacks) setTimeout(callback);`;
    const page = await openWith(t, script, { before });
    await page.evaluate("setTimeout(() => { throw 'own'; }); 0");
    await eventually(() => page.evaluate('seen.length >= 9'));
    const seen = (await page.evaluate('seen')).map(([text]) => text.split('\n')[0]).sort();
    const expected = [
      'Uncaught Error: one',
      "Uncaught 'two'",
      'Error: three',
      "Uncaught TypeError: Cannot read properties of null (reading 'x')",
    ];
    assert.deepEqual(seen, [...expected, ...expected, "Uncaught 'own'"].sort());
  });

  test('does not tell where redirects have led, through another script of the same URL', async (t) => {
    const other = await serve(t, {
      '/login': { status: 302, headers: { location: '/callback?code=secret' } },
      '/callback': '<!doctype html>',
    });
    let served = 0;
    const page = await openHtml(t, '<body>', {
      routes: {
        '/script.js': () => {
          served += 1;
          if (served > 1) return { status: 302, headers: { location: other.url('/login') } };
          return 'globalThis.load = (specifier) => import(specifier);';
        },
      },
    });
    const seen = await page.evaluate(async () => {
      for (let count = 0; count < 2; count++) {
        const script = document.createElement('script');
        script.src = '/script.js';
        await new Promise((resolve) => {
          script.onload = script.onerror = resolve;
          document.body.append(script);
        });
      }
      return await Promise.all(['bare', './x'].map((specifier) => globalThis.load(specifier).catch(String)));
    });
    assert.deepEqual(
      other.requests.map(({ url }) => url),
      ['/login', '/callback?code=secret'],
    );
    assert.ok(!seen.join().includes('secret') && !seen.join().includes(other.origin), seen.join('\n'));
  });
});
