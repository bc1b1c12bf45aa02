// `Profiler` on windows: who may use it, what a trace of a page shows, and what it never shows.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { eventually, openHtml, serve } from './server.mjs';

const ALLOW = { 'document-policy': 'js-profiling' };

/** Source for pages: `spin(ms)` keeps the thread busy. */
const SPIN = 'function spin(ms) { const end = performance.now() + ms; while (performance.now() < end); }';

/** Source for pages: profiles `work` and returns the trace. */
const PROFILE = `async function profile(work, options = {}) {
  const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 100000, ...options });
  await work();
  return await profiler.stop();
}`;

/** Names of functions in a trace. Names without a resource are in brackets. */
function namesIn(trace) {
  return new Set(trace.frames.map(({ name, resourceId }) => (resourceId === undefined ? `[${name}]` : name)));
}

/** The distinct stacks of a trace, outermost call first. */
function stacksIn(trace) {
  const show = (id) => {
    const { frameId, parentId } = trace.stacks[id];
    const { name, resourceId } = trace.frames[frameId];
    return [...(parentId === undefined ? [] : show(parentId)), resourceId === undefined ? `[${name}]` : name];
  };
  return new Set(
    trace.samples.filter(({ stackId }) => stackId !== undefined).map(({ stackId }) => show(stackId).join(' > ')),
  );
}

suite('new Profiler()', () => {
  test('takes its first sample at the stack of its caller', async (t) => {
    const script = `async function begin() { return await new Profiler({ sampleInterval: 10000, maxBufferSize: 1 }).stop(); }`;
    const page = await openHtml(t, `<script>${script}</script>`, { headers: ALLOW });
    assert.deepEqual([...stacksIn(await page.evaluate('begin()'))], [' > begin']);
  });

  test("needs permission by the document's policy", async (t) => {
    const attempt = () => {
      try {
        const profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 10 });
        profiler.stop();
        return 'allowed';
      } catch (error) {
        return `${error.name} ${error instanceof DOMException}`;
      }
    };
    for (const [policy, expected] of [
      ['js-profiling', 'allowed'],
      ['js-profiling-mode=lazy', 'allowed'],
      ['js-profiling=?0', 'NotAllowedError true'],
      ['', 'NotAllowedError true'],
    ]) {
      const page = await openHtml(t, '', { headers: policy === '' ? {} : { 'document-policy': policy } });
      assert.equal(await page.evaluate(attempt), expected, policy);
    }
  });

  test('checks its options before the policy', async (t) => {
    const page = await openHtml(t, '');
    const attempt = (options) =>
      page.evaluate((given) => {
        try {
          new Profiler(given);
          return 'constructed';
        } catch (error) {
          return [error.name, error.constructor === window[error.name] || error.constructor === DOMException].join();
        }
      }, options);
    assert.equal(await attempt({ sampleInterval: -1, maxBufferSize: 1 }), 'RangeError,true');
    assert.equal(await attempt({ sampleInterval: NaN, maxBufferSize: 1 }), 'TypeError,true');
    assert.equal(await attempt({ sampleInterval: 1 }), 'TypeError,true');
    assert.equal(await attempt(undefined), 'TypeError,true');
    assert.equal(await attempt({ sampleInterval: 1, maxBufferSize: 1 }), 'NotAllowedError,true');
  });

  test('is decided for each frame by its own headers', async (t) => {
    const script = `<script>
      try { new Profiler({ sampleInterval: 10, maxBufferSize: 10 }).stop(); console.log(location.pathname + location.search, 'allowed'); }
      catch (e) { console.log(location.pathname + location.search, e.name, e instanceof DOMException); }
    </script>`;
    const foreign = await serve(t, { '/no': script, '/yes': { body: script, headers: ALLOW } });
    const page = await openHtml(
      t,
      `<iframe src="/no"></iframe><iframe src="/yes"></iframe><iframe src="${foreign.url('/no?foreign')}"></iframe><iframe src="${foreign.url('/yes?foreign')}"></iframe>
       <iframe srcdoc="${script.replaceAll('"', '&quot;')}"></iframe>
       <script>try { new frames[0].Profiler({ sampleInterval: 10, maxBufferSize: 10 }) } catch (e) { console.log('of an empty frame', e.name) }</script>`,
      { headers: ALLOW, routes: { '/no': script, '/yes': { body: script, headers: ALLOW } } },
    );
    assert.deepEqual(page.log.sort(), [
      '/no NotAllowedError true',
      '/no?foreign NotAllowedError true',
      '/yes allowed',
      '/yes?foreign allowed',
      'of an empty frame NotAllowedError',
      'srcdoc NotAllowedError true',
    ]);
  });

  test("sets V8's logging mode by the policy", async (t) => {
    for (const [policy, mode] of [
      ['js-profiling', 'eager'],
      ['js-profiling-mode=eager', 'eager'],
      ['js-profiling-mode=lazy', 'lazy'],
      ['js-profiling, js-profiling-mode=lazy', 'lazy'],
    ]) {
      const page = await openHtml(t, '', { headers: { 'document-policy': policy } });
      assert.equal(await page.evaluate(() => Profiler.capabilities().mode), mode, policy);
    }
  });

  test("is the interface that WebIDL describes, of the window's realm", async (t) => {
    const page = await openHtml(t, '', { headers: ALLOW });
    assert.deepEqual(
      await page.evaluate(async () => {
        const profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 10 });
        const promise = profiler.stop();
        const trace = await promise;
        return [
          Object.getPrototypeOf(Profiler) === EventTarget,
          profiler instanceof EventTarget,
          profiler.sampleInterval,
          profiler.stopped,
          promise instanceof Promise,
          trace.samples instanceof Array &&
            trace.frames instanceof Array &&
            Object.getPrototypeOf(trace) === Object.prototype,
          Object.prototype.toString.call(profiler),
          await profiler.stop().catch((error) => `${error.name} ${error instanceof DOMException}`),
          Object.getOwnPropertyDescriptor(window, 'Profiler').enumerable,
        ];
      }),
      [true, true, 10, true, true, true, '[object Profiler]', 'InvalidStateError true', false],
    );
  });

  test('fires samplebufferfull, as a trusted event of the window', async (t) => {
    const page = await openHtml(t, `<script>${SPIN}</script>`, { headers: ALLOW });
    assert.deepEqual(
      await page.evaluate(
        () =>
          new Promise((resolve) => {
            const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 3 });
            profiler.addEventListener('samplebufferfull', (event) => {
              profiler
                .stop()
                .then(({ samples }) =>
                  resolve([event instanceof Event, event.isTrusted, event.target === profiler, samples.length]),
                );
            });
            const timer = setInterval(() => spin(5), 1);
            setTimeout(() => clearInterval(timer), 1_000);
          }),
      ),
      [true, true, true, 3],
    );
  });
});

