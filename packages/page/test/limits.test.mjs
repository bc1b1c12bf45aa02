// Limits on what a page may use: memory, threads, messages, entries, samples.

import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { execFile } from 'node:child_process';
import dgram from 'node:dgram';
import dns from 'node:dns';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import net from 'node:net';
import { suite, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import v8 from 'node:v8';
import vm from 'node:vm';
import { Worker } from 'node:worker_threads';
import { brotliCompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';

import { jsdomWithBackDoor } from './back-door.mjs';
import { block, eventually, host, jsdom, open, openHtml, serve, watchMemory } from './server.mjs';

const ALLOW = { 'document-policy': 'js-profiling' };

/** Resolves with the reason when a page's thread is ended. */
async function crashOf(page, script) {
  const crashed = once(page, 'crash');
  page.evaluate(script).catch(() => {});
  return (await crashed)[0];
}

/**
 * Defines `calls`: 50 functions, each of which calls 239 others inside each other, and then keeps the thread busy for a few milliseconds.
 * All have names of 2,000 bytes, with what `suffix` gives for the numbers `row` and `i`.
 */
const functionsWithLongNames = (suffix) => `
  calls = [];
  for (let row = 0; row < 50; row++) {
    let text = '\\n'.repeat(row) + '{ const row = [];';
    for (let i = 0; i < 240; i++) {
      const name = '\u00e9'.repeat(1_000) + ${suffix};
      const rest = i < 239 ? 'row[' + (i + 1) + ']()' : 'for (const end = performance.now() + 3; performance.now() < end; )';
      text += 'row[' + i + '] = function ' + name + '() { ' + rest + '; };';
    }
    const script = document.createElement('script');
    script.text = text + 'calls.push(row[0]); }';
    document.body.append(script);
    script.remove();
  }
`;

suite('memory', () => {
  test('of buffers is limited as that of the heap', async (t) => {
    const page = await openHtml(t, '', { host: host(t, { memoryLimit: 128 }) });
    const error = await crashOf(page, 'keep = []; for (;;) keep.push(new Uint8Array(1e6).fill(1));');
    assert.match(error.message, /buffers exceed its memory limit of 128 MB/);
    await page.navigate(page.server.url('/'));
    assert.equal(await page.evaluate('1 + 1'), 2);
  });

  test('of marks and measures is limited for all windows of a thread together', { timeout: 120_000 }, async (t) => {
    const page = await openHtml(t, '');
    const kept = await page.evaluateIn({ timeout: 100_000 }, () => {
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
    const [last, alone] = [await page.evaluate(record, 20), await page.evaluate(record, 1)];
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
    formats: "new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'full', timeZone: 'UTC' })",
    'formats of ranges': `(() => {
      const format = new Intl.DateTimeFormat('en-u-ca-chinese', { dateStyle: 'full' });
      format.formatRange(0, 1e12);
      return format;
    })()`,
    'formats with Hebrew numbers': `(() => {
      const format = new Intl.DateTimeFormat('he-u-ca-hebrew-nu-hebr', { dateStyle: 'full', timeStyle: 'full' });
      format.format(0);
      return format;
    })()`,
    'names of fields': "new Intl.DisplayNames('de', { type: 'dateTimeField' })",
    iterators: 'segments[Symbol.iterator]()',
  }))
    test(`of Intl is limited as that of buffers: ${what}`, async (t) => {
      const page = await openHtml(t, '', { host: host(t, { memoryLimit: 64 }) });
      const grown = watchMemory(t);
      const error = await crashOf(
        page,
        `const segments = new Intl.Segmenter('en', { granularity: 'word' }).segment('x');
         const keep = []; const end = Date.now() + 10_000; while (Date.now() < end) keep.push(${make});`,
      );
      assert.match(error.message, /buffers exceed its memory limit of 64 MB/);
      assert.ok(grown() < 300 << 20, `${grown() >> 20} MB`);
    });

  for (const [what, make] of Object.entries({
    'the texts of segments': "new Intl.Segmenter('en').segment(text)",
    'the texts of iterators of segments': 'segments[Symbol.iterator]()',
    'the bytes of modules of WebAssembly': 'new WebAssembly.Module(bytes)',
    'the functions of modules of WebAssembly': 'new WebAssembly.Module(functions)',
    'modules that are compiled later': 'await WebAssembly.compile(bytes)',
    'modules that are instantiated': 'await WebAssembly.instantiate(bytes)',
  }))
    test(`that V8 does not count is limited: ${what}`, { timeout: 60_000 }, async (t) => {
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

  /** Makes modules of WebAssembly in a page. */
  const WASM = `
    const lengthOf = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...lengthOf(n >> 7)]);
    const section = (id, content) => [id, ...lengthOf(content.length), ...content];
    const moduleOf = (...sections) => new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, ...sections.flat()]);
    const withBody = (types, type, body) =>
      moduleOf(section(1, types), section(3, [1, type]), section(10, [1, ...lengthOf(body.length), ...body]));
    const repeat = (count, ...part) => Array(count).fill(part).flat();
    const one = (body) => [1, ...lengthOf(body.length), ...body];
    /** Functions of nothing, from 1,000 values to as many, to as many, and from as many. */
    const thousand = [...lengthOf(1_000), ...repeat(1_000, 127)];
    const PAIR = [4, 96, 0, 0, 96, ...thousand, ...thousand, 96, 0, ...thousand, 96, ...thousand, 0];`;

  test('of types of WebAssembly is limited, which V8 keeps for good', { timeout: 60_000 }, async (t) => {
    // Functions with parameters that are the digits of their number, and structures that refer to each other.
    const define = `
      const digits = (number) => Array.from({ length: 12 }, (_, at) => 0x7c + ((number >> (2 * at)) & 3));
      ${WASM}
      const ofTypes = (count, types) => moduleOf(section(1, [...lengthOf(count), ...types]));
      const functions = (from, count) =>
        ofTypes(count, Array.from({ length: count }, (_, at) => [0x60, 12, ...digits(from + at), 0]).flat());
      const structures = (from, count) =>
        ofTypes(count + 1, [0x5f, 0, ...Array.from({ length: count }, (_, at) => [0x5f, 13, 0x63, (at & 127) | 128, at >> 7, 0, ...digits(from + at).flatMap((type) => [type, 0])]).flat()]);
      const outcomeOf = (attempt) => {
        try {
          attempt();
          return 'made';
        } catch (error) {
          return error.name;
        }
      };
      globalThis.compile = (...modules) => modules.map((module) => outcomeOf(() => new WebAssembly.Module(module)));
      globalThis.tag = (...parameters) => outcomeOf(() => new WebAssembly.Tag({ parameters }));
      Object.assign(globalThis, { functions, structures });
      undefined;`;
    const shared = host(t);
    const page = await openHtml(t, '', { host: shared });
    await page.evaluate(define);
    const made = await page.evaluate(() => compile(functions(0, 8_000), structures(1e6, 8_000), functions(2e6, 3_900)));
    assert.deepEqual(made, ['made', 'made', 'made']);
    assert.equal(await page.evaluate('tag("i32", "f64", "externref")'), 'made');
    const refused = await page.evaluate(() => compile(functions(3e6, 200), structures(4e6, 200)));
    assert.deepEqual(refused, ['CompileError', 'CompileError']);
    assert.equal(await page.evaluate('WebAssembly.validate(functions(3e6, 200))'), false);
    assert.match(
      await page.evaluate('WebAssembly.compile(functions(3e6, 200)).catch(String)'),
      /^CompileError: WebAssembly.compile\(\): the page has too many types$/,
    );
    const many = await page.evaluate(`Array.from({ length: 200 }, (_, at) => tag(...Array(at).fill('i64')))`);
    assert.ok(many.includes('made') && many.at(-1) === 'RangeError', many.join());
    // What is known takes no room.
    const again = await page.evaluate(() =>
      compile(functions(0, 8_000), structures(1e6, 8_000), functions(2e6, 3_900)),
    );
    assert.deepEqual(again, ['made', 'made', 'made']);
    assert.equal(await page.evaluate('tag("i32", "f64", "externref")'), 'made');
    const other = await openHtml(t, '', { host: shared });
    await other.evaluate(define);
    assert.deepEqual(await other.evaluate(() => compile(functions(3e6, 200), structures(4e6, 200))), ['made', 'made']);
  });

  test('of machine code of WebAssembly is limited for all pages together', { timeout: 60_000 }, async (t) => {
    // 400,000 conversions of numbers, of which each may have 110 bytes of machine code beside those that are counted for its own.
    const define = `
      ${WASM}
      const module = withBody([1, 0x60, 0, 0], 0, [0, 0x44, ...repeat(8, 0), ...repeat(400_000, 0xb0, 0xb9), 0x1a, 0x0b]);
      const kept = [];
      const compile = (count) => {
        try {
          while (kept.length < count) kept.push(new WebAssembly.Module(module));
          return 'made';
        } catch (error) {
          return String(error);
        }
      };
      globalThis.keep = compile;
      undefined;`;
    const shared = host(t, { memoryLimit: 4_000 });
    const pages = [await openHtml(t, '', { host: shared }), await openHtml(t, '', { host: shared })];
    for (const page of pages) await page.evaluate(define);
    assert.equal(await pages[0].evaluate('keep(36)'), 'made');
    const refused = 'CompileError: WebAssembly.Module(): the process has no room for more modules';
    assert.equal(await pages[1].evaluate('keep(36)'), refused);
    await pages[0].close();
    await eventually(async () => (await pages[1].evaluate('keep(36)')) === 'made');
  });

  test('of types of WebAssembly is limited, and tags are made as without that', async (t) => {
    const page = await openHtml(t, '');
    const outcomes = await page.evaluate(() => {
      const attempts = [
        () => new WebAssembly.Tag({ parameters: ['i32', 'f64'] }) instanceof WebAssembly.Tag,
        () => WebAssembly.Tag.prototype.constructor === WebAssembly.Tag,
        () => new WebAssembly.Exception(new WebAssembly.Tag({ parameters: ['i32'] }), [7]).is(WebAssembly.JSTag),
        () => new WebAssembly.Tag(),
        () => new WebAssembly.Tag({}),
        () => new WebAssembly.Tag({ parameters: 5 }),
        () => new WebAssembly.Tag({ parameters: {} }) && 'made',
        () => new WebAssembly.Tag({ parameters: ['i33'] }),
        () => new WebAssembly.Tag({ parameters: [Symbol('i32')] }),
        () => new WebAssembly.Tag({ parameters: Array(1_001).fill('i32') }),
        () => WebAssembly.Tag({ parameters: [] }),
      ];
      return attempts.map((attempt) => {
        try {
          return attempt();
        } catch (error) {
          return String(error);
        }
      });
    });
    const own = [() => new WebAssembly.Tag(), () => new WebAssembly.Tag({ parameters: 5 })].map((attempt) => {
      try {
        return attempt();
      } catch (error) {
        return String(error);
      }
    });
    assert.deepEqual(outcomes.slice(0, 3), [true, true, false]);
    assert.deepEqual([outcomes[3], outcomes[5]], own);
    for (const outcome of outcomes.slice(3)) assert.match(String(outcome), /^TypeError|^made$/);
  });

  for (const [what, module] of Object.entries({
    'of many locals and loops':
      'withBody([1, 96, 0, 0], 0, [1, ...lengthOf(50_000), 127, ...repeat(4_000, 3, 64), ...repeat(4_000, 11), 11])',
    'of many parameters and blocks':
      'withBody([1, 96, ...lengthOf(1_000), ...repeat(1_000, 127), 0], 0, [0, ...repeat(5_000, 2, 64), ...repeat(5_000, 11), 11])',
    'that makes structs of many fields':
      'withBody([2, 95, ...lengthOf(9_000), ...repeat(9_000, 127, 1), 96, 0, 0], 1, [0, ...repeat(1_000, 251, 1, 0, 26), 11])',
    'that calls functions of many results':
      'withBody([1, 96, 0, ...lengthOf(1_000), ...repeat(1_000, 127)], 0, [0, ...repeat(2_000, 16, 0), 0, 11])',
    'of blocks with many parameters':
      'withBody(PAIR, 0, [0, ...repeat(1_000, 65, 0), ...repeat(20_000, 3, 1), ...repeat(20_000, 11), ...repeat(1_000, 26), 11])',
    'of values that many blocks keep':
      'withBody([1, 96, 0, 0], 0, [0, ...repeat(1_000, 65, 0), ...repeat(20_000, 65, 1, 4, 64, 5, 11), ...repeat(1_000, 26), 11])',
    'of blocks with many parameters that are never reached':
      'withBody(PAIR, 0, [0, 65, 0, 4, 64, 0, ...repeat(20_000, 2, 1), ...repeat(20_000, 11), 0, 11, 11])',
    'of branches with many entries':
      'withBody(PAIR, 0, [0, ...repeat(300, 2, 2), ...repeat(1_000, 65, 0), 65, 0, 14, ...lengthOf(29_999), ...repeat(100, ...Array.from({ length: 300 }, (_, label) => lengthOf(label)).flat()), ...repeat(300, 11), ...repeat(1_000, 26), 11])',
    'that throws many values':
      'moduleOf(section(1, PAIR), section(3, [1, 0]), section(13, [1, 0, 3]), section(10, one([0, 65, 0, 4, 64, 0, ...repeat(20_000, 8, 0), 11, 11])))',
    'that catches many values':
      'moduleOf(section(1, PAIR), section(3, [1, 0]), section(13, [1, 0, 3]), section(10, one([0, ...repeat(20_000, 6, 64, 7, 0, 0, 11), 11])))',
  }))
    test(`of WebAssembly that is compiled is limited: a function ${what}`, async (t) => {
      const page = await openHtml(t, '', { host: host(t, { memoryLimit: 64 }) });
      const grown = watchMemory(t);
      // Made here: the lists of numbers take as much of the page's heap as it has left.
      const bytes = vm.runInThisContext(`(() => { ${WASM} return ${module}; })()`);
      const outcomes = await page.evaluate(async (bytes) => {
        const run = (use) => (use instanceof WebAssembly.Instance ? use.exports.f?.() : 'made');
        const attempt = async (work) => {
          try {
            return run(await work());
          } catch (error) {
            return error.name;
          }
        };
        const { buffer } = new WebAssembly.Memory({ initial: 0, maximum: 1, shared: true });
        const shared = new Uint8Array(new buffer.constructor(bytes.length));
        shared.set(bytes);
        return [
          await attempt(() => new WebAssembly.Module(bytes)),
          await attempt(() => new WebAssembly.Module(bytes.buffer)),
          await attempt(() => new WebAssembly.Module(shared)),
          await attempt(() => WebAssembly.compile(new DataView(bytes.buffer))),
          await attempt(() => WebAssembly.instantiate(bytes)),
          WebAssembly.validate(bytes),
        ];
      }, bytes);
      assert.deepEqual(outcomes, [...Array(5).fill('CompileError'), false]);
      assert.ok(grown() < 300 << 20, `${grown() >> 20} MB`);
    });

  test('of WebAssembly is not that of its optimizing compiler', async (t) => {
    const page = await openHtml(t, '');
    const grown = watchMemory(t);
    // A compiler that optimizes takes a hundred times as much for such functions, and inlines what they call.
    const result = await page.evaluate(`(() => {
      ${WASM}
      const structs = [2, 95, ...lengthOf(1_000), ...repeat(1_000, 127, 1), 96, 0, 0];
      const module = new WebAssembly.Module(moduleOf(section(1, structs), section(3, [1, 1]), section(7, [1, 1, 102, 0, 0]),
        section(10, one([0, 65, 1, 4, 64, 15, 11, ...repeat(1_000, 251, 1, 0, 26), 11]))));
      const { f } = new WebAssembly.Instance(module).exports;
      for (const end = performance.now() + 2_000; performance.now() < end;) for (let call = 0; call < 100_000; call++) f();
      return typeof f;
    })()`);
    assert.equal(result, 'function');
    assert.ok(grown() < 150 << 20, `${grown() >> 20} MB`);
  });

  test('of the machine code of a module of WebAssembly is limited', async (t) => {
    // The page itself takes up to 64 MB before garbage is collected.
    const page = await openHtml(t, '', { host: host(t, { memoryLimit: 128 }) });
    const grown = watchMemory(t);
    const outcome = await page.evaluate(`(() => {
      ${WASM}
      const body = [0, 65, 0, 4, 64, ...repeat(400, 16, 0), 0, 11, 0, 11];
      const bodies = repeat(200, ...lengthOf(body.length), ...body);
      const types = [2, 96, 0, ...thousand, 96, 0, 0];
      const bytes = moduleOf(section(1, types), section(3, [...lengthOf(200), ...repeat(200, 0)]), section(10, [...lengthOf(200), ...bodies]));
      try { new WebAssembly.Module(bytes); } catch ({ name, message }) { return [name, message, bytes.length < 200_000]; }
    })()`);
    assert.deepEqual(outcome, ['CompileError', 'WebAssembly.Module(): the module is too large', true]);
    assert.ok(grown() < 200 << 20, `${grown() >> 20} MB`);
  });

  test('of the tables of a module of WebAssembly is limited together', async (t) => {
    const page = await openHtml(t, '', { host: host(t, { memoryLimit: 256 }) });
    const grown = watchMemory(t);
    const outcomes = await page.evaluate(`(() => {
      ${WASM}
      const tables = (count, entries) => moduleOf(section(4, [count, ...repeat(count, 112, 0, ...lengthOf(entries))]));
      const attempt = (bytes) => {
        try { return String(new WebAssembly.Instance(new WebAssembly.Module(bytes))); } catch ({ message }) { return message; }
      };
      return [attempt(tables(20, 10_000_000)), attempt(tables(100, 100_000)), attempt(tables(20, 100_000))];
    })()`);
    const refused = "WebAssembly.Module(): the module's tables are too large";
    assert.deepEqual(outcomes, [refused, refused, '[object WebAssembly.Instance]']);
    assert.ok(grown() < 400 << 20, `${grown() >> 20} MB`);
    const error = await crashOf(
      page,
      'const keep = []; for (;;) keep.push(new WebAssembly.Table({ initial: 1_000_000, element: "anyfunc" }));',
    );
    assert.match(error.message, /exceed(s)? its memory limit of 256 MB/);
    assert.ok(grown() < 2_500 * 2 ** 20, `${grown() >> 20} MB`);
  });

  for (const [what, make] of Object.entries({
    buffers: 'new Shared(16 << 20)',
    'buffers that grow':
      'const buffer = new Shared(0, { maxByteLength: 64 << 20 }); buffer.grow(16 << 20); return buffer',
    'slices, whatever their constructor': 'Object.assign(new Shared(16 << 20), { constructor: undefined }).slice(0)',
    'memories of WebAssembly': 'new WebAssembly.Memory({ initial: 256, maximum: 256, shared: true })',
    'memories of WebAssembly that grow':
      'const memory = new WebAssembly.Memory({ initial: 0, maximum: 256, shared: true }); memory.grow(256); return memory',
  }))
    test(`that is shared is limited for all threads of a page together: ${what}`, async (t) => {
      const page = await openHtml(t, '', { host: host(t, { memoryLimit: 128 }) });
      const crashed = once(page, 'crash');
      const made = page.evaluate(`(async () => {
        const keep = [];
        // A page that is not isolated has no name for it.
        const Shared = new WebAssembly.Memory({ initial: 0, maximum: 1, shared: true }).buffer.constructor;
        try {
          for (let count = 0; count < 100; count++) {
            keep.push((() => { ${make.includes(';') ? make : `return ${make}`} })());
            await new Promise((resolve) => setTimeout(resolve, 20));
          }
        } catch ({ name }) {
          return [name, keep.length];
        }
        return 'nothing';
      })()`);
      const outcome = await Promise.race([made.catch(() => 'crash'), crashed.then(([{ message }]) => message)]);
      if (Array.isArray(outcome)) {
        assert.equal(outcome[0], 'RangeError');
        assert.ok(outcome[1] <= 8, `${outcome[1]}`);
      } else assert.match(String(outcome), /crash|exceed its memory limit of 128 MB/);
    });

  test('of a module of WebAssembly is imported if it is shared', async (t) => {
    const page = await openHtml(t, '');
    const outcomes = await page.evaluate(`(() => {
      ${WASM}
      const attempt = (bytes, imports) => {
        try { return String(new WebAssembly.Instance(new WebAssembly.Module(bytes), imports)); } catch ({ message }) { return message; }
      };
      const memory = new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true });
      return [
        attempt(moduleOf(section(5, [1, 3, 1, 2]))),
        attempt(moduleOf(section(2, [1, 1, 97, 1, 109, 2, 3, 1, 2])), { a: { m: memory } }),
      ];
    })()`);
    const refused = 'WebAssembly.Module(): the module defines shared memory and does not import it';
    assert.deepEqual(outcomes, [refused, '[object WebAssembly.Instance]']);
  });

  test('that is shared is limited in number, too, since each piece is looked at', async (t) => {
    const page = await openHtml(t, '', { host: host(t) });
    const seen = await page.evaluate(() => {
      const Shared = new WebAssembly.Memory({ initial: 0, maximum: 1, shared: true }).buffer.constructor;
      const kept = [];
      try {
        for (;;) kept.push(new Shared(0));
      } catch ({ name }) {
        const { length } = kept;
        kept.length = 0;
        for (let count = 0; count < 50_000; count++) new Shared(0);
        return [name, length > 9_000 && length <= 10_000];
      }
    });
    assert.deepEqual(seen, ['RangeError', true]);
  });

  test('that waits for shared memory is limited in number, whatever a page replaces', async (t) => {
    const page = await openHtml(t, '<iframe src="/frame"></iframe>', { host: host(t), routes: { '/frame': '' } });
    const seen = await page.evaluate(async () => {
      const { then } = Promise.prototype;
      const memory = new Int32Array(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer);
      const order = [];
      const { async, value } = Atomics.waitAsync(memory, { valueOf: () => (order.push('index'), 0) }, 0, 1);
      const keys = Reflect.ownKeys(value).length;
      const first = [
        async,
        keys,
        await value,
        Atomics.waitAsync(memory, 0, 1).value,
        order.join(),
        `${Atomics.waitAsync}`,
      ];

      // None of these lets a page pretend that a call waits no more.
      const { constructor } = Promise.prototype;
      class Own {
        constructor(executor) {
          executor(
            () => {},
            () => {},
          );
        }
      }
      Reflect.set(Promise.prototype, 'then', (fulfilled) => fulfilled());
      Promise.prototype.constructor = Own;
      Object.defineProperty(Promise, Symbol.species, { value: Own });
      let count = 0;
      let name;
      const fill = (window) => {
        try {
          for (; count < 20_000; count++) window.Atomics.waitAsync(memory, 1, 0);
        } catch (error) {
          name = error.name;
        }
        return count;
      };
      // Calls that do not wait, or throw, count nothing.
      for (let tries = 0; tries < 20_000; tries++) Atomics.waitAsync(memory, 1, 1);
      for (let tries = 0; tries < 20_000; tries++) {
        try {
          Atomics.waitAsync(memory, -1, 0);
        } catch {}
      }
      const filled = [fill(window), fill(frames[0]), name];
      Reflect.set(Promise.prototype, 'then', then);
      Promise.prototype.constructor = constructor;
      const notified = Atomics.notify(memory, 1);
      await new Promise((resolve) => setTimeout(resolve, 10));
      count = 0;
      return [...first, ...filled, notified, fill(frames[0])];
    });
    const text = 'function waitAsync() { [native code] }';
    assert.deepEqual(seen, [
      true,
      0,
      'timed-out',
      'not-equal',
      'index',
      text,
      10_000,
      10_000,
      'RangeError',
      10_000,
      10_000,
    ]);
  });

  test('that is shared counts while anyone has it, and not longer', async (t) => {
    const page = await openHtml(t, '', { host: host(t, { memoryLimit: 128 }) });
    const lengths = await page.evaluate(() => {
      const lengths = [];
      const Shared = new WebAssembly.Memory({ initial: 0, maximum: 1, shared: true }).buffer.constructor;
      for (let count = 0; count < 100; count++) lengths.push(new Shared(32 << 20).byteLength);
      return lengths;
    });
    assert.deepEqual(lengths, Array(100).fill(32 << 20));
  });

  test('of formats that legacy constructors of Intl make is counted as long as the format lives', async (t) => {
    const page = await openHtml(t, '', { host: host(t, { memoryLimit: 64 }) });
    const seen = await page.evaluate(() => {
      const { DateTimeFormat, NumberFormat } = Intl;
      const errorOf = (run) => {
        try {
          return typeof run();
        } catch ({ name }) {
          return name;
        }
      };
      const object = Object.create(DateTimeFormat.prototype);
      const returned = DateTimeFormat.call(object, 'en', { timeZone: 'UTC' });
      const [symbol] = Object.getOwnPropertySymbols(object);
      const { value, ...property } = Object.getOwnPropertyDescriptor(object, symbol);
      return [
        returned === object && object.format(0) === value.format(0) && value instanceof DateTimeFormat,
        symbol.description,
        property,
        NumberFormat.call(Object.create(NumberFormat.prototype), 'en').format(1234),
        errorOf(() => DateTimeFormat.call(object)),
        errorOf(() => DateTimeFormat.call(Object.freeze(Object.create(DateTimeFormat.prototype)))),
        errorOf(() => DateTimeFormat.call({}, 'en').format(0)),
        errorOf(() => DateTimeFormat('x-')),
      ];
    });
    const attributes = { writable: false, enumerable: false, configurable: false };
    assert.deepEqual(seen, [
      true,
      'IntlLegacyConstructedSymbol',
      attributes,
      '1,234',
      'TypeError',
      'TypeError',
      'string',
      'RangeError',
    ]);
    const error = await crashOf(
      page,
      `const keep = [];
       for (const end = Date.now() + 20_000; Date.now() < end;) {
         const object = Intl.DateTimeFormat.call(Object.create(Intl.DateTimeFormat.prototype), 'en');
         keep.push(object[Object.getOwnPropertySymbols(object)[0]]);
       }`,
    );
    assert.match(error.message, /buffers exceed its memory limit of 64 MB/);
  });

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

  test('of WebAssembly that is compiled is limited without a change that a page sees', async (t) => {
    const page = await openHtml(t, '');
    const seen = await page.evaluate(`(async () => {
      ${WASM}
      // Each kind of type, local and immediate: what is not read as V8 does would be taken for thousands of blocks.
      const numbers = repeat(3_000, 65, 130, 132, 3, 26, 66, 130, 132, 131, 130, 3, 26, 67, 2, 3, 4, 2, 26, 68, 2, 3, 4, 2, 3, 4, 2, 3, 26);
      const types = [5, 96, 1, 127, 1, 127, 95, 2, 127, 1, 120, 0, 80, 0, 95, 1, 100, 0, 0, 78, 1, 94, 127, 1, 96, 0, 0];
      const body = [2, ...lengthOf(5_000), 127, 2, 99, 1, ...numbers, 32, 0, 11];
      const large = withBody(types, 0, body);
      const module = new WebAssembly.Module(large);
      const { instance } = await WebAssembly.instantiate(large);
      const error = (work) => { try { work(); } catch ({ name, message }) { return name + ': ' + message; } };
      return [
        WebAssembly.validate(large), module instanceof WebAssembly.Module, instance instanceof WebAssembly.Instance,
        (await WebAssembly.instantiate(module)) instanceof WebAssembly.Instance,
        await WebAssembly.instantiate({}).catch(({ name }) => name),
        error(() => new WebAssembly.Module('text')),
        error(() => WebAssembly.validate()),
        String(WebAssembly.validate), WebAssembly.compile.length,
      ];
    })()`);
    assert.deepEqual(seen.slice(0, 5), [true, true, true, true, 'TypeError']);
    assert.match(seen[5], /^TypeError: WebAssembly.Module\(\): Argument 0 must be a buffer source/);
    assert.match(seen[6], /^TypeError: WebAssembly.validate\(\): Argument 0 must be a buffer source/);
    assert.deepEqual(seen.slice(7), ['function validate() { [native code] }', 1]);
  });

  const RESERVES = {
    'resizable buffers': 'new ArrayBuffer(0, { maxByteLength: 2 ** 33 })',
    'resizable buffers of two pages': 'new ArrayBuffer(1, { maxByteLength: 8192 })',
    'growable buffers': 'new Growable(0, { maxByteLength: 2 ** 33 })',
    'classes of buffers': 'new (class extends ArrayBuffer {})(0, { maxByteLength: 2 ** 33 })',
    'clones of buffers': 'structuredClone(resizable)',
    memories: 'new WebAssembly.Memory({ initial: 0 })',
    'memories that grow': 'new WebAssembly.Memory({ initial: 1, maximum: 2 })',
    'shared memories': 'new WebAssembly.Memory({ initial: 0, maximum: 1, shared: true })',
    instances: 'new WebAssembly.Instance(module)',
    'instances that are made later': 'await WebAssembly.instantiate(module)',
  };
  for (const [what, make] of Object.entries(RESERVES))
    test(`does not run out of addresses by ${what}`, { timeout: 120_000 }, async (t) => {
      const page = await openHtml(t, '');
      const [outcome, count, again] = await page.evaluate(`(async () => {
        // Pages that are not isolated do not have its name.
        const Growable = new WebAssembly.Memory({ initial: 0, maximum: 1, shared: true }).buffer.constructor;
        const resizable = [new ArrayBuffer(1, { maxByteLength: 2 ** 31 })];
        const module = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 5, 3, 1, 0, 0]));
        globalThis.keep = [];
        const fill = async () => {
          try {
            while (keep.length < 40_000) keep.push(${make});
            return 'made all';
          } catch (error) {
            return error.name;
          }
        };
        const outcome = await fill();
        const count = keep.length;
        keep = [];
        await new Promise((resolve) => setTimeout(resolve, 100));
        keep.push(${make});
        return [outcome, count, keep.length];
      })()`);
      // A clone is refused when it is written, or when it is read.
      assert.match(outcome, what === 'clones of buffers' ? /^(DataClone)?Error$/ : /^RangeError$/);
      assert.ok(count > 1_000, `only ${count}`);
      // What is no longer used is given back.
      assert.equal(again, 1);
      assert.equal(await page.evaluate('new WebAssembly.Memory({ initial: 1 }).buffer.byteLength'), 65_536);
    });

  test('does not run out of addresses by one value or module that has many buffers', async (t) => {
    const page = await openHtml(t, '');
    const outcomes = await page.evaluate(`(async () => {
      ${WASM}
      const errorOf = (work) => { try { return work(), ''; } catch ({ name }) { return name; } };
      const many = Array.from({ length: 200 }, () => new ArrayBuffer(1, { maxByteLength: 2 ** 31 }));
      const { port1, port2 } = new MessageChannel();
      return [
        errorOf(() => structuredClone(many)), errorOf(() => port1.postMessage(many)), errorOf(() => structuredClone(many.slice(150))),
        errorOf(() => new ArrayBuffer(0, { maxByteLength: 2 ** 33 + 1 })),
        errorOf(() => new WebAssembly.Module(moduleOf(section(5, [11, ...repeat(11, 0, 0)])))),
      ];
    })()`);
    assert.deepEqual(outcomes, ['DataCloneError', 'DataCloneError', '', 'RangeError', 'CompileError']);
    const other = await openHtml(t, '');
    assert.equal(await other.evaluate(() => structuredClone('~'.repeat(1e6)).length), 1e6);
  });

  test('of addresses is limited without a change that a page sees', async (t) => {
    const page = await openHtml(t, '');
    const seen = await page.evaluate(() => {
      class Own extends ArrayBuffer {}
      const own = new Own(2, { maxByteLength: 8 });
      own.resize(4);
      const order = [];
      const number = (name, value) => ({ valueOf: () => (order.push(name), value) });
      const buffer = new ArrayBuffer(number('length', 1), {
        get maxByteLength() {
          order.push('get');
          return number('greatest', 2);
        },
      });
      const errorOf = (work) => {
        try {
          return String(work());
        } catch (error) {
          return `${error instanceof RangeError || error instanceof TypeError} ${error.message}`;
        }
      };
      return [
        [own instanceof Own, own.byteLength, own.maxByteLength, own.slice(1) instanceof Own, own.transfer(3).resizable],
        [order.join(), buffer.maxByteLength, new ArrayBuffer(5, 'x').byteLength, new ArrayBuffer(6, {}).resizable],
        [ArrayBuffer.prototype.constructor === ArrayBuffer, ArrayBuffer[Symbol.species] === ArrayBuffer],
        [new Uint8Array(1).buffer instanceof ArrayBuffer, new Uint8Array(1).buffer.constructor === ArrayBuffer],
        [ArrayBuffer.name, ArrayBuffer.length, `${ArrayBuffer} ${WebAssembly.Memory}`],
        [
          errorOf(() => Reflect.apply(ArrayBuffer, undefined, [1])).startsWith('true'),
          errorOf(() => new ArrayBuffer(-1)),
          errorOf(() => new ArrayBuffer(2, { maxByteLength: 1 })),
        ],
        [
          new WebAssembly.Memory({ initial: 1 }) instanceof WebAssembly.Memory,
          WebAssembly.Memory.prototype.constructor === WebAssembly.Memory,
        ],
        [
          structuredClone(new Own(1)).constructor === ArrayBuffer,
          structuredClone(new ArrayBuffer(1, { maxByteLength: 2 })).maxByteLength,
        ],
        Object.prototype.toString.call(Reflect.construct(ArrayBuffer, [1], Array)),
      ];
    });
    assert.deepEqual(seen, [
      [true, 4, 8, true, true],
      ['length,get,greatest', 2, 5, false],
      [true, true],
      [true, true],
      ['ArrayBuffer', 1, 'function ArrayBuffer() { [native code] } function Memory() { [native code] }'],
      [true, 'true Invalid array buffer length', 'true Invalid array buffer max length'],
      [true, true],
      [true, 2],
      '[object Object]',
    ]);
  });

  test('of stacks that wait for promises is not needed: WebAssembly does not wait', async (t) => {
    const page = await openHtml(t, '');
    const names = await page.evaluate(() => Object.getOwnPropertyNames(WebAssembly));
    assert.ok(names.includes('instantiate'));
    assert.doesNotMatch(names.join(), /promising|suspend/i);
  });

  test('of the formats that methods of Date and Temporal make is limited', { timeout: 150_000 }, async (t) => {
    const page = await openHtml(t, '', { host: host(t, { memoryLimit: 128, timeout: 120_000 }) });
    const grown = watchMemory(t);
    const texts = await page.evaluate(() => {
      const date = globalThis.Temporal?.PlainDate.from('2020-01-01') ?? new Date(0);
      for (let at = 0; at < 20_000; at++) {
        const { length } = (at % 2 ? date : new Date(0)).toLocaleString(`en-u-ca-chinese-x-a${at}`, {
          dateStyle: 'full',
        });
        if (length === 0) break;
      }
      const methods = [date.toLocaleString, new Date(0).toLocaleDateString];
      return methods.map((method) => [String(method), method.length, Reflect.ownKeys(method).sort().join()]);
    });
    assert.ok(grown() < 400 << 20, `${grown() >> 20} MB`);
    assert.deepEqual(texts, [
      ['function toLocaleString() { [native code] }', 0, 'length,name'],
      ['function toLocaleDateString() { [native code] }', 0, 'length,name'],
    ]);
  });

  test('of lists that are formatted is limited', async (t) => {
    const page = await openHtml(t, '', { host: host(t, { memoryLimit: 64 }) });
    const grown = watchMemory(t);
    const outcomes = await page.evaluate(() =>
      ['format', 'formatToParts'].map((name) => {
        try {
          return new Intl.ListFormat('en')[name](Array(200).fill('x'.repeat(2 ** 19))).length;
        } catch (error) {
          return error.name;
        }
      }),
    );
    assert.deepEqual(outcomes, ['RangeError', 'RangeError']);
    assert.ok(grown() < 300 << 20, `${grown() >> 20} MB`);
  });

  test('of texts that are encoded or normalized is limited, and ends no process', async (t) => {
    const page = await openHtml(t, '', { host: host(t, { memoryLimit: 2_048 }) });
    const grown = watchMemory(t);
    const outcomes = await page.evaluate(() =>
      [
        () => encodeURIComponent('\u20ac'.repeat(2.6e8)),
        () => encodeURI('\u20ac'.repeat(2.6e8)),
        () => '\ufdfa'.repeat(5.9e7).normalize('NFKD'),
        // The result would just be too long.
        () => btoa('x'.repeat(4.1e8)),
        // Not on Node 22.
        () => (RegExp.escape ?? encodeURI)('\u2028'.repeat(2.6e8)),
      ].map((run) => {
        try {
          return run().length;
        } catch (error) {
          return error.name;
        }
      }),
    );
    assert.deepEqual(outcomes, ['RangeError', 'RangeError', 'RangeError', 'InvalidCharacterError', 'RangeError']);
    // The text itself has 520 MB, and its result up to 536 MB; some are garbage until V8 collects them.
    assert.ok(grown() < 3_000 * 2 ** 20, `${grown() >> 20} MB`);
  });

  test('of texts that are encoded or normalized is limited without a change that a page sees', async (t) => {
    const page = await openHtml(t, '');
    const seen = await page.evaluate(() => {
      const outcomeOf = (run) => {
        try {
          return run();
        } catch (error) {
          return `${error.constructor === globalThis[error.name]} ${error}`;
        }
      };
      const { normalize } = String.prototype;
      // A character of two halves, at every place around the end of a part.
      const long = [0, 1, 2].map((shift) => {
        const text = 'a'.repeat(2 ** 20 - shift) + '\u{1f600}b'.repeat(2 ** 19);
        return decodeURIComponent(encodeURIComponent(text)) === text && encodeURI(text).length;
      });
      return [
        ...long,
        encodeURI('a b&\u20ac'),
        encodeURIComponent({ toString: () => 'a b&\u20ac' }),
        encodeURIComponent(),
        outcomeOf(() => encodeURIComponent('\ud800')),
        outcomeOf(() => encodeURI(`${'a'.repeat(2 ** 20 - 1)}\ud800b`)),
        outcomeOf(() => encodeURI(Symbol('a'))),
        outcomeOf(() => new encodeURI('a')),
        'e\u0301'.normalize().length,
        '\ufdfa'.normalize('NFKD').length,
        normalize.call(12),
        outcomeOf(() => normalize.call(null)),
        outcomeOf(() => 'a'.normalize('x')),
        RegExp.escape?.('a.b') ?? '\\x61\\.b',
        String(RegExp.escape ?? 'function escape() { [native code] }'),
        ...[encodeURI, encodeURIComponent, normalize].map((each) => `${each} ${each.name} ${each.length}`),
        [encodeURI, encodeURIComponent, normalize].some((each) => 'prototype' in each),
        JSON.stringify(Object.getOwnPropertyDescriptor(globalThis, 'encodeURI')),
      ];
    });
    assert.deepEqual(seen, [
      ...[0, 1, 2].map((shift) => 2 ** 20 - shift + 13 * 2 ** 19),
      'a%20b&%E2%82%AC',
      'a%20b%26%E2%82%AC',
      'undefined',
      'true URIError: URI malformed',
      'true URIError: URI malformed',
      'true TypeError: Cannot convert a Symbol value to a string',
      'true TypeError: encodeURI is not a constructor',
      1,
      18,
      '12',
      'true TypeError: String.prototype.normalize called on null or undefined',
      'true RangeError: The normalization form should be one of NFC, NFD, NFKC, NFKD.',
      '\\x61\\.b',
      'function escape() { [native code] }',
      'function encodeURI() { [native code] } encodeURI 1',
      'function encodeURIComponent() { [native code] } encodeURIComponent 1',
      'function normalize() { [native code] } normalize 0',
      false,
      '{"writable":true,"enumerable":false,"configurable":true}',
    ]);
  });

  test('of Intl is counted without a change that a page sees', async (t) => {
    const page = await openHtml(t, '');
    const seen = await page.evaluate(() => {
      class Own extends Intl.DateTimeFormat {}
      const own = new Own('en', { timeZone: 'UTC' });
      const { length, name, prototype } = Intl.DateTimeFormat;
      return [
        own instanceof Own && own.format(0),
        Intl.DateTimeFormat('en', { timeZone: 'UTC' }).format(0),
        prototype.constructor === Intl.DateTimeFormat,
        `${Intl.DateTimeFormat} ${prototype.formatRange.length} ${length} ${name}`,
        Intl.NumberFormat.supportedLocalesOf('en').join(),
        Array.from(new Intl.Segmenter('en').segment('abc'), ({ segment }) => segment).join(),
      ];
    });
    const lists = await page.evaluate(() => {
      const read = [];
      const list = {
        *[Symbol.iterator]() {
          try {
            for (const text of ['a', 'b', 7, 'c']) {
              read.push(text);
              yield text;
            }
          } finally {
            read.push('closed');
          }
        },
      };
      const { format, formatToParts } = Intl.ListFormat.prototype;
      const own = new Intl.ListFormat('en');
      const errorOf = (run) => {
        try {
          return run();
        } catch (error) {
          return `${error.name}: ${error.message}`;
        }
      };
      Array.prototype[Symbol.iterator] = ((original) =>
        function* () {
          read.push('array');
          yield* { [Symbol.iterator]: () => original.call(this) };
        })(Array.prototype[Symbol.iterator]);
      const texts = [own.format(['a', 'b', 'c']), own.format(new Set(['a'])), own.format(), own.format('xy')];
      const errors = [
        errorOf(() => own.format(list)),
        errorOf(() => format.call({}, list)),
        errorOf(() => own.format(5)),
      ];
      return JSON.stringify([
        texts,
        errors,
        read,
        own.formatToParts(['a']),
        String(format),
        format.length,
        formatToParts.name,
      ]);
    });
    assert.deepEqual(JSON.parse(lists), [
      ['a, b, and c', 'a', '', 'x and y'],
      [
        'TypeError: Iterable yielded 7 which is not a string',
        'TypeError: Method Intl.ListFormat.prototype.format called on incompatible receiver #<Object>',
        'TypeError: list is not iterable',
      ],
      // Of the first list, of what the set is made of, and within the generator.
      ['array', 'array', 'array', 'a', 'b', 7, 'closed', 'array'],
      [{ type: 'element', value: 'a' }],
      'function format() { [native code] }',
      1,
      'formatToParts',
    ]);
    const text = 'function DateTimeFormat() { [native code] } 2 0 DateTimeFormat';
    assert.deepEqual(seen, ['1/1/1970', '1/1/1970', true, text, 'en', 'a,b,c']);
  });
});

suite('messages', () => {
  /** Posts until it is refused, and returns how many bytes were accepted. */
  const FLOOD = `function flood(port, size) {
    const message = new Uint8Array(size);
    for (let bytes = 0; ; bytes += size) {
      try { port.postMessage(message); } catch (error) { return [error.name, error instanceof DOMException, Math.round(bytes / 2 ** 20)]; }
      if (bytes > 2 ** 30) return ['no end'];
    }
  }`;

  test('that are not received are refused beyond a limit, and the others arrive later', async (t) => {
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
      // After that, more is accepted.
      channel.port1.postMessage('more');
      return seen;
    }, outcome[2]);
    assert.equal(received, outcome[2]);
  });

  test('that transfer memory are refused beyond a limit, too', async (t) => {
    const page = await openHtml(t, '');
    const outcome = await page.evaluate(() => {
      globalThis.channel = new MessageChannel();
      const sizes = [];
      try {
        for (;;) {
          const memory = new ArrayBuffer(50 << 20);
          channel.port1.postMessage(memory, [memory]);
          sizes.push(memory.byteLength);
        }
      } catch ({ name }) {
        return [name, ...sizes];
      }
    });
    assert.deepEqual(outcome, ['DataCloneError', 0, 0, 0, 0, 0]);
  });

  test('to a worker that does not receive them are refused beyond a limit, whatever their size', async (t) => {
    const page = await openHtml(t, `<script>${FLOOD}</script>`, {
      routes: { '/w.js': "postMessage('busy'); for (;;);" },
    });
    const outcome = await page.evaluate(async () => {
      globalThis.worker = new Worker('/w.js');
      await new Promise((resolve) => {
        worker.onmessage = resolve;
      });
      return flood(worker, 2 ** 22);
    });
    assert.equal(outcome[0], 'DataCloneError');
    assert.ok(outcome[2] <= 256, `${outcome[2]} MB`);
    // The limit is for all channels of a thread together.
    const next = await page.evaluate(() => flood(new MessageChannel().port1, 2 ** 22));
    assert.equal(next[0], 'DataCloneError');
    assert.ok(next[2] <= 4, `${next[2]} MB`);
    await page.evaluate('worker.terminate()');
  });

  test('that a worker sends over a port it was given are refused in the worker', async (t) => {
    const page = await openHtml(t, '', {
      routes: { '/w.js': `${FLOOD} onmessage = ({ data }) => postMessage(flood(data, 2 ** 22));` },
    });
    const outcome = await page.evaluate(() => {
      const worker = new Worker('/w.js');
      const { port1, port2 } = new MessageChannel();
      // A port that is collected is closed.
      globalThis.port1 = port1;
      worker.postMessage(port2, [port2]);
      return new Promise((resolve) => {
        worker.onmessage = ({ data }) => resolve(data);
      });
    });
    assert.deepEqual(outcome.slice(0, 2), ['DataCloneError', true]);
    assert.ok(outcome[2] <= 256, `${outcome[2]} MB`);
  });

  test('to a frame of another origin that does not receive them are dropped beyond a limit', async (t) => {
    const foreign = await serve(t, { '/': '<script>onmessage = () => { for (;;); };</script>' });
    const page = await openHtml(t, `<iframe src="${foreign.url('/')}"></iframe>`);
    const post = async (rounds) => {
      for (let round = 0; round < rounds; round++) {
        await page.evaluate(() => {
          const text = 'x'.repeat(2 ** 20);
          for (let i = 0; i < 50; i++) frames[0].postMessage(text, '*');
        });
      }
    };
    // Until then the threads have as much garbage as they ever have.
    await post(15);
    const before = process.memoryUsage.rss();
    await post(20);
    assert.ok(process.memoryUsage.rss() - before < 600 * 2 ** 20, 'a gigabyte was posted');
    assert.equal(await page.evaluate('1 + 1'), 2);
  });

  test("between threads, of the console and of navigations do not accumulate in the user's thread", async (t) => {
    const foreign = await serve(t, { '/': '<script>parent.postMessage("there", "*")</script>' });
    const page = await openHtml(t, `<iframe src="${foreign.url('/')}"></iframe>`, {
      routes: { '/next': '<title>next</title>' },
    });
    const post = (count) =>
      page.evaluateIn(
        { timeout: 120_000 },
        (messages) => {
          const text = 'x'.repeat(2 ** 20);
          for (let i = 0; i < messages; i++) frames[0].postMessage(text, '*');
        },
        count,
      );
    // Until then the threads have as much garbage as they ever have.
    await post(1_000);
    const before = process.memoryUsage.rss();
    await post(1_500);
    assert.ok(process.memoryUsage.rss() - before < 2 ** 30, 'one and a half gigabytes were posted');
    await page.evaluate(() => {
      for (let i = 0; i < 50_000; i++) console.log(i);
    });
    assert.ok(page.log.length < 25_000, `${page.log.length} lines`);
    // Of many requested navigations, the last one is performed. This thread handles none before the page has asked for all of them.
    const asked = new Int32Array(new SharedArrayBuffer(4));
    const server = new Worker(
      `const { parentPort, workerData: asked } = require('node:worker_threads');
      const server = require('node:http').createServer((_request, response) => {
        response.end();
        Atomics.store(asked, 0, 1);
        Atomics.notify(asked, 0);
      });
      server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
      { eval: true, workerData: asked },
    );
    t.after(() => server.terminate());
    const [port] = await once(server, 'message');
    const navigated = new Promise((resolve) => page.on('navigated', (url) => url.endsWith('/next?999') && resolve()));
    await page.evaluate(`setTimeout(() => {
      for (let i = 0; i < 1_000; i++) location.href = '/next?' + i;
      fetch('http://127.0.0.1:${port}/', { mode: 'no-cors' }).catch(() => {});
    }, 100); 0`);
    assert.notEqual(Atomics.wait(asked, 0, 0, 60_000), 'timed-out');
    await navigated;
    assert.ok(
      page.server.requests.filter(({ url }) => url.startsWith('/next')).length < 20,
      `${page.server.requests.length} requests`,
    );
  });
});

suite('profilers and entries of workers', () => {
  test('are limited as in windows', async (t) => {
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
    assert.deepEqual(
      await page.evaluate(
        () =>
          new Promise((resolve) => {
            new Worker('/w.js').onmessage = ({ data }) => resolve(data);
          }),
      ),
      [100, 'TypeError', 20, 10],
    );
  });

  test('a million marks are kept, and no more', async (t) => {
    const page = await openHtml(t, '');
    const outcome = await page.evaluate(() => {
      for (let i = 0; i < 1_100_000; i++) performance.mark('m');
      return [
        performance.getEntriesByType('mark').length,
        performance.mark('after').name,
        performance.getEntriesByName('after').length,
      ];
    });
    assert.deepEqual(outcome, [1_000_000, 'after', 0]);
  });
});

// V8 forgets that a thread is to end when a native function catches that. The program would never end.
test('loops that are in native functions of the host all the time end with the program', {
  timeout: 60_000,
}, async () => {
  const program = `
    import { PageHost } from ${JSON.stringify(new URL('../index.mjs', import.meta.url))};
    const pages = new PageHost({ jsdom: ${JSON.stringify(jsdom)} });
    const loops = [
      'new Error().stack',
      'Promise.reject(1)',
      'import("/never").catch(() => {})',
      'structuredClone({ get a() { for (let n = 0; n < 1e4; n++); return 1 } })',
      'Object.defineProperty(Error, "prepareStackTrace", { get() { for (;;); } }) && new Error().stack',
    ];
    const looping = loops.map(async (loop) => {
      const page = await pages.open('about:blank');
      await page.evaluateIn({ timeout: 1_000 }, 'for (;;) ' + loop).catch(({ name }) => console.log(name));
    });
    await Promise.all(looping);
    const again = await pages.open('about:blank');
    await again.evaluate('setTimeout(() => { for (;;) new Error().stack }); 0');
    setTimeout(() => process.exit(3), 500);`;
  const ended = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    timeout: 50_000,
    killSignal: 'SIGKILL',
  }).catch((error) => error);
  assert.deepEqual([ended.code, ended.stdout], [3, 'TimeoutError\n'.repeat(5)]);
});

suite("memory of the user's thread", () => {
  test('is not filled by the result of a script', { timeout: 60_000 }, async () => {
    const program = `
      import { PageHost } from ${JSON.stringify(new URL('../index.mjs', import.meta.url))};
      const pages = new PageHost({ jsdom: ${JSON.stringify(jsdom)} });
      const page = await pages.open('about:blank');
      const full = Array.from({ length: 10 }, () => new Array(4e6).fill(1.5));
      const result = page.evaluate(() => Array.from({ length: 6e6 }, () => 'ab'));
      console.log(await result.then(() => 'given', String));
      console.log((await page.evaluate(() => new Array(1e5).fill('ab'))).length, full.length);
      await pages.close();`;
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--max-old-space-size=500',
      '--input-type=module',
      '-e',
      program,
    ]);
    assert.match(stdout, /^RangeError: the result takes about \d+ bytes, for .*\n\nhint: .*\n100000 10\n$/);
  });

  // V8 makes room for each place up to the length: of 256 MiB for an array whose record has some bytes, and of 12 kB for an object with an
  // index. Of short texts, it reads some million in a second.
  test('is not filled by results that take more than their bytes, nor is the thread kept by those', async (t) => {
    const page = await openHtml(t, '');
    await page.evaluate(`globalThis.sparse = (length) => {
      const list = [];
      list[4e9] = 1;
      list.length = length;
      return list;
    };
    globalThis.indexed = () => {
      class Indexed {}
      return Array.from({ length: 50_000 }, () => Object.assign(new Indexed(), { 1020: true }));
    }; 0`);
    const before = process.resourceUsage().maxRSS;
    for (const result of [
      'Array.from({ length: 3 }, () => sparse(2 ** 25))',
      'Array.from({ length: 24 }, () => sparse(2 ** 25))',
      '[/;/, new Error("", { cause: Array.from({ length: 3 }, () => sparse(2 ** 25)) })]',
      'indexed()',
      'Array.from({ length: 13e6 }, () => "ab")',
      'Array.from({ length: 4e6 }, () => new Boolean(true))',
    ])
      await assert.rejects(
        page.evaluate(result),
        /RangeError: the result takes about \d+ bytes, which is too much/,
        result,
      );
    assert.ok(process.resourceUsage().maxRSS - before < 2 << 20, 'kilobytes, also of the page');
    const expressions = 'Array.from({ length: 2_000 }, (_, n) => new RegExp(`${n}[0-9]`, "v"))';
    await assert.rejects(
      page.evaluate(expressions),
      /RangeError: the regular expressions of the result take \d+ bytes/,
    );
    const list = await page.evaluate('[sparse(1e6), sparse(4e9), new Array(3)]');
    assert.deepEqual(
      list.map(({ length }) => length),
      [1e6, 4e9, 3],
    );
  });

  // When a later result has a value of another kind for one of the keys in common, V8 visits the shapes of all results.
  test('is not kept by objects that have some keys in common and others of their own', async (t) => {
    const page = await openHtml(t, '');
    await page.evaluate(`globalThis.branches = (first, count) => Array.from({ length: count }, (_, n) => {
      const object = {};
      for (let key = 0; key < 60; key++) object['common' + key] = null;
      for (let key = 0; key < 60; key++) object['own' + (first + n) + '_' + key] = null;
      return object;
    }); 0`);
    const refused = /RangeError: the objects of the page's results have too many different keys\n\nhint: /;
    await assert.rejects(page.evaluate('branches(0, 5_000)'), refused);
    for (let round = 0; round < 3; round++)
      assert.equal((await page.evaluate(`branches(${round * 850}, 850)`)).length, 850);
    // Refused as often as it is asked for.
    for (let round = 0; round < 3; round++) await assert.rejects(page.evaluate('branches(10_000, 850)'), refused);
    // Others that cost little are not; nor are those that the user's thread has, however often.
    assert.equal(Object.keys(await page.evaluate('branches(20_000, 1)[0]')).length, 120);
    const other = await openHtml(
      t,
      `<script>
      globalThis.kinds = (count) => Array.from({ length: count }, (_, kind) =>
        Object.fromEntries(Array.from({ length: 20 }, (_, key) => ['kind' + kind + '_' + key, key])));
    </script>`,
    );
    for (let round = 0; round < 100; round++) assert.equal((await other.evaluate('kinds(300)')).length, 300);
  });

  test('is not filled by profilers that nobody counts, whatever lists inherit', async (t) => {
    const page = await openHtml(t, '', { headers: { 'document-policy': 'js-profiling' } });
    const seen = await page.evaluate(async () => {
      let calls = 0;
      Array.prototype.toJSON = () => {
        calls += 1;
        return null;
      };
      const traces = [];
      for (let count = 0; count < 150; count++) {
        const profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 10, includeEntries: true });
        performance.mark('mine');
        traces.push(profiler.stop({ format: 'json-gzip' }));
      }
      const settled = await Promise.all(traces);
      return [calls, settled.length, settled[149]];
    });
    assert.deepEqual(seen.slice(0, 2), [0, 150]);
    assert.equal(JSON.parse(gunzipSync(seen[2])).entries.at(-1).name, 'mine');
  });

  // As JSON, a trace has the name of each entry, however many share it.
  test('and the thread that builds traces are not kept by marks with long names', async (t) => {
    const page = await openHtml(t, '', { headers: { 'document-policy': 'js-profiling' } });
    const traces = await page.evaluate(async () => {
      const traces = [];
      for (const bufferPolicy of ['stop', 'circular']) {
        const options = { sampleInterval: 100, maxBufferSize: 10_000, includeEntries: true, bufferPolicy };
        const profiler = new Profiler(options);
        const name = 'x'.repeat(1_000_000);
        performance.mark('first');
        for (let count = 0; count < 1_000; count++) performance.mark(name);
        performance.mark('last');
        traces.push(await profiler.stop({ format: 'json-gzip' }));
      }
      return traces;
    });
    const seen = traces.map((bytes) => {
      const { entries, droppedEntriesCount } = JSON.parse(gunzipSync(bytes));
      return [entries[0].name.length, entries.at(-1).name.length, entries.length, droppedEntriesCount];
    });
    // 67 of the long ones fit.
    assert.deepEqual(seen, [
      [5, 1_000_000, 68, 934],
      [1_000_000, 4, 68, 934],
    ]);
  });

  // The page replaces a method that its profiler calls, so a trace has as many entries as the page likes.
  test('and the thread that builds traces are not kept by very many marks without names', async (t) => {
    const page = await openHtml(t, '', { headers: { 'document-policy': 'js-profiling' } });
    const traces = await page.evaluate(async () => {
      const { prototype } = Object.getPrototypeOf(Uint8Array);
      const { slice } = prototype;
      const [heads, times] = [new Uint32Array(1_200_000), new Float64Array(2_400_000)];
      heads.fill(0xffff_fff0, 100_000, 100_010);
      const traces = [];
      for (let count = 0; count < 3; count++) {
        const profiler = new Profiler({ sampleInterval: 100, maxBufferSize: 10, includeEntries: true });
        performance.mark('');
        prototype.slice = function () {
          return this instanceof Float64Array ? times : heads;
        };
        traces.push(profiler.stop({ format: 'json-gzip' }));
        prototype.slice = slice;
      }
      return await Promise.all(traces);
    });
    const seen = traces.map((bytes) => {
      const { entries, droppedEntriesCount } = JSON.parse(gunzipSync(bytes));
      return [entries?.length, droppedEntriesCount];
    });
    // The first one has all the room that there is.
    assert.deepEqual(seen, [
      [1_048_576 - 10, 1_200_000 - 1_048_576],
      [0, 1_200_000],
      [0, 1_200_000],
    ]);
  });

  // V8 hashes the last digit of a BigInt alone, and compares two from there.
  test('is not kept by large BigInts in a set', { timeout: 300_000 }, async (t) => {
    const page = await openHtml(t, '', { host: host(t, { timeout: 240_000 }) });
    await assert.rejects(
      page.evaluate(() => {
        const large = 1n << 400_000n;
        return new Set(Array.from({ length: 1_200 }, (_, n) => large + (BigInt(n) << 399_936n)));
      }),
      /RangeError: the result takes too long to read/,
    );
  });

  // Each pair of indexes makes V8 copy all others twice, and keep the copies until it has read the object.
  test('is not kept by an object whose indexes make V8 change between lists and tables', async (t) => {
    const page = await openHtml(t, '', { host: host(t, { memoryLimit: 256 }) });
    const before = process.resourceUsage().maxRSS;
    const result = page.evaluate(() => {
      const used = 100_000;
      const indexes = Array.from({ length: used }, (_, index) => index);
      for (let index = used * 1.5 + 1_116; index < 2 ** 18 * 6; index += 1_027) indexes.push(index, index + 1);
      // It is a table here.
      const object = { [2 ** 32 - 2]: 0 };
      for (const index of indexes.reverse()) object[index] = 0;
      delete object[2 ** 32 - 2];
      return object;
    });
    let last = performance.now();
    let longest = 0;
    const watch = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 10);
    await assert.rejects(result);
    clearInterval(watch);
    assert.ok(longest < 5_000, `${longest} ms`);
    assert.ok(process.resourceUsage().maxRSS - before < 3 << 20, 'kilobytes, also of the page');
  });

  test('is not filled by one text of many platform objects', async (t) => {
    const page = await openHtml(t, '');
    for (const make of ['new DOMException(text)', 'new File([], text)']) {
      await page.evaluate(`{
        const text = 'x'.repeat(5e6);
        Object.defineProperty(document, 'title', { get: () => Array.from({ length: 4 }, () => ${make}), configurable: true });
        void 0;
      }`);
      await assert.rejects(
        page.evaluate(() => document.title),
        /Objects with more than 16777216 characters of text could not be cloned/,
      );
      assert.equal(await page.evaluate(`[${make.replace('text', "'x'.repeat(5e6)")}].length`), 1);
    }
  });

  test('for responses is limited for all frames and workers of a page together', async (t) => {
    const bomb = { body: gzipSync(Buffer.alloc(30 << 20)), headers: { 'content-encoding': 'gzip' } };
    const foreign = await serve(t, { '*': bomb });
    const page = await openHtml(t, '', { host: host(t, { bodyLimit: 32 << 20 }), routes: { '/bomb': bomb } });
    let peak = 0;
    const before = process.memoryUsage.rss();
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().external + process.memoryUsage().arrayBuffers);
    }, 5);
    t.after(() => clearInterval(watch));
    await page.evaluate((url) => {
      for (let i = 0; i < 6; i++) {
        document.body.append(Object.assign(document.createElement('iframe'), { src: `/bomb?${i}` }));
        document.body.append(Object.assign(document.createElement('iframe'), { src: `${url}/bomb?${i}` }));
        new Worker(`/bomb?worker${i}`);
      }
    }, foreign.origin);
    await eventually(() => page.problems.length >= 10);
    assert.ok(peak < 400 << 20, `${peak >> 20} MB`);
    // Frames that are refused show error pages, which have threads.
    assert.ok(process.memoryUsage.rss() - before < 1_000 << 20, `${(process.memoryUsage.rss() - before) >> 20} MB`);
    assert.ok(
      page.problems.some(({ text }) => /more than 33554432 bytes/.test(text)),
      page.problems[0].text,
    );
    // What was received is not counted for ever.
    await page.evaluate(() => {
      for (const frame of [...document.querySelectorAll('iframe')]) frame.remove();
    });
    const again = () =>
      page.evaluate(
        () =>
          new Promise((resolve) => {
            const frame = Object.assign(document.createElement('iframe'), { src: '/bomb?again' });
            frame.onload = () => {
              // A refused response shows an error page, whose document is of another origin.
              resolve(frame.contentDocument?.URL.endsWith('again') ?? false);
              frame.remove();
            };
            document.body.append(frame);
          }),
      );
    await eventually(again);
    for (let round = 0; round < 3; round++) assert.ok(await again());
  });

  test('is not filled by files that have no end or are no files', { timeout: 60_000 }, async (t) => {
    const folder = fs.mkdtempSync('/tmp/selfprof-');
    t.after(() => fs.rmSync(folder, { recursive: true }));
    fs.writeFileSync(`${folder}/page.html`, '<title>page</title>');
    fs.writeFileSync(`${folder}/large.bin`, Buffer.alloc(2_000_000));
    for (const [name, target] of Object.entries({ zero: '/dev/zero', folder: '/tmp', status: '/proc/self/status' }))
      fs.symlinkSync(target, `${folder}/${name}`);
    const page = await open(t, `${folder}/page.html`, { host: host(t, { bodyLimit: 1_000_000 }), root: '/' });
    for (const path of ['/dev/zero', '/dev/urandom', '/dev/stdin', '/tmp', `${folder}/zero`, `${folder}/large.bin`]) {
      assert.equal(
        await page.evaluate((url) => fetch(url).catch(({ name }) => name), `file://${path}`),
        'TypeError',
        path,
      );
      const count = page.problems.length;
      await page.evaluate(`location = 'file://${path}'`).catch(() => {});
      await eventually(() => page.problems.length > count);
    }
    await assert.rejects(page.navigate('/dev/zero'), /not a regular file/);
    // Reading a file of /proc can wait for ever. They have no size.
    assert.equal(await page.evaluate(`fetch('file://${folder}/status').then((response) => response.text())`), '');
  });

  test('has no resizable buffers of messages, whose addresses nothing would count', async (t) => {
    const foreign = await serve(t, {
      '/': '<script>onmessage = ({ data }) => console.log(data.resizable, data.byteLength, new Uint8Array(data)[1])</script>',
    });
    const page = await openHtml(t, `<iframe src="${foreign.url('/')}"></iframe>`);
    const left = await page.evaluate(() => {
      const buffer = new ArrayBuffer(2, { maxByteLength: 2 ** 20 });
      new Uint8Array(buffer).set([5, 7]);
      frames[0].postMessage(buffer, '*', [buffer]);
      return buffer.byteLength;
    });
    assert.equal(left, 0);
    await eventually(() => page.log.length === 1);
    assert.deepEqual(page.log, ['false 2 7']);
  });

  test('is not filled by the attribute srcdoc of sandboxed frames', { timeout: 60_000 }, async (t) => {
    const page = await openHtml(t, '', { host: host(t, { bodyLimit: 16 << 20 }) });
    await page.evaluate(() => {
      for (let at = 0; at < 3; at++) {
        const frame = document.createElement('iframe');
        frame.sandbox = 'allow-scripts';
        // Three bytes each, as the document of the frame has them.
        frame.srcdoc = '\u4e00'.repeat(4e6);
        document.body.append(frame);
      }
    });
    await eventually(() => page.problems.some(({ text }) => /more than \d+ bytes while they are read/.test(text)));
  });

  test('is not filled by files that frames show', { timeout: 60_000 }, async (t) => {
    const folder = fs.mkdtempSync('/tmp/selfprof-');
    t.after(() => fs.rmSync(folder, { recursive: true }));
    fs.writeFileSync(`${folder}/page.html`, '<title>page</title>');
    fs.writeFileSync(`${folder}/large.txt`, '');
    fs.truncateSync(`${folder}/large.txt`, 120 << 20);
    const page = await open(t, `${folder}/page.html`, { host: host(t, { bodyLimit: 128 << 20 }) });
    const grown = watchMemory(t);
    await page.evaluate(() => {
      for (let at = 0; at < 10; at++)
        document.body.append(Object.assign(document.createElement('iframe'), { src: 'large.txt' }));
      // Those that are gone are not read to their ends.
      for (const frame of document.querySelectorAll('iframe')) if (Math.random() < 0.5) frame.remove();
    });
    await eventually(() => page.problems.some(({ text }) => /more than \d+ bytes while they are read/.test(text)));
    assert.ok(grown() < 800 << 20, `${grown() >> 20} MB`);
  });

  test('for connections is limited, to however many servers a page sends requests', async (t) => {
    const connections = new Set();
    const server = net.createServer((socket) => {
      connections.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => connections.delete(socket));
    });
    server.listen(0, '0.0.0.0');
    await once(server, 'listening');
    t.after(() => {
      server.close();
      for (const socket of connections) socket.destroy();
    });
    const page = await openHtml(t, '');
    await page.evaluate((port) => {
      for (let at = 0; at < 600; at++)
        fetch(`http://127.0.${1 + (at >> 7)}.${1 + (at & 127)}:${port}/`, { mode: 'no-cors' }).catch(() => {});
    }, server.address().port);
    await eventually(() => connections.size >= 256);
    await setTimeout(500);
    assert.equal(connections.size, 256);
    // Each that ends makes room for another.
    for (const socket of connections) socket.end('HTTP/1.1 204 No Content\r\n\r\n');
    await setTimeout(100);
    await eventually(() => connections.size >= 200);
  });

  test('for lookups of names is that of the page alone, and they end with it', async (t) => {
    // A name server that does not answer.
    let questions = 0;
    const server = dgram.createSocket('udp4', () => questions++);
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    const pending = new Set();
    let inThreads = 0;
    const hook = createHook({
      init: (id, type) => {
        if (type === 'QUERYWRAP') pending.add(id);
        if (type === 'GETADDRINFOREQWRAP') inThreads += 1;
      },
      before: (id) => pending.delete(id),
    }).enable();
    const before = dns.getServers();
    dns.setServers([`127.0.0.1:${server.address().port}`]);
    t.after(() => {
      dns.setServers(before);
      hook.disable();
      server.close();
    });
    const page = await openHtml(t, '');
    await page.evaluate(() => {
      for (let at = 0; at < 20; at++)
        document.body.append(
          Object.assign(document.createElement('iframe'), {
            src: `http://host${at}${at % 2 === 0 ? '.example' : ''}/`,
          }),
        );
    });
    await eventually(() => questions >= 40);
    assert.equal(inThreads, 0);
    // The user's own, which needs a thread of the process.
    await dns.promises.lookup('localhost');
    assert.ok(pending.size > 0);
    await page.close();
    // By themselves, they would go on for ten seconds.
    await setTimeout(500);
    assert.equal(pending.size, 0);
  });

  test('is not filled by frames that load for ever', { timeout: 120_000 }, async (t) => {
    const page = await openHtml(t, '', { routes: { '/never': () => new Promise(() => {}) } });
    const before = process.memoryUsage().heapUsed;
    await page.evaluateIn({ timeout: 100_000 }, async () => {
      const text = 'x'.repeat(4 << 20);
      for (let at = 0; at < 40; at++) {
        const frame = Object.assign(document.createElement('iframe'), { src: `/never?${at}` });
        frame.setAttribute('allow', text + at);
        document.body.append(frame);
        await new Promise((resolve) => setTimeout(resolve, 10));
        frame.remove();
      }
    });
    const grown = (process.memoryUsage().heapUsed - before) / 2 ** 20;
    assert.ok(grown < 80, `${grown} MB`);
  });

  test('is not filled by responses that arrive in pieces of a byte', { timeout: 60_000 }, async (t) => {
    // In a thread of its own, so that its memory does not count.
    const server = new Worker(
      `const { parentPort } = require('node:worker_threads');
      const pieces = Buffer.from('1\\r\\nx\\r\\n'.repeat(1_000));
      const server = require('node:net').createServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\\r\\ncontent-type: text/html\\r\\ntransfer-encoding: chunked\\r\\n\\r\\n');
          let sent = 0;
          const send = () => {
            while (sent++ < 2_000) {
              if (socket.write(pieces)) continue;
              socket.once('drain', send);
              return;
            }
            socket.end('0\\r\\n\\r\\n');
          };
          send();
        });
      });
      server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
      { eval: true },
    );
    t.after(() => server.terminate());
    const [port] = await once(server, 'message');
    const page = await openHtml(t, '');
    const before = process.memoryUsage().heapUsed;
    let grown = 0;
    const timer = setInterval(() => {
      grown = Math.max(grown, (process.memoryUsage().heapUsed - before) / 2 ** 20);
    }, 10);
    t.after(() => clearInterval(timer));
    await page.evaluate(
      (url) =>
        new Promise((resolve) => {
          document.body.append(Object.assign(document.createElement('iframe'), { src: url, onload: () => resolve() }));
        }),
      `http://127.0.0.1:${port}/`,
    );
    // With an object for each piece, it was 170.
    assert.ok(grown < 90, `${grown} MB`);
  });

  test('is not kept by responses that decode to nothing', async (t) => {
    const empty = gzipSync(Buffer.alloc(1_000_000, gzipSync('')));
    const bomb = (codings, body) => ({ body, headers: { 'content-encoding': codings } });
    const twice = gzipSync(Buffer.concat(Array(5_000).fill(empty)));
    const page = await openHtml(t, '', {
      routes: { '/many': bomb('gzip, gzip, gzip, gzip', twice), '/long': bomb('gzip, gzip, gzip', twice) },
    });
    const fetched = await page.evaluate(() =>
      Promise.all(['/many', '/long'].map((path) => fetch(path).then(String, ({ name }) => name))),
    );
    assert.deepEqual(fetched, ['TypeError', 'TypeError']);
    assert.match(page.problems.map(({ text }) => text).join(), /more than 3 content codings.*larger than \d+ bytes/s);
    // Those that are under way end with the page, though all of their bytes have arrived.
    await page.evaluate(() => {
      for (let count = 0; count < 8; count++) fetch('/long').catch(() => {});
    });
    await eventually(() => page.server.requests.filter(({ url }) => url === '/long').length === 9);
    await page.close();
    const before = process.cpuUsage();
    await setTimeout(1_000);
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 500_000, `${user + system} microseconds of CPU time`);
  });

  test('has no connections whose bodies have ended before the response', async (t) => {
    const server = http.createServer((request, response) => {
      response.setHeader('access-control-allow-origin', '*');
      response.setHeader('content-encoding', 'gzip');
      response.write(Buffer.concat([gzipSync('text'), Buffer.alloc(10)]));
    });
    let open = 0;
    server.on('connection', (socket) => {
      open += 1;
      socket.on('close', () => {
        open -= 1;
      });
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close(() => {}).closeAllConnections());
    const page = await openHtml(t, '');
    const texts = await page.evaluate(
      (url) => Promise.all(Array.from({ length: 20 }, async () => (await fetch(url)).text())),
      `http://127.0.0.1:${server.address().port}/`,
    );
    assert.deepEqual(texts, Array(20).fill('text'));
    await eventually(() => open === 0);
  });

  // V8 counts nothing of what decoders take: 16 MiB and more for each coding by Brotli.
  for (const way of ['frames', 'fetch'])
    test(`is not filled by decoders of responses that do not end: by ${way}`, { timeout: 60_000 }, async (t) => {
      // A name that does not end, in the header of a gzip file: it decodes to nothing.
      const name = Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 0]), Buffer.alloc(17 << 20, 'x')]);
      const body = brotliCompressSync(name, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
      const server = http.createServer(({ url }, response) => {
        const isLast = url === '/last';
        const headers = { 'access-control-allow-origin': '*', 'content-encoding': isLast ? 'br' : 'gzip, br' };
        response.writeHead(200, { ...headers, 'content-type': 'text/html' });
        if (isLast) response.end(brotliCompressSync('the last one'));
        else response.write(body);
      });
      server.listen(0, '0.0.0.0');
      await once(server, 'listening');
      t.after(() => {
        server.closeAllConnections();
        server.close();
      });
      const page = await openHtml(t, '');
      await page.evaluate(
        (way, port) => {
          globalThis.url = (host) => `http://127.0.0.${host}:${port}/`;
          globalThis.aborting = new AbortController();
          globalThis.failed = 0;
          // A server has no more than 16 connections.
          for (let at = 0; at < 20; at++) {
            const src = url(1 + (at % 2)) + at;
            if (way === 'frames') document.body.append(Object.assign(document.createElement('iframe'), { src }));
            else fetch(src, { signal: aborting.signal }).catch(() => failed++);
          }
        },
        way,
        server.address().port,
      );
      const isRefused = ({ text }) => /responses take more than 268435456 bytes/.test(text);
      await eventually(() => page.problems.filter(isRefused).length === 7);
      if (way === 'frames') return;
      assert.equal(await page.evaluate('failed'), 7);
      // What they took is free again.
      await page.evaluate('aborting.abort()');
      const read = await page.evaluate(() => fetch(`${url(3)}last`).then((response) => response.text()));
      assert.equal(read, 'the last one');
    });

  test('is not kept by responses in very many pieces', async (t) => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n';
    const pieces = (count, text) => `${text.length.toString(16)}\r\n${text}\r\n`.repeat(count);
    const responses = {
      '/interim': 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(21),
      '/small': head + pieces(2_001, 'x'),
      '/some': `${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(20)}${head}${pieces(2_000, 'x')}0\r\n\r\n`,
      '/large': `${head}${pieces(16_000, 'x'.repeat(20))}0\r\n\r\n`,
    };
    const server = net.createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (request) => socket.write(responses[/ (\S*)/.exec(request)[1]]));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const page = await openHtml(t, '');
    t.after(() => server.close());
    const url = `http://127.0.0.1:${server.address().port}`;
    await page.navigate(`${url}/some`);
    assert.equal(await page.evaluate('document.body.textContent.length'), 2_000);
    await page.navigate(`${url}/large`);
    assert.equal(await page.evaluate('document.body.textContent.length'), 320_000);
    await assert.rejects(page.navigate(`${url}/interim`), /sent more than 20 responses/);
    await assert.rejects(page.navigate(`${url}/small`), /sends a body in more than 2000 small pieces/);
    const failed = page.evaluate((url) => fetch(`${url}/small`).catch(({ name }) => name), url);
    assert.equal(await failed, 'TypeError');
  });

  // Node 22 takes more than a minute for one of a megabyte.
  test('is not kept by hosts of URLs that are long', { timeout: 60_000 }, async (t) => {
    const page = await openHtml(t, '');
    await page.evaluate(() => {
      const host = `xn--${'a'.repeat(250_000)}-${'fa'.repeat(125_000)}`;
      location.href = `http://${host}/`;
      const add = (src) => document.body.append(Object.assign(document.createElement('iframe'), { src }));
      add(`https://${host}/`);
      add(`http://${host}.test/`);
    });
    await eventually(() => page.problems.length === 3);
    const kinds = page.problems.map(({ kind }) => kind).sort();
    assert.deepEqual(kinds, ['navigation', 'resource-loading', 'resource-loading']);
  });

  test('is not filled by the referrers of requests that wait to be read', async (t) => {
    const page = await openHtml(t, '', { routes: { '/never': () => new Promise(() => {}) } });
    const refused = await page.evaluate(async () => {
      history.replaceState(null, '', `/${'x'.repeat(4_000)}`);
      const refused = [];
      for (let count = 0; count < 200; count++)
        fetch('/never', { keepalive: true }).catch(({ name }) => refused.push(name));
      // Without a referrer, all could be sent.
      while (refused.length <= 100) await new Promise((resolve) => setTimeout(resolve, 10));
      return refused;
    });
    assert.deepEqual(new Set(refused), new Set(['TypeError']));
  });

  test('of the names and URLs of frames and workers is limited', { timeout: 240_000 }, async (t) => {
    const page = await openHtml(t, '', { routes: { '/w.js': 'onmessage = ({ data }) => console.log(data)' } });
    const foreign = await serve(t, { '/': '<script>location = "about:blank?" + "x".repeat(2 << 20)</script>' });
    // Reading long URLs takes time.
    await page.evaluateIn(
      { timeout: 180_000 },
      (foreign) => {
        document.body.append(Object.assign(document.createElement('iframe'), { src: foreign }));
        const start = (url, name) => new Worker(url, { name }).postMessage(name.length);
        start('/w.js', 'x'.repeat(1 << 16));
        start('/w.js', 'x'.repeat((1 << 16) + 1));
        start(`data:text/javascript,/*${'x'.repeat(2 << 20)}*/`, '');
        start('data:text/javascript,importScripts("data:text/javascript,//" + "x".repeat(2 << 20))', '');
        document.body.append(
          Object.assign(document.createElement('iframe'), { src: `data:text/html,${'x'.repeat(2 << 20)}` }),
        );
      },
      foreign.url('/'),
    );
    await eventually(() => page.log.length === 1 && page.problems.length === 5);
    assert.deepEqual(page.log, ['65536']);
    const reasons = page.problems.map(({ text }) => /\w+ of a \w+ may .*/.exec(text)?.[0]).sort();
    assert.deepEqual(reasons, [
      'URL of a document may have no more than 2097152 characters',
      'URL of a document may have no more than 2097152 characters',
      'URL of a script may have no more than 2097152 characters',
      'URL of a worker may have no more than 2097152 characters',
      'name of a worker may have no more than 65536 characters',
    ]);
  });

  test('of URLs and referrers is that of texts that are read fast, whatever their page says', {
    timeout: 60_000,
  }, async (t) => {
    const pages = host(t, { jsdom: jsdomWithBackDoor(t) });
    const page = await openHtml(t, '<iframe id="frame"></iframe>', {
      host: pages,
      routes: { '/frame': '', '/w.js': '' },
    });
    const growth = watchMemory(t);
    await page.evaluate(() => {
      const { doors, location } = window;
      const text = '\uffff';
      const frame = (request) =>
        doors.fetchFrame(JSON.stringify({ window: 0, sandbox: null, initiator: 'iframe', ...request }), () => {});
      frame({
        frame: 100,
        url: `${location.origin}/frame`,
        referrer: `${location.origin}/?${text.repeat(20_000_000)}`,
      });
      frame({ frame: 101, url: `ftp://frame/${text}`, referrer: '' });
      doors.postToHost(JSON.stringify({ type: 'navigate', url: `ftp://page/${text}`, referrer: '' }));
      doors.startWorker(
        window,
        JSON.stringify({ url: `ftp://worker/${text}`, type: 'classic', name: '' }),
        () => {},
        () => {},
      );
    });
    await eventually(() => page.server.requests.some(({ url }) => url === '/frame') && page.problems.length === 3);
    assert.deepEqual(page.problems.map(({ url }) => url).sort(), [
      'ftp://frame/%EF%BF%BF',
      'ftp://page/%EF%BF%BF',
      'ftp://worker/%EF%BF%BF',
    ]);
    const { headers } = page.server.requests.find(({ url }) => url === '/frame');
    assert.equal(headers.referer, page.server.url('/'));
    // The text itself takes 40 MB, and each copy of it as much. Its URL takes nine times as much.
    assert.ok(growth() < 500e6, `${growth()} bytes`);
  });

  test('of the next document does not depend on frames that fill theirs', async (t) => {
    // Each sends almost as much as all may have, and then nothing more.
    const server = http.createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.write('x'.repeat(900_000));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    const page = await openHtml(t, '', {
      host: host(t, { bodyLimit: 1_000_000 }),
      routes: { '/next': `<title>next</title>${'x'.repeat(500_000)}` },
    });
    await page.evaluate((url) => {
      for (let at = 0; at < 2; at++)
        document.body.append(Object.assign(document.createElement('iframe'), { src: url + at }));
    }, `http://127.0.0.1:${server.address().port}/`);
    await eventually(() => page.problems.some(({ text }) => /more than 1000000 bytes/.test(text)));
    await page.navigate(page.server.url('/next'));
    assert.equal(await page.evaluate('document.title'), 'next');
  });

  test('is not filled by answers that a busy thread does not read', { timeout: 120_000 }, async (t) => {
    const page = await openHtml(t, '<iframe></iframe>');
    await page.evaluateIn({ timeout: 100_000 }, () => {
      const frame = document.querySelector('iframe');
      for (let at = 0; at < 12_000; at++) {
        frame.src = `http://localhost:1/${at}`;
        // The user's thread answers meanwhile.
        if (at % 1_000 === 0) for (const end = performance.now() + 100; performance.now() < end; );
      }
    });
    await eventually(() =>
      page.problems.some(({ text }) => /too many documents of frames wait to be loaded/.test(text)),
    );
    // Later there is room again.
    await page.evaluate(() => {
      document.querySelector('iframe').src = 'http://localhost:1/later';
    });
    await eventually(() => page.problems.some(({ text }) => /later.*port 1 is blocked/.test(text)));
  });

  test('is not filled by frames that show the same blob', { timeout: 120_000 }, async (t) => {
    const page = await openHtml(t, '<body>');
    const grown = watchMemory(t);
    await page.evaluate(() => {
      const url = URL.createObjectURL(new Blob([new Uint8Array(50 << 20)], { type: 'text/html' }));
      const frames = document.createDocumentFragment();
      for (let count = 0; count < 60; count++) {
        const frame = document.createElement('iframe');
        frame.sandbox = '';
        frame.src = url;
        frames.append(frame);
      }
      document.body.append(frames);
    });
    await eventually(() => page.problems.length >= 40);
    assert.match(page.problems[0].text, /responses take more than/);
    // All of them would take 3,000 MB, twice.
    assert.ok(grown() < 2_000 << 20, `${grown() >> 20} MB`);
  });

  test('is not filled by long types of blobs that wait to be read', { timeout: 120_000 }, async (t) => {
    const page = await openHtml(t, '');
    await page.evaluate(() => {
      globalThis.url = URL.createObjectURL(new Blob(['1'], { type: 'x'.repeat(100 << 20) }));
    });
    const before = process.memoryUsage.rss();
    const flood = page.evaluate(() => {
      const end = performance.now() + 3_000;
      for (let at = 0; at < 30 && performance.now() < end; at++) new Worker(url).terminate();
    });
    block(4_000);
    const grown = (process.memoryUsage.rss() - before) >> 20;
    await flood;
    assert.ok(grown < 300, `${grown} MB`);
  });

  test('is not filled by the places of cookies that are gone', { timeout: 120_000 }, async (t) => {
    const page = await openHtml(t, '');
    v8.setFlagsFromString('--expose-gc');
    const collect = vm.runInNewContext('gc');
    const heap = () => {
      collect();
      return process.memoryUsage().heapUsed >> 20;
    };
    const before = heap();
    for (let round = 0; round < 2; round++) {
      await page.evaluate((round) => {
        for (let at = 0; at < 5_000; at++) document.cookie = `a=1; Path=/${round}.${at}.${'x'.repeat(7_500)}`;
      }, round);
    }
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
    assert.ok(heap() - before < 20, `${heap() - before} MB`);
  });

  test('is not filled by the domains around a host of many labels', { timeout: 120_000 }, async (t) => {
    const page = await openHtml(t, '');
    const before = process.memoryUsage.rss();
    await page.evaluate(() => {
      document.cookie = 'a=1';
      const src = `http://${'a.'.repeat(40_000)}localhost:8999/`;
      document.body.append(Object.assign(document.createElement('iframe'), { src }));
    });
    await eventually(() => page.problems.length > 0);
    const grown = (process.memoryUsage.rss() - before) >> 20;
    assert.ok(grown < 500, `${grown} MB`);
  });

  for (const [what, end] of Object.entries({
    'when the page is closed': (page) => page.close(),
    'when the page goes elsewhere': (page) => page.navigate('about:blank'),
    'when the frames are removed': (page) =>
      page.evaluate(() => {
        for (const frame of document.querySelectorAll('iframe')) frame.remove();
      }),
    'when the frames load something else': (page) =>
      page.evaluate(() => {
        for (const frame of document.querySelectorAll('iframe')) frame.src = 'about:blank';
      }),
  }))
    test(`is not filled by requests that nobody waits for: ${what}`, async (t) => {
      const connections = new Set();
      const server = net.createServer((socket) => {
        connections.add(socket);
        socket.on('error', () => {}).on('close', () => connections.delete(socket));
        socket.resume().write('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n');
        const timer = setInterval(() => socket.write('x'), 100);
        socket.on('close', () => clearInterval(timer));
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      t.after(() => {
        server.close();
        for (const socket of connections) socket.destroy();
      });
      const page = await openHtml(t, '<p></p>');
      await page.evaluate((port) => {
        for (let at = 0; at < 5; at++) {
          const src = `http://127.0.0.1:${port}/${at}`;
          document.body.append(Object.assign(document.createElement('iframe'), { src }));
        }
      }, server.address().port);
      await eventually(() => connections.size === 5);
      await end(page);
      await eventually(() => connections.size === 0);
    });

  test('is not filled by events that a page makes up', async (t) => {
    const page = await openHtml(t, '');
    let loads = 0;
    page.on('load', () => {
      loads += 1;
    });
    await page.evaluate(() => {
      for (let count = 0; count < 1_000; count++)
        for (const type of ['load', 'DOMContentLoaded']) dispatchEvent(new Event(type));
    });
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
    assert.equal(loads, 0);
  });

  test('is not filled by what a page throws, logs, or asks for', async (t) => {
    const page = await openHtml(t, '', { routes: { '/cookie': '' } });
    const before = process.memoryUsage.rss();
    const length = 2 << 20;
    const flood = page.evaluate((size) => {
      const text = 'x'.repeat(size);
      for (let i = 0; i < 40; i++) {
        reportError(new Error(text + i));
        reportError(text + i);
        console.log(text + i);
        Promise.reject(new Error(text + i));
        try {
          location.href = `/?${text}${i}`;
          document.body.append(Object.assign(document.createElement('iframe'), { srcdoc: text, sandbox: '' }));
          document.body.append(Object.assign(document.createElement('iframe'), { src: `data:text/html,${text}` }));
          document.body.lastChild.remove();
          document.body.lastChild.remove();
        } catch {}
        document.cookie = `c${i}=${text}`;
        new Image().src = `http://[${text}`;
      }
    }, length);
    // The user's thread is busy meanwhile, so that nothing is received.
    block(2_000);
    await Promise.race([flood.catch(() => {}), setTimeout(3_000)]);
    assert.ok(process.memoryUsage.rss() - before < 1_000 << 20, `${(process.memoryUsage.rss() - before) >> 20} MB`);
    for (const { message, stack } of page.errors) {
      assert.ok(message.length < 11_000 && stack.length < 11_000, `${message.length} ${stack.length}`);
    }
  });
});

