// Memory that threads share, and addresses that buffers and memories reserve.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { host, openHtml } from './server.mjs';
import { WASM } from './page-limits.mjs';

suite('memory', () => {
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
});
