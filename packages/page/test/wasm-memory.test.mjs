// The memory of WebAssembly: modules, types, machine code and tables.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import vm from 'node:vm';
import { eventually, host, openHtml, watchMemory } from './server.mjs';
import { WASM, crashOf } from './page-limits.mjs';

suite('memory', () => {
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

  test('of stacks that wait for promises is not needed: WebAssembly does not wait', async (t) => {
    const page = await openHtml(t, '');
    const names = await page.evaluate(() => Object.getOwnPropertyNames(WebAssembly));
    assert.ok(names.includes('instantiate'));
    assert.doesNotMatch(names.join(), /promising|suspend/i);
  });
});