suite('cookies', () => {
  const count = (page) => page.evaluate("document.cookie === '' ? 0 : document.cookie.split('; ').length");

  test('of a domain are limited in number and size, whether scripts or responses set them', async (t) => {
    const page = await openHtml(t, '', {
      routes: {
        '/many': { body: '', headers: { 'set-cookie': Array.from({ length: 60 }, (_, i) => `h${i}=1`) } },
        '/large': {
          body: '',
          headers: { 'set-cookie': [`large=${'x'.repeat(4_200)}`, `a=1; Path=/${'x'.repeat(9_000)}`] },
        },
        '/check': '',
      },
    });
    await page.evaluate(() => {
      for (let i = 0; i < 1_000; i++) document.cookie = `c${i}=1`;
    });
    assert.equal(await count(page), 50);
    // The latest are kept.
    assert.match(await page.evaluate('document.cookie'), /c999=1/);
    await page.evaluate("fetch('/many').then(() => {})");
    assert.equal(await count(page), 50);
    await page.evaluate("fetch('/large').then(() => {})");
    await page.evaluate("document.cookie = 'x=' + 'x'.repeat(5_000); document.cookie = 'y'.repeat(5_000) + '=1'");
    assert.doesNotMatch(await page.evaluate('document.cookie'), /large|x=|yyy/);
    await page.evaluate("for (const cookie of document.cookie.split('; ')) document.cookie = `${cookie}; Max-Age=0`");
    assert.equal(await count(page), 0);
    // What was deleted does not count.
    await page.evaluate("document.cookie = 'again=1'");
    assert.equal(await count(page), 1);
  });

  test('do not keep the path of a page if it is long', async (t) => {
    const page = await openHtml(t, '');
    const kept = await page.evaluate((length) => {
      const found = [];
      for (const path of ['/', `/${'x'.repeat(length)}/`, `/?${'x'.repeat(length)}`]) {
        history.replaceState(null, '', path);
        document.cookie = `a${found.length}=1`;
        found.push(document.cookie);
      }
      return found;
    }, 10_000);
    assert.deepEqual(kept, ['a0=1', 'a0=1', 'a0=1; a2=1']);
  });

  test('belong to their page and go with it', async (t) => {
    const pages = host(t);
    const server = await serve(t, { '*': '' });
    const bomb = await pages.open(server.url('/'));
    await bomb.evaluate(() => {
      for (let i = 0; i < 50; i++) document.cookie = `c${i}=${'x'.repeat(4_000)}`;
    });
    await bomb.close();
    const page = await pages.open(server.url('/next'));
    assert.equal(await page.evaluate('document.cookie'), '');
    assert.equal(server.requests.at(-1).headers.cookie, undefined);
  });
});

