// A page cannot take more than its user gives it: memory, threads, messages, entries, samples.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { suite, test } from 'node:test';

import { host, openHtml, serve } from './server.mjs';

const ALLOW = { 'document-policy': 'js-profiling' };

/** Waits until a page's thread is ended, and says why. */
async function crashOf(page, script) {
  const crashed = once(page, 'crash');
  page.evaluate(script).catch(() => {});
  return (await crashed)[0];
}

suite('memory', () => {
  test('of buffers is no more than that of the heap', async (t) => {
    const page = await openHtml(t, '', { host: host(t, { memoryLimit: 128 }) });
    const error = await crashOf(page, 'keep = []; for (;;) keep.push(new Uint8Array(1e6).fill(1));');
    assert.match(error.message, /buffers take more memory than the 128 MB/);
    await page.navigate(page.server.url('/'));
    assert.equal(await page.evaluate('1 + 1'), 2);
  });

  test('of a worker is its own', async (t) => {
    const page = await openHtml(t, '', {
      host: host(t, { memoryLimit: 128 }),
      routes: { '/w.js': 'keep = []; for (;;) keep.push(new ArrayBuffer(1e6), new Float64Array(1e5).fill(1));' },
    });
    assert.equal(await page.evaluate(() => new Promise((resolve) => { new Worker('/w.js').onerror = ({ type }) => resolve(type); })), 'error');
    assert.equal(await page.evaluate('1 + 1'), 2);
  });
});

suite('messages', () => {
  /** Posts until it is refused; gives how many bytes went. */
  const FLOOD = `function flood(port, size) {
    const message = new Uint8Array(size);
    for (let bytes = 0; ; bytes += size) {
      try { port.postMessage(message); } catch (error) { return [error.name, error instanceof DOMException, Math.round(bytes / 2 ** 20)]; }
      if (bytes > 2 ** 30) return ['no end'];
    }
  }`;

  test('that nobody takes are refused in the end, and come when somebody does', async (t) => {
    const page = await openHtml(t, `<script>${FLOOD}</script>`);
    const outcome = await page.evaluate(() => {
      globalThis.channel = new MessageChannel();
      return flood(channel.port1, 2 ** 20);
    });
    assert.deepEqual([outcome[0], outcome[1]], ['DataCloneError', true]);
    assert.ok(outcome[2] > 200 && outcome[2] <= 256, `${outcome[2]} MB`);
    const received = await page.evaluate(async (count) => {
      let seen = 0;
      await new Promise((resolve) => {
        channel.port2.onmessage = () => ++seen === count && resolve();
      });
      // There is room again.
      channel.port1.postMessage('more');
      return seen;
    }, outcome[2]);
    assert.equal(received, outcome[2]);
  });

  test('to a worker that does not listen are refused, too, and small ones as well', async (t) => {
    const page = await openHtml(t, `<script>${FLOOD}</script>`, { routes: { '/w.js': "postMessage('busy'); for (;;);" } });
    const outcome = await page.evaluate(async () => {
      globalThis.worker = new Worker('/w.js');
      await new Promise((resolve) => { worker.onmessage = resolve; });
      return flood(worker, 2 ** 22);
    });
    assert.equal(outcome[0], 'DataCloneError');
    assert.ok(outcome[2] <= 256, `${outcome[2]} MB`);
    // All of a thread's channels count together.
    const next = await page.evaluate(() => flood(new MessageChannel().port1, 2 ** 22));
    assert.equal(next[0], 'DataCloneError');
    assert.ok(next[2] <= 4, `${next[2]} MB`);
    await page.evaluate('worker.terminate()');
  });

  test('of a worker are refused in the worker, over a port that came from elsewhere', async (t) => {
    const page = await openHtml(t, '', { routes: { '/w.js': `${FLOOD} onmessage = ({ data }) => postMessage(flood(data, 2 ** 22));` } });
    const outcome = await page.evaluate(() => {
      const worker = new Worker('/w.js');
      const { port1, port2 } = (globalThis.channel = new MessageChannel());
      worker.postMessage(port2, [port2]);
      return new Promise((resolve) => { worker.onmessage = ({ data }) => resolve(data); });
    });
    assert.deepEqual(outcome.slice(0, 2), ['DataCloneError', true]);
    assert.ok(outcome[2] <= 256, `${outcome[2]} MB`);
  });

  test('to a frame of another origin that does not take them are lost in the end', async (t) => {
    const foreign = await serve(t, { '/': '<script>onmessage = () => { for (;;); };</script>' });
    const page = await openHtml(t, `<iframe src="${foreign.url('/')}"></iframe>`);
    const before = process.memoryUsage.rss();
    for (let round = 0; round < 20; round++) {
      await page.evaluate(() => {
        const text = 'x'.repeat(2 ** 20);
        for (let i = 0; i < 50; i++) frames[0].postMessage(text, '*');
      });
    }
    assert.ok(process.memoryUsage.rss() - before < 600 * 2 ** 20, 'a gigabyte was posted');
    assert.equal(await page.evaluate('1 + 1'), 2);
  });

  test('between threads, the console and navigations do not pile up with the user', async (t) => {
    const foreign = await serve(t, { '/': '<script>parent.postMessage("there", "*")</script>' });
    const page = await openHtml(t, `<iframe src="${foreign.url('/')}"></iframe>`, { routes: { '/next': '<title>next</title>' } });
    const before = process.memoryUsage.rss();
    await page.evaluate(() => {
      const text = 'x'.repeat(2 ** 20);
      for (let i = 0; i < 2_000; i++) frames[0].postMessage(text, '*');
      for (let i = 0; i < 100_000; i++) console.log(i);
    });
    assert.ok(process.memoryUsage.rss() - before < 2 ** 30, 'two gigabytes were posted');
    assert.ok(page.log.length < 50_000, `${page.log.length} lines`);
    // The last wish counts, however many there were.
    const navigated = new Promise((resolve) => page.on('navigated', (url) => url.endsWith('/next?999') && resolve()));
    await page.evaluate("for (let i = 0; i < 1_000; i++) location.href = '/next?' + i;").catch(() => {});
    await navigated;
    assert.ok(page.server.requests.filter(({ url }) => url.startsWith('/next')).length < 20, `${page.server.requests.length} requests`);
  });
});

