// The memory of a page: its heap, its buffers, and what profilers and V8 take for it.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { suite, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { host, open, openHtml, openInThisProcess, serve, watchMemory } from './server.mjs';
import { WASM, crashOf, functionsWithLongNames } from './page-limits.mjs';

openInThisProcess();

const ALLOW = { 'document-policy': 'js-profiling' };

suite('memory', () => {
  test('of buffers is limited as that of the heap', async (t) => {
    const page = await openHtml(t, '', { host: host(t, { memoryLimit: 128 }) });
    const error = await crashOf(page, 'keep = []; for (;;) keep.push(new Uint8Array(1e6).fill(1));');
    assert.match(error.message, /buffers exceed its memory limit of 128 MB/);
    await page.navigate(page.server.url('/'));
    assert.equal(await page.evaluate('1 + 1'), 2);
  });

  test('of marks and measures is limited for all windows of a thread together', { timeout: 300_000 }, async (t) => {
    const page = await openHtml(t, '');
    const kept = await page.evaluateIn({ timeout: 250_000 }, () => {
      const frames = Array.from({ length: 7 }, () => document.body.appendChild(document.createElement('iframe')));
      const timelines = frames.map((frame) => frame.contentWindow.performance);
      for (const timeline of timelines.slice(1))
        for (let i = 0; i < 1e6; i++) timeline.measure('a', { start: 0, end: 1 });
      const keeps = (timeline) => {
        timeline.measure('last', { start: 0, end: 1 });
        return timeline.getEntriesByName('last').length === 1;
      };
      const before = keeps(timelines[0]);
      timelines[1].clearMeasures();
      return [before, keeps(timelines[0])];
    });
    assert.deepEqual(kept, [false, true]);
  });

  test('of a worker is limited separately', async (t) => {
    const page = await openHtml(t, '', {
      host: host(t, { memoryLimit: 128 }),
      routes: { '/w.js': 'keep = []; for (;;) keep.push(new ArrayBuffer(1e6), new Float64Array(1e5).fill(1));' },
    });
    assert.equal(
      await page.evaluate(
        () =>
          new Promise((resolve) => {
            new Worker('/w.js').onerror = ({ type }) => resolve(type);
          }),
      ),
      'error',
    );
    assert.equal(await page.evaluate('1 + 1'), 2);
  });

  test('of values that are written inside each other is limited', async (t) => {
    const page = await openHtml(t, '', { host: host(t, { memoryLimit: 512 }) });
    const grown = watchMemory(t);
    const outcome = await page.evaluate(() => {
      const text = 'x'.repeat(100 << 20);
      const nested = (depth) => ({
        text,
        get next() {
          if (depth > 0) structuredClone(nested(depth - 1));
          else for (const end = performance.now() + 500; performance.now() < end; );
          return 1;
        },
      });
      try {
        return structuredClone(nested(16)).next;
      } catch ({ name }) {
        return name;
      }
    });
    assert.equal(outcome, 'DataCloneError');
    assert.ok(grown() < 1_200 << 20, `${grown() >> 20} MB`);
    assert.equal(await page.evaluate(() => structuredClone('x'.repeat(100 << 20)).length), 100 << 20);
  });

  test('of the stacks that a profiler keeps is limited, however few samples have them', async (t) => {
    const page = await openHtml(t, '', { headers: ALLOW, host: host(t, { sampleBudget: 1_000 }) });
    const [isFull, stacks] = await page.evaluate(async () => {
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1_000 });
      let isFull = false;
      profiler.onsamplebufferfull = () => {
        isFull = true;
      };
      profiler.addEventListener('samplebufferfull', profiler.onsamplebufferfull);
      const spin = () => {
        for (const end = performance.now() + 1; performance.now() < end; );
        return 0;
      };
      const calls = [
        (depth) => (depth === 0 ? spin() : any()(depth - 1) + 1),
        (depth) => (depth === 0 ? spin() : any()(depth - 1) + 2),
        (depth) => (depth === 0 ? spin() : any()(depth - 1) + 3),
      ];
      const any = () => calls[Math.trunc(Math.random() * 3)];
      for (const end = performance.now() + 900; performance.now() < end; ) calls[0](240);
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      const trace = await profiler.stop();
      return [isFull, trace.stacks.length];
    });
    assert.ok(isFull);
    assert.ok(stacks < 5_000, `${stacks} stacks`);
  });

  test('of the names that profilers keep is limited for all of them together', async (t) => {
    const page = await openHtml(t, '', { headers: ALLOW });
    await page.evaluate(functionsWithLongNames("'_' + row + '_' + i"));
    const grown = watchMemory(t);
    const [full, first, last] = await page.evaluate(async () => {
      let full = 0;
      const profilers = Array.from({ length: 100 }, () => {
        const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 10_000 });
        profiler.addEventListener('samplebufferfull', () => {
          full += 1;
        });
        return profiler;
      });
      for (const call of calls) call();
      for (const end = performance.now() + 10_000; full < 90 && performance.now() < end; ) {
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      const traces = await Promise.all(profilers.reverse().map((profiler) => profiler.stop()));
      return [full, traces.at(-1).frames.length, traces[0].frames.length];
    });
    assert.ok(full > 50, `${full} buffers were full`);
    // A hundredth of 64 MiB, and one stack.
    assert.ok(last > 200 && last < 600, `${last} functions in the last trace`);
    assert.ok(first > 10 * last, `${first} functions in the first trace`);
    const megabytes = Math.round(grown() / 2 ** 20);
    assert.ok(megabytes < 1_200, `${megabytes} MB`);
  });

  test('of traces that have not arrived is limited, too', async (t) => {
    const page = await openHtml(t, '', { headers: ALLOW });
    await page.evaluate(functionsWithLongNames("'_' + row + '_' + i"));
    const record = async (count) => {
      const stopped = [];
      for (let index = 0; index < count; index++) {
        const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 10_000 });
        for (const call of calls) call();
        stopped.push(profiler.stop());
      }
      // Nothing has arrived before the task ends.
      const traces = await Promise.all(stopped);
      return traces.at(-1).frames.length;
    };
    const last = await page.evaluate(record, 20);
    // On a busy machine, a profiler takes few samples.
    let alone = 0;
    for (let tries = 0; tries < 10 && alone <= 5_000; tries++) alone = await page.evaluate(record, 1);
    // A twentieth of 64 MiB, and one stack.
    assert.ok(last < 2_000, `${last} functions in the last trace`);
    assert.ok(alone > 5_000, `${alone} functions in a later trace`);
  });

  test('of the recording of a load is limited, however often it has a long name', async (t) => {
    const script = `${functionsWithLongNames("''")} for (const call of calls) call();`;
    const page = await openHtml(t, `<body><script>${script}</script>`, { profile: {} });
    const { frames } = await page.takeProfile();
    const length = frames.reduce((sum, { name }) => sum + Buffer.byteLength(name), 0);
    // 16 MiB, and one stack.
    assert.ok(length > 8 << 20 && length < 17 << 20, `${length} bytes of names`);
    assert.match(page.problems.map(({ text }) => text).join(), /^The recording of the load ended early/);
  });

  for (const [what, make] of Object.entries({
    'the texts of segments': "new Intl.Segmenter('en').segment(text)",
    'the texts of iterators of segments': 'segments[Symbol.iterator]()',
    'the bytes of modules of WebAssembly': 'new WebAssembly.Module(bytes)',
    'the functions of modules of WebAssembly': 'new WebAssembly.Module(functions)',
    'modules that are compiled later': 'await WebAssembly.compile(bytes)',
    'modules that are instantiated': 'await WebAssembly.instantiate(bytes)',
  }))
    test(`that V8 does not count is limited: ${what}`, { timeout: 180_000 }, async (t) => {
      const page = await openHtml(t, '', { host: host(t, { memoryLimit: 64 }) });
      const error = await crashOf(
        page,
        `(async () => {
          const text = 'x'.repeat(2e6);
          const segments = new Intl.Segmenter('en').segment(text);
          const lengthOf = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...lengthOf(n >> 7)]);
          const moduleOf = (...sections) => {
            const parts = [[0, 97, 115, 109, 1, 0, 0, 0]];
            for (const [id, content] of sections) parts.push([id, ...lengthOf(content.length)], content);
            const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
            let at = 0;
            for (const part of parts) {
              bytes.set(part, at);
              at += part.length;
            }
            return bytes;
          };
          const many = (part) => [...lengthOf(1e5), ...Array(1e5).fill(part).flat()];
          const bytes = moduleOf([0, new Uint8Array(4e6)]);
          const functions = moduleOf([1, [1, 96, 0, 0]], [3, many([0])], [10, many([2, 0, 11])]);
          for (let count = 0; count < 100; count++) keep.push(${make});
          await new Promise((resolve) => setTimeout(resolve, 20_000));
        })(globalThis.keep = [])`,
      );
      assert.match(error.message, /exceeds? its memory limit of 64 MB/);
    });

  const LARGE_TREES = {
    'many characters': `'a;'.repeat(17 << 20)`,
    classes: `'0,' + 'class{a},'.repeat(150_000) + '1'`,
    'static blocks': `'0,class{' + 'static{}'.repeat(600_000) + '}'`,
    'arrow functions': `'(a=1)=>1,'.repeat(300_000) + '1'`,
    'methods of objects': `'0,{' + 'a(){},'.repeat(600_000) + '}'`,
    'names of variables': `'[' + Array.from({ length: 800_000 }, (_, index) => 'z' + index) + ']'`,
    'patterns of loops': `'for(let[a]of b);'.repeat(250_000)`,
  };

  for (const [what, code] of Object.entries(LARGE_TREES))
    test(`of the tree of a script is limited: ${what}`, async (t) => {
      const page = await openHtml(t, '', { host: host(t, { memoryLimit: 512 }) });
      await page.evaluate(`globalThis.text = ${code}; undefined`);
      const grown = watchMemory(t);
      assert.deepEqual(await page.evaluate(tryToCompile), ['EvalError', 'EvalError', 'nothing', 'not run']);
      assert.ok(grown() < 300 << 20, `${grown() >> 20} MB`);
    });

  test('of the tree of a script leaves room for real programs of many megabytes', async (t) => {
    const program = fs.readFileSync(createRequire(import.meta.url).resolve('typescript'), 'utf8');
    assert.ok(program.length > 8e6, `${program.length} characters`);
    const server = await serve(t, { '/': '<script src="program.js"></script>', '/program.js': program });
    const page = await open(t, server.url('/'));
    await page.evaluate(`globalThis.text = ${JSON.stringify(program)}; undefined`);
    assert.equal(await page.evaluate('typeof ts.version'), 'string');
    assert.deepEqual(await page.evaluate(tryToCompile), ['compiled', 'compiled', 'a function', 'run']);
  });

  /** What becomes of the page's `text` in all ways by which it can be compiled. */
  function tryToCompile() {
    const evaluated = [() => new Function(text), () => (0, eval)(`if (false) {${text}}`)].map((attempt) => {
      try {
        attempt();
        return 'compiled';
      } catch (error) {
        return error.name;
      }
    });
    document.body.setAttribute('onclick', text);
    const handler = document.body.onclick === null ? 'nothing' : 'a function';
    const script = document.createElement('script');
    script.textContent = `globalThis.hasRun = true; if (false) {${text}}`;
    document.body.append(script);
    return [...evaluated, handler, globalThis.hasRun ? 'run' : 'not run'];
  }

  test('of a worker that is ended may be just over its limit', async (t) => {
    const full = `const keep = []; for (let size = 0; size < 196; size += 4) keep.push(new Array(500_000).fill(1));
      globalThis.large = new Array(10_000_000).fill(0); postMessage('made');`;
    const page = await openHtml(t, '', { host: host(t, { memoryLimit: 256 }), routes: { '/full.js': full } });
    for (let round = 0; round < 3; round++) {
      const outcome = await page.evaluate(
        () =>
          new Promise((resolve) => {
            const worker = new Worker('/full.js');
            worker.onmessage = () => resolve(worker.terminate());
            worker.onerror = () => resolve();
          }),
      );
      assert.equal(outcome, undefined);
    }
    assert.equal(await page.evaluate(() => 1 + 1), 2);
    // V8 would end this process when it collects the garbage of the last one.
    await page.close();
  });

  test('of asm.js is that of JavaScript', async (t) => {
    const page = await openHtml(t, '', { host: host(t, { memoryLimit: 256 }) });
    const grown = watchMemory(t);
    const result = await page.evaluate(() => {
      const variables = Array.from({ length: 10_000 }, (_, index) => `a${index}=0`);
      const cases = Array.from({ length: 1_500 }, (_, index) => `case ${index}:x=1;`);
      const script = document.createElement('script');
      script.textContent = `globalThis.make = function (stdlib, foreign, heap) { "use asm";
        function f(x) { x = x | 0; var ${variables}; switch (x | 0) { ${cases.join('')} } return x | 0; } return { f: f }; }`;
      document.body.append(script);
      return globalThis.make(globalThis, {}, new ArrayBuffer(65_536)).f(3);
    });
    assert.equal(result, 1);
    assert.ok(grown() < 100 << 20, `${grown() >> 20} MB`);
  });

  test('is counted whatever a page puts into Object.prototype', async (t) => {
    const page = await openHtml(t, '', { host: host(t, { memoryLimit: 64 }) });
    const outcomes = await page.evaluate(`(() => {
      ${WASM}
      const large = withBody([1, 96, 0, 0], 0, [1, ...lengthOf(50_000), 127, ...repeat(4_000, 3, 64), ...repeat(4_000, 11), 11]);
      const small = withBody([1, 96, 0, 0], 0, [0, 11]);
      let reads = 0;
      const get = () => {
        reads++;
        if (reads === 1) WebAssembly.validate(small);
        if (reads === 2) throw 'ends the measurement of the small one';
        return 0;
      };
      for (let id = 0; id < 64; id++) Object.defineProperty(Object.prototype, id, { configurable: true, get });
      const isValid = WebAssembly.validate(large);
      for (let id = 0; id < 64; id++) delete Object.prototype[id];
      return [WebAssembly.validate(small), isValid];
    })()`);
    assert.deepEqual(outcomes, [true, false]);
    const error = await crashOf(
      page,
      `Object.prototype.Collator = 1; const keep = [];
       for (const end = Date.now() + 10_000; Date.now() < end;) keep.push(new Intl.Collator('en'));`,
    );
    assert.match(error.message, /buffers exceed its memory limit of 64 MB/);
  });
});