suite('what a page keeps in the host', () => {
  test('object URLs are limited in bytes', async (t) => {
    const page = await openHtml(t, '');
    const outcome = await page.evaluate(() => {
      const blob = new Blob([new Uint8Array(90 << 20)]);
      const made = [];
      for (let i = 0; i < 4; i++) {
        try {
          made.push(URL.createObjectURL(blob).startsWith('blob:'));
        } catch (error) {
          made.push(error.name);
        }
      }
      return made;
    });
    assert.deepEqual(outcome.slice(0, 2), [true, true]);
    assert.notEqual(outcome[2], true);
    assert.notEqual(outcome[3], true);
  });

  test('object URLs that are revoked at once do not fill memory until they are read', async (t) => {
    const page = await openHtml(t, '');
    const before = process.memoryUsage.rss();
    const flood = page.evaluate(() => {
      const blob = new Blob([new Uint8Array(50 << 20)]);
      let made = 0;
      for (const end = performance.now() + 3_000; performance.now() < end && made < 60; made++) {
        try {
          URL.revokeObjectURL(URL.createObjectURL(blob));
        } catch {
          break;
        }
      }
      return made;
    });
    // The user's thread is busy meanwhile.
    block(4_000);
    assert.ok(process.memoryUsage.rss() - before < 1_500 << 20, `${(process.memoryUsage.rss() - before) >> 20} MB`);
    assert.ok((await flood) < 20);
    // Later there is room again.
    assert.match(await page.evaluate(() => URL.createObjectURL(new Blob(['x']))), /^blob:/);
  });

  test('two hundred long tasks are buffered, and no more', async (t) => {
    const page = await openHtml(t, '');
    const count = await page.evaluate(async () => {
      for (let i = 0; i < 205; i++) {
        await new Promise((resolve) => setTimeout(resolve));
        for (const end = performance.now() + 52; performance.now() < end; );
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
      return await new Promise((resolve) => {
        new PerformanceObserver((list) => resolve(list.getEntries().length)).observe({
          type: 'longtask',
          buffered: true,
        });
      });
    });
    assert.equal(count, 200);
  });
});
