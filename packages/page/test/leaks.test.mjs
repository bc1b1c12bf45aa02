// What frames leave behind when they are removed.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import v8 from 'node:v8';
import { fileURLToPath } from 'node:url';
import workerThreads from 'node:worker_threads';

// The main realms of threads that are started from here on have `gc()`.
v8.setFlagsFromString('--expose-gc');
const COLLECTOR = fileURLToPath(new URL('collect-garbage.cjs', import.meta.url));

/** The threads of the pages that are open. */
const threads = [];
workerThreads.Worker = class extends workerThreads.Worker {
  constructor(program, options) {
    super(program, { ...options, execArgv: [...options.execArgv, '--require', COLLECTOR] });
    threads.push(this);
  }
};
const { eventually, open, serve } = await import('./server.mjs');

/** How many contexts the page's thread has after garbage collection. Collects again while there are more than `expected`. */
async function contexts(page, expected = 0) {
  let fewest = Infinity;
  for (let i = 0; i < 3 || (fewest > expected && i < 12 && expected > 0); i++) {
    // Some are released by a task that the collection before has queued.
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
    const collected = new Int32Array(new SharedArrayBuffer(4));
    threads.at(-1).postMessage({ collected });
    await eventually(() => Atomics.load(collected, 0) === 1);
    const { number_of_native_contexts: count } = await threads.at(-1).getHeapStatistics();
    fewest = Math.min(fewest, count);
    if (fewest <= expected) break;
  }
  return fewest;
}

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

suite('frames that were removed leave no context', () => {
  for (const [name, content] of Object.entries(DOCUMENTS)) {
    test(name, async (t) => {
      const site = await serve(t, {
        '/': { body: '<!DOCTYPE html><body>' },
        '/frame.html': {
          body: `<!DOCTYPE html><script>function done() { parent.postMessage('', '*') }</script>${content}`,
          headers: { 'document-policy': 'js-profiling' },
        },
        '/outer.mjs':
          'import { inner } from "./inner.mjs"; import data from "./data.json" with { type: "json" }; inner(import.meta.url, data);',
        '/inner.mjs': 'export function inner() { done() }',
        '/data.json': '{}',
      });
      const page = await open(t, site.url('/'));
      const addAndRemove = (count) =>
        page.evaluate(async (count) => {
          for (let i = 0; i < count; i++) {
            const frame = document.createElement('iframe');
            frame.src = 'frame.html';
            const done = new Promise((resolve) => addEventListener('message', resolve, { once: true }));
            document.body.append(frame);
            await done;
            frame.remove();
          }
        }, count);
      // What is made once, such as the empty document's realm.
      await addAndRemove(2);
      const before = await contexts(page);
      await addAndRemove(5);
      const after = await contexts(page, before);
      assert.ok(after <= before, `${before} contexts became ${after}`);
      assert.deepEqual(page.problems, []);
    });
  }
});
