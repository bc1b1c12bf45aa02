// Limits on what a page may use: those of its host's options, and those of the specification.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { PageHost } from '@selfprof/page';

import { host, openHtml } from './server.mjs';

const ALLOW = { 'document-policy': 'js-profiling' };

suite('options', () => {
  test('of a host are refused if they are not of their type, or out of their range', () => {
    for (const memoryLimit of [NaN, -1, 0, 63, 2 ** 21, Infinity])
      assert.throws(() => new PageHost({ memoryLimit }), RangeError, `${memoryLimit}`);
    for (const [name, least] of Object.entries({ bodyLimit: 0, timeout: 0 })) {
      for (const value of [NaN, least - 1])
        assert.throws(() => new PageHost({ [name]: value }), { name: 'RangeError', message: new RegExp(name) });
      assert.throws(() => new PageHost({ [name]: '512' }), { name: 'TypeError', message: new RegExp(name) });
    }
    assert.throws(() => new PageHost({ memoryLimit: '512' }), { name: 'TypeError', message: /memoryLimit/ });
    assert.throws(() => new PageHost({ cookies: 'none' }), { name: 'TypeError', message: /cookies/ });
    const ignoreCertificateErrors = 'false';
    assert.throws(() => new PageHost({ ignoreCertificateErrors }), TypeError);
  });

  test('that do not exist are refused, with those that do', async (t) => {
    assert.throws(() => new PageHost({ headless: true }), {
      name: 'TypeError',
      message: /^PageHost has no option `headless`; its options are jsdom, timeout, .*cookies$/,
    });
    const pages = host(t);
    await assert.rejects(pages.open('about:blank', { waitFor: 'load' }), {
      name: 'TypeError',
      message:
        'open() has no option `waitFor`; its options are on, waitUntil, timeout, referrer, root, headers, profile',
    });
    assert.deepEqual(pages.pages, []);
  });

  test('of a call that are refused leave no page open', async (t) => {
    const pages = host(t);
    const page = await pages.open();
    for (const [timeout, name] of [
      [-1, 'RangeError'],
      [NaN, 'RangeError'],
      ['5', 'TypeError'],
      [null, 'TypeError'],
      [Symbol('timeout'), 'TypeError'],
      [10n, 'TypeError'],
    ]) {
      await assert.rejects(
        page.evaluateIn({ timeout }, () => 1),
        { name },
      );
      await assert.rejects(page.navigate('about:blank', { timeout }), { name });
      await assert.rejects(page.setVisible(false, { timeout }), { name });
      await assert.rejects(pages.open('about:blank', { timeout }), { name });
    }
    for (const on of [{ load: 5 }, { console: null }])
      await assert.rejects(pages.open('about:blank', { on }), /listener/);
    assert.deepEqual(pages.pages, [page]);
    assert.equal(await page.evaluate(() => 1 + 1), 2);
  });
});

suite('a page cannot use', () => {
  test('more than a hundred profilers at once, in a window or a worker', async (t) => {
    const count = `async () => {
      const profilers = [];
      let failure;
      try {
        for (;;) profilers.push(new Profiler({ sampleInterval: 1_000, maxBufferSize: 2 ** 32 - 1 }));
      } catch (error) {
        failure = error;
      }
      await profilers[0].stop();
      profilers.push(new Profiler({ sampleInterval: 1_000, maxBufferSize: 1 }));
      await Promise.all(profilers.slice(1).map((profiler) => profiler.stop()));
      return [profilers.length, failure.constructor === TypeError];
    }`;
    const page = await openHtml(t, '', {
      headers: ALLOW,
      routes: { '/w.js': { headers: ALLOW, body: `(${count})().then(postMessage)` } },
    });
    assert.deepEqual(await page.evaluate(`(${count})()`), [101, true]);
    const inWorker = "new Promise((resolve) => { new Worker('/w.js').onmessage = ({ data }) => resolve(data); })";
    assert.deepEqual(await page.evaluate(inWorker), [101, true]);
  });

  test('a larger response than its host allows, compressed or not', async (t) => {
    const gzip = (bytes) => gzipSync(bytes);
    const bomb = gzip(Buffer.alloc(1_000_000));
    const page = await openHtml(t, '', {
      host: host(t, { bodyLimit: 10_000 }),
      routes: {
        '/small': { body: gzip(Buffer.alloc(10_000)), headers: { 'content-encoding': 'gzip' } },
        '/large': 'x'.repeat(10_001),
        '/bomb': { body: bomb, headers: { 'content-encoding': 'gzip' } },
      },
    });
    assert.ok(bomb.length < 10_000);
    const sizes = await page.evaluate(() =>
      Promise.all(
        ['/small', '/large', '/bomb'].map((path) =>
          fetch(path)
            .then((response) => response.text())
            .then(
              ({ length }) => length,
              ({ name }) => name,
            ),
        ),
      ),
    );
    assert.deepEqual(sizes, [10_000, 'TypeError', 'TypeError']);
  });

  test('more memory than its host allows, and other pages continue', async (t) => {
    const pages = host(t, { memoryLimit: 64 });
    const other = await openHtml(t, '<title>other</title>', { host: pages });
    const page = await openHtml(t, '', { host: pages });
    for (const fill of [
      'const all = []; for (;;) all.push(new Array(10000).fill(Math.random()))',
      'const all = []; for (;;) all.push(new Array(20000000).fill(1.5))',
      'const all = []; for (let text = "abc", i = 0; ; i++) { text += text + i; if (text.length > 1e7) { all.push(text.split("")); text = "abc"; } }',
      'const all = new Map(); for (let i = 0; ; i++) all.set(i, { i })',
    ]) {
      const crashed = new Promise((resolve) => page.once('crash', resolve));
      await assert.rejects(page.evaluate(fill));
      assert.match((await crashed).message, /memory/);
      assert.equal(await other.evaluate('document.title'), 'other');
      // The page can be navigated again.
      await page.navigate(page.server.url('/'));
      assert.equal(await page.evaluate('1 + 1'), 2);
    }
  });
});