suite('a trace of a page', () => {
  test('shows its functions with the locations of their definitions', async (t) => {
    const page = await openHtml(
      t,
      `<script>${SPIN} ${PROFILE}</script>
<script>
  function outer() { inner(); }
    function inner() { spin(60); }
</script><script src="/app.js"></script>`,
      { headers: ALLOW, routes: { '/app.js': 'function external() {\n  outer();\n}' } },
    );
    const trace = await page.evaluate('profile(() => external())');
    const [stack] = [...stacksIn(trace)].filter((text) => text.includes('inner > spin'));
    assert.match(stack, /external > outer > inner > spin/);
    const frame = (wanted) => trace.frames.find(({ name }) => name === wanted);
    const at = ({ resourceId, line, column }) => [trace.resources[resourceId], line, column];
    assert.deepEqual(at(frame('outer')), [page.server.url('/'), 7, 17]);
    assert.deepEqual(at(frame('inner')), [page.server.url('/'), 8, 19]);
    assert.deepEqual(at(frame('external')), [page.server.url('/app.js'), 1, 18]);
    assert.ok(trace.samples.every(({ timestamp }, i, all) => i === 0 || timestamp >= all[i - 1].timestamp));
  });

  test("shows modules, handlers and timers as the page's own", async (t) => {
    const page = await openHtml(
      t,
      `<script>${SPIN} ${PROFILE}</script>
       <script type="module">import { imported } from '/m.mjs'; window.work = function inModule() { imported(); };</script>
       <button id="b" onclick="spin(40)"></button>`,
      { headers: ALLOW, routes: { '/m.mjs': 'export function imported() { spin(40); }' } },
    );
    const trace = await page.evaluate(`profile(async () => {
      work(); b.click(); await new Promise((resolve) => setTimeout(function timer() { spin(40); resolve(); }));
      (await import('/m.mjs')).imported();
    })`);
    const names = namesIn(trace);
    for (const name of ['inModule', 'imported', 'onclick', 'timer', 'spin'])
      assert.ok(names.has(name), `${name} in ${[...names]}`);
  });

  test("counts time from the page's own time origin", async (t) => {
    const page = await openHtml(t, `<script>${SPIN} ${PROFILE}</script>`, { headers: ALLOW });
    const [before, after, trace] = await page.evaluate(`(async () => {
      const before = performance.now(); const trace = await profile(() => spin(200)); return [before, performance.now(), trace];
    })()`);
    assert.ok(trace.samples.length > 5);
    for (const { timestamp } of trace.samples)
      assert.ok(timestamp >= before - 1 && timestamp <= after + 1, `${before} ${timestamp} ${after}`);
  });

  test("shows DOM methods by name only, and none of jsdom's functions", async (t) => {
    const page = await openHtml(
      t,
      `<div id="d"></div><script>${SPIN} ${PROFILE}
      function fill() { for (let i = 0; i < 300; i++) { d.innerHTML = '<p class=a><b>x</b></p>'.repeat(30); d.querySelectorAll('p > b'); } }</script>`,
      { headers: ALLOW },
    );
    const trace = await page.evaluate('profile(fill)');
    for (const stack of stacksIn(trace)) assert.match(stack, /^[^[\]]*( > \[[^\]]*\])?$/, stack);
    assert.ok(
      [...stacksIn(trace)].some((stack) => /fill > \[(set )?innerHTML\]/.test(stack)),
      [...stacksIn(trace)].join('\n'),
    );
    for (const resource of trace.resources)
      assert.ok(resource === page.server.url('/') || resource === 'evaluate', resource);
  });

  test('has more markers when the page is isolated', async (t) => {
    const markers = async (headers, wanted) => {
      const page = await openHtml(t, `<script>${SPIN} ${PROFILE}</script>`, { headers: { ...ALLOW, ...headers } });
      // On a busy machine, the thread may not run while it is sampled, or only while V8 compiles.
      let seen;
      await eventually(async () => {
        const { samples } = await page.evaluate('profile(() => spin(50))');
        seen = samples.some(({ marker }) => marker === 'script');
        return samples.filter(({ stackId }) => stackId !== undefined).length > 5 && seen === wanted;
      });
      return [await page.evaluate('crossOriginIsolated'), seen];
    };
    assert.deepEqual(await markers({}, false), [false, false]);
    assert.deepEqual(
      await markers(
        { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' },
        true,
      ),
      [true, true],
    );
  });

  test('contains marks and measures of the window on request', async (t) => {
    const page = await openHtml(t, `<script>${SPIN} ${PROFILE}</script>`, { headers: ALLOW });
    const trace = await page.evaluate(
      `profile(() => { performance.mark('m'); spin(10); performance.measure('d', 'm'); }, { includeEntries: true })`,
    );
    assert.deepEqual(
      trace.entries.map(({ entryType, name }) => [entryType, name]),
      [
        ['mark', 'm'],
        ['measure', 'd'],
      ],
    );
  });

  test('can be read in chunks or compressed, and cancelled', async (t) => {
    const page = await openHtml(t, `<script>${SPIN}</script>`, { headers: ALLOW });
    const chunks = await page.evaluate(async () => {
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 5, bufferPolicy: 'chunks' });
      const timer = setInterval(() => spin(4), 1);
      const counts = [];
      for await (const { samples } of profiler) if (counts.push(samples.length) === 2) break;
      clearInterval(timer);
      profiler.cancel();
      return counts;
    });
    assert.deepEqual(chunks, [5, 5]);
    const bytes = await page.evaluate(async () => {
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 50 });
      const buffer = await profiler.stop({ format: 'json-gzip' });
      return [buffer instanceof ArrayBuffer, new Uint8Array(buffer)];
    });
    assert.equal(bytes[0], true);
    assert.deepEqual([...bytes[1].slice(0, 2)], [0x1f, 0x8b]);
  });
});
