// What frames leave behind when they are removed: V8 must be able to collect their realms.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { eventually, openHtml } from './server.mjs';

/** What a frame's document does before it is removed; `done()` says that it has. */
const DOCUMENTS = {
  'with nothing in them': '<script>done()</script>',
  'with an event handler': '<body onload="done()">',
  'with a module of their own': '<script type="module">import.meta.url; done()</script>',
  'with a module from a file': '<script type="module" src="outer.mjs"></script>',
  'with import()': '<script>import("./outer.mjs")</script>',
  'with an import() that fails': '<script>import("./missing.mjs").catch(done)</script>',
  'with marks and an observer':
    '<script>new PerformanceObserver(done).observe({ type: "mark" }); performance.mark("a", { detail: {} })</script>',
  'with a profiler that runs': '<script>new Profiler({ sampleInterval: 1, maxBufferSize: 1000 }); done()</script>',
  'with a profiler whose buffer is full': `<script>
       new Profiler({ sampleInterval: 1, maxBufferSize: 1 }).addEventListener('samplebufferfull', done);
       setInterval(() => { const until = Date.now() + 5; while (Date.now() < until); }, 10);
     </script>`,
  'with a profiler that was stopped':
    '<script>new Profiler({ sampleInterval: 1, maxBufferSize: 1000 }).stop().then(done)</script>',
  'with timers': '<script>setInterval(() => {}, 1e6); setTimeout(done)</script>',
};

test('the realms of frames that were removed are collected', async (t) => {
  const names = Object.keys(DOCUMENTS);
  const routes = Object.fromEntries(
    names.map((name, index) => [
      `/${index}`,
      {
        body: `<!DOCTYPE html><script>function done() { parent.postMessage('', '*') }</script>${DOCUMENTS[name]}`,
        headers: { 'document-policy': 'js-profiling', 'content-type': 'text/html' },
      },
    ]),
  );
  const page = await openHtml(
    t,
    `<!DOCTYPE html><body><script>
      globalThis.collected = [];
      const registry = new FinalizationRegistry((index) => { collected[index] = (collected[index] ?? 0) + 1; });
      async function addAndRemove(index) {
        const frame = document.createElement('iframe');
        frame.src = '/' + index;
        const done = new Promise((resolve) => addEventListener('message', resolve, { once: true }));
        document.body.append(frame);
        await done;
        // It lives as long as its realm, which refers to it.
        registry.register(frame.contentWindow.Object, index);
        frame.remove();
      }
    </script>`,
    {
      routes: {
        ...routes,
        '/outer.mjs':
          'import { inner } from "./inner.mjs"; import data from "./data.json" with { type: "json" }; inner(import.meta.url, data);',
        '/inner.mjs': 'export function inner() { done() }',
        '/data.json': '{}',
      },
    },
  );
  const count = 4;
  for (const index of names.keys())
    for (let i = 0; i < count; i++) await page.evaluate((index) => addAndRemove(index), index);
  let counts = [];
  await eventually(async () => {
    // V8 collects all garbage when that much is allocated.
    counts = await page.evaluate(() => {
      for (let i = 0; i < 4; i++) new ArrayBuffer(1e8);
      return new Promise((resolve) => setTimeout(() => resolve(collected)));
    });
    return names.every((_, index) => counts[index] === count);
  }).catch(() => {});
  assert.deepEqual(
    Object.fromEntries(names.map((name, index) => [name, counts[index]])),
    Object.fromEntries(names.map((name) => [name, count])),
  );
  assert.deepEqual(
    page.problems.filter(({ url }) => !url.endsWith('/missing.mjs')),
    [],
  );
});
