// Profilers in dedicated workers, and the policies that allow them.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { open, openHtml, serve } from './server.mjs';
import { html, untilWorkers } from './worker-pages.mjs';

const ALLOW = { 'document-policy': 'js-profiling' };
const ISOLATED = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };

suite("a worker's policies", () => {
  test("decide whether it may profile, by its own header or its owner's", async (t) => {
    const attempt = `let outcome = 'allowed'; try { new Profiler({ sampleInterval: 10, maxBufferSize: 10 }).stop(); outcome += ' ' + Profiler.capabilities().mode } catch (e) { outcome = e.name }
      postMessage(outcome);`;
    const routes = {
      '/none.js': attempt,
      '/eager.js': { body: attempt, headers: ALLOW },
      '/lazy.js': { body: attempt, headers: { 'document-policy': 'js-profiling-mode=lazy' } },
    };
    const may = async (page) =>
      await page.evaluate(
        (text) =>
          Promise.all(
            ['/none.js', '/eager.js', '/lazy.js', textUrl(text), `data:text/javascript,${text}`].map((url) =>
              hear(url),
            ),
          ),
        attempt,
      );
    assert.deepEqual(await may(await openHtml(t, html(), { routes, headers: ALLOW })), [
      'NotAllowedError',
      'allowed eager',
      'allowed lazy',
      'allowed eager',
      'allowed eager',
    ]);
    assert.deepEqual(await may(await openHtml(t, html(), { routes })), [
      'NotAllowedError',
      'allowed eager',
      'allowed lazy',
      'NotAllowedError',
      'NotAllowedError',
    ]);
  });

  test('must allow its isolated owner, or it is not started', async (t) => {
    const says = 'postMessage(crossOriginIsolated)';
    const page = await openHtml(t, html(), {
      headers: ISOLATED,
      routes: { '/no.js': says, '/yes.js': { body: says, headers: ISOLATED } },
    });
    const outcomes = await page.evaluate(
      (text) =>
        Promise.all(['/no.js', '/yes.js', textUrl(text), `data:text/javascript,${text}`].map((url) => hear(url))),
      says,
    );
    assert.deepEqual(outcomes, ['error', true, true, false]);
    assert.match(page.problems[0].text, /Cross-Origin-Embedder-Policy/);
    const plain = await openHtml(t, html(), { routes: { '/yes.js': { body: says, headers: ISOLATED } } });
    assert.equal(await plain.evaluate("hear('/yes.js')"), false);
  });

  test('let a page from disk make workers from its folder', async (t) => {
    const { mkdtemp, writeFile, rm } = await import('node:fs/promises');
    const { tmpdir } = await import('node:os');
    const path = await import('node:path');
    const folder = await mkdtemp(path.join(tmpdir(), 'selfprof-'));
    t.after(() => rm(folder, { recursive: true }));
    await writeFile(path.join(folder, 'page.html'), html());
    await writeFile(path.join(folder, 'w.js'), 'postMessage(location.protocol)');
    const page = await open(t, path.join(folder, 'page.html'));
    assert.equal(await page.evaluate("hear('w.js')"), 'file:');
    assert.equal(await page.evaluate("hear('../../etc/passwd')"), 'error');
  });
});

suite('Profiler in a worker', () => {
  const SPIN = 'function spin(ms) { const end = performance.now() + ms; while (performance.now() < end); }';

  test("shows the worker's functions and no others", async (t) => {
    const foreign = await serve(t, { '/muted.js': `function muted(callback) { callback(); }` });
    const page = await openHtml(t, html(`<script>${SPIN} function ofPage() { spin(20); }</script>`), {
      headers: ALLOW,
      routes: {
        '/w.js': {
          headers: ALLOW,
          body: `${SPIN}
importScripts('/lib.js', location.search.slice(1));
onmessage = async () => {
  const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 10000 });
  function inWorker() { muted(function back() { inLibrary(); }); }
  inWorker();
  const stopped = profiler.stop();
  const end = performance.now();
  postMessage({ trace: await stopped, end });
};`,
        },
        '/lib.js': 'function inLibrary() { spin(60); }',
      },
    });
    const { trace, end } = await page.evaluate(async (script) => {
      const worker = new Worker(`/w.js?${script}`);
      worker.postMessage(0);
      ofPage();
      return await listen(worker);
    }, foreign.url('/muted.js'));
    const names = trace.frames.map(({ name }) => name);
    for (const name of ['inWorker', 'back', 'inLibrary', 'spin'])
      assert.ok(names.includes(name), `${name} in ${names}`);
    for (const name of ['muted', 'ofPage']) assert.ok(!names.includes(name), `${name} in ${names}`);
    assert.deepEqual(
      new Set(trace.resources),
      new Set([page.server.url(`/w.js?${foreign.url('/muted.js')}`), page.server.url('/lib.js')]),
    );
    assert.ok(trace.samples.length > 5);
    for (const { timestamp } of trace.samples) assert.ok(timestamp > 0 && timestamp <= end + 1);
  });

  test('takes forced samples, also in the background', async (t) => {
    const page = await openHtml(t, html(), {
      headers: ALLOW,
      routes: {
        '/w.js': {
          headers: ALLOW,
          body: "profiler = new Profiler({ sampleInterval: 2147483, maxBufferSize: 100 }); postMessage('ready')",
        },
      },
    });
    await page.evaluate("hear('/w.js')");
    const [{ frame }] = await page.workers();
    await page.forceSample({ frame });
    await page.setVisible(false);
    await page.forceSample({ frame });
    await page.forceSample();
    assert.equal(await page.evaluateIn({ frame }, async () => (await profiler.stop()).samples.length), 3);
  });

  test('has marks and measures of the worker', async (t) => {
    const page = await openHtml(t, html(), {
      headers: ALLOW,
      routes: {
        '/w.js': {
          headers: ALLOW,
          body: `(async () => {
            const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1000, includeEntries: true });
            const observed = new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries().map(({ name }) => name))).observe({ entryTypes: ['mark'] }));
            performance.mark('m'); performance.measure('d', 'm');
            postMessage([(await profiler.stop()).entries.map(({ name }) => name), performance.getEntriesByType('mark').length, await observed]);
          })()`,
        },
      },
    });
    assert.deepEqual(await page.evaluate("hear('/w.js')"), [['m', 'd'], 1, ['m']]);
  });

  test('ends with the worker, even while it records', async (t) => {
    const page = await openHtml(t, html(), {
      headers: ALLOW,
      routes: {
        '/w.js': {
          headers: ALLOW,
          body: "profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 100000 }); postMessage('ready'); for (;;);",
        },
      },
    });
    for (let i = 0; i < 5; i++) {
      assert.equal(await page.evaluate("hear('/w.js')"), 'ready');
      await page.evaluate('workers.at(-1).terminate()');
    }
    await untilWorkers(page, 0);
    assert.equal(await page.evaluate('1 + 1'), 2);
  });
});