suite('profilers and entries of workers', () => {
  test('are limited as those of windows', async (t) => {
    const page = await openHtml(t, '', {
      host: host(t, { sampleBudget: 20 }),
      routes: {
        '/w.js': {
          headers: ALLOW,
          body: `(async () => {
            const profilers = [];
            let refused;
            try { for (;;) profilers.push(new Profiler({ sampleInterval: 1, maxBufferSize: 2 ** 32 - 1 })); } catch (error) { refused = error.name; }
            const full = new Promise((resolve) => profilers[0].addEventListener('samplebufferfull', resolve));
            const timer = setInterval(() => { for (const end = performance.now() + 5; performance.now() < end; ); }, 1);
            await full;
            clearInterval(timer);
            const counts = (await Promise.all(profilers.map((profiler) => profiler.stop()))).map(({ samples }) => samples.length);
            postMessage([profilers.length, refused, counts[0], Math.max(...counts.slice(1))]);
          })()`,
        },
      },
    });
    assert.deepEqual(await page.evaluate(() => new Promise((resolve) => { new Worker('/w.js').onmessage = ({ data }) => resolve(data); })), [100, 'TypeError', 20, 10]);
  });

  test('a million marks are kept, and no more', async (t) => {
    const page = await openHtml(t, '');
    const [kept, isThere] = await page.evaluate(() => {
      for (let i = 0; i < 1_100_000; i++) performance.mark('m');
      return [performance.getEntriesByType('mark').length, performance.mark('after').name];
    });
    assert.equal(isThere, 'after');
    assert.ok(kept <= 1_000_000, `${kept} marks`);
  });
});
