// What results, traces and messages may take of the user's thread that reads them.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { suite, test } from 'node:test';
import { promisify } from 'node:util';
import v8 from 'node:v8';
import { gunzipSync } from 'node:zlib';
import { eventually, host, jsdom, openHtml, serve } from './server.mjs';

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
        return new Set(Array.from({ length: 800 }, (_, n) => large + (BigInt(n) << 399_936n)));
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
});

suite('results', () => {
  /**
   * Runs in a page. Makes numbers whose hashes in V8 all end with the same bits, and a set of them: in one that has been large, they are
   * found in many chains.
   */
  function makeSet(count) {
    const FIXED_BITS = 16n;
    const WORD = 64n;
    const cut = (value) => BigInt.asUintN(64, value);
    const inverse = (factor) => {
      let found = factor;
      for (let step = 0; step < 7; step++) found = cut(found * (2n - factor * found));
      return found;
    };
    const unshift = (value, bits) => {
      let found = value;
      for (let at = 0n; at < WORD; at += bits) found = value ^ (found >> bits);
      return found;
    };
    const view = new DataView(new ArrayBuffer(8));
    const keys = [];
    for (let number = 1n; keys.length < count; number++) {
      let hash = unshift(cut(number << FIXED_BITS), 22n);
      hash = unshift(cut(hash * inverse(65n)), 11n);
      hash = unshift(cut(hash * inverse(21n)), 31n);
      view.setBigUint64(0, cut((hash + 1n) * inverse((1n << 18n) - 1n)));
      const key = view.getFloat64(0);
      if (!Number.isNaN(key) && !Number.isInteger(key)) keys.push(key);
    }
    const made = new Set(Array(2e6).keys());
    for (const key of keys) made.add(key);
    for (let other = 0; other < 2e6; other++) made.delete(other);
    return made;
  }

  test('that would take long to read are not read: a set of numbers that collide', { timeout: 240_000 }, async (t) => {
    const page = await openHtml(t, '', { host: host(t, { timeout: 180_000 }) });
    await page.evaluate(`globalThis.made = (${makeSet})(40_000); void 0`);
    assert.equal(await page.evaluate('made.size'), 40_000);
    await assert.rejects(
      page.evaluate(() => globalThis.made),
      /the result takes too long to read: \d+ ms for \d+ bytes/,
    );
    // Others are, and the page goes on.
    const others = await page.evaluate('new Map(Array.from({ length: 40_000 }, (_, at) => [at * 1.5, { at }]))');
    assert.equal(others.get(1.5).at, 1);
  });

  test('that would take long to read are not read: long texts, of which V8 hashes the length alone', {
    timeout: 240_000,
  }, async (t) => {
    const page = await openHtml(t, '', { host: host(t, { timeout: 180_000 }) });
    await page.evaluate(() => {
      const text = 'x'.repeat(16_384);
      globalThis.texts = Array.from({ length: 1_400 }, (_, at) => text + at.toString().padStart(4, '0'));
    });
    const message = /the result takes too long to read: \d+ ms for \d+ bytes/;
    await assert.rejects(page.evaluate('new Set(texts)'), message);
    await assert.rejects(
      page.evaluate('Object.fromEntries(texts.slice(0, 17).map((text) => [text, 1]))'),
      /the objects of the result have 17 keys of more than 16,383 bytes; 16 are allowed/,
    );
    // In a list, nobody looks for them.
    assert.equal((await page.evaluate('texts.slice(0, 500)')).length, 500);
  });

  test('that would take long to read are not read: what is beside a regular expression', {
    timeout: 240_000,
  }, async (t) => {
    const page = await openHtml(t, '', { host: host(t, { timeout: 180_000 }) });
    await page.evaluate(`globalThis.made = (${makeSet})(40_000); void 0`);
    /**
     * Runs in the page, too. V8 may put a byte before a text of two-byte characters: whoever overlooks that takes its tag for a length of 99,
     * and finds there the beginning of a text that has all the rest.
     */
    const disguise = (set, key, length) => {
      const bytes = new Uint8Array(120).fill(0x61);
      bytes.set([1, 0x22, length | 128, (length >> 7) | 128, (length >> 14) | 128, (length >> 21) & 127], 98);
      const units = Array.from({ length: 60 }, (_, at) => bytes[2 * at] | (bytes[2 * at + 1] << 8));
      return { [key]: new RegExp(String.fromCharCode(...units)), set };
    };
    const rest = (key) => {
      // As many bytes as that.
      const others = new Set(Array.from({ length: 40_000 }, (_, at) => at + 0.5));
      const bytes = v8.serialize(disguise(others, key, 0));
      return bytes.length - bytes.indexOf(Buffer.from([1, 0x22, 0x80, 0x80, 0x80, 0])) - 6;
    };
    for (const key of ['r', 'rr'])
      await assert.rejects(
        page.evaluate(`(${disguise})(made, '${key}', ${rest(key)})`),
        /the result takes too long to read/,
      );
  });

  test('have the bytes of files and blobs', async (t) => {
    const page = await openHtml(t, '');
    const blob = await page.evaluate("new Blob([new Uint8Array(20 << 20).fill(7), 'end'], { type: 'x/y' })");
    assert.equal(blob.size, (20 << 20) + 3);
    assert.equal(await blob.slice(-4).text(), '\x07end');
    const files = await page.evaluate("Array.from({ length: 3 }, (_, at) => new File(['text' + at], 'name' + at))");
    assert.deepEqual(await Promise.all(files.map(async (file) => [file.name, await file.text()])), [
      ['name0', 'text0'],
      ['name1', 'text1'],
      ['name2', 'text2'],
    ]);
  });

  test('have no more platform objects than it says', async (t) => {
    const page = await openHtml(t, '');
    const rectangles = (count) =>
      page.evaluate(
        (count) =>
          Array(count)
            .fill()
            .map(() => new DOMRect()),
        count,
      );
    await assert.rejects(rectangles(100_001), /more than 100000 platform objects cannot be sent/);
    assert.equal((await rectangles(1_000)).length, 1_000);
  });

  test('to another window have no more objects and buffers than it says', async (t) => {
    const page = await openHtml(
      t,
      `<iframe sandbox="allow-scripts" srcdoc="<script>onmessage = ({ data }) => console.log(data.length)</script>"></iframe>`,
    );
    await page.evaluate(() => {
      const send = (list, transfer = []) => frames[0].postMessage(list, '*', transfer);
      for (const count of [10_001, 10_000]) {
        send(Array.from({ length: count }, () => new DOMRect()));
        const buffers = Array.from({ length: count }, () => new ArrayBuffer(1));
        send(buffers, buffers);
      }
      send('the end');
    });
    await eventually(() => page.log.length === 3);
    assert.deepEqual(page.log, ['10000', '10000', '7']);
  });
});
