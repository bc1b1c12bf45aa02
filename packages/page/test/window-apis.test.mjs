// What windows have in addition to jsdom: messages, structured clone, object URLs, the clock, secure and isolated
// contexts. fetch() has a file of its own.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { host, openHtml, serve, until } from './server.mjs';

const ISOLATED = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };

suite('a window', () => {
  test('is a secure context or not', async (t) => {
    const server = await serve(t, { '/': '' });
    const pages = host(t, { hosts: { 'site.test': '127.0.0.1' } });
    const secure = async (url) => await (await pages.open(url)).evaluate('isSecureContext');
    assert.equal(await secure(server.url('/')), true);
    assert.equal(await secure(`http://site.test:${server.port}/`), false);
    assert.equal(await secure('about:blank'), false);
  });

  test("is cross-origin isolated by its page's two headers, in a secure context", async (t) => {
    const server = await serve(t, {
      '/isolated': { headers: ISOLATED },
      '/credentialless': { headers: { ...ISOLATED, 'cross-origin-embedder-policy': 'credentialless' } },
      '/opener': { headers: { 'cross-origin-opener-policy': 'same-origin' } },
      '/embedder': { headers: { 'cross-origin-embedder-policy': 'require-corp' } },
      '/frame': { headers: ISOLATED, body: '<iframe src="/embedder"></iframe><iframe></iframe>' },
    });
    const pages = host(t, { hosts: { 'site.test': '127.0.0.1' } });
    const state = () => [
      crossOriginIsolated,
      typeof SharedArrayBuffer,
      [...Array(length).keys()].map((i) => frames[i].crossOriginIsolated).join(),
    ];
    const isolated = async (url) => await (await pages.open(url)).evaluate(state);
    assert.deepEqual(await isolated(server.url('/isolated')), [true, 'function', '']);
    assert.deepEqual(await isolated(server.url('/credentialless')), [true, 'function', '']);
    assert.deepEqual(await isolated(server.url('/opener')), [false, 'undefined', '']);
    assert.deepEqual(await isolated(server.url('/embedder')), [false, 'undefined', '']);
    assert.deepEqual(await isolated(`http://site.test:${server.port}/isolated`), [false, 'undefined', '']);
    assert.deepEqual(await isolated(server.url('/frame')), [true, 'function', 'true,true']);
  });

  test("has properties with WebIDL's attributes", async (t) => {
    const page = await openHtml(t, '');
    const describe = (name) => {
      const { value, get, set, ...attributes } = Object.getOwnPropertyDescriptor(window, name);
      return [typeof value, typeof get, typeof set, attributes.enumerable, attributes.configurable].join();
    };
    for (const [name, expected] of Object.entries({
      fetch: 'function,undefined,undefined,true,true',
      structuredClone: 'function,undefined,undefined,true,true',
      isSecureContext: 'undefined,function,undefined,true,true',
      performance: 'undefined,function,function,true,true',
      MessageChannel: 'function,undefined,undefined,false,true',
      Request: 'function,undefined,undefined,false,true',
      PerformanceObserver: 'function,undefined,undefined,false,true',
    })) {
      assert.equal(await page.evaluate(describe, name), expected, name);
    }
    assert.equal(
      await page.evaluate(() =>
        [fetch.length, structuredClone.length, Object.prototype.toString.call(new MessageChannel().port1)].join(),
      ),
      '1,1,[object MessagePort]',
    );
  });

  test('has no globals of Node, nor its modules', async (t) => {
    const page = await openHtml(t, '');
    const names = `process require module exports Buffer global setImmediate __filename node gc`.split(' ');
    assert.deepEqual(await page.evaluate((list) => list.filter((name) => name in window), names), []);
    for (const specifier of ['node:process', 'process', 'file:///etc/passwd'])
      await assert.rejects(page.evaluate(`import('${specifier}')`), { name: 'PageError', errorName: 'TypeError' });
    assert.equal(await page.evaluate("eval('1 + 1') + new Function('return 1')() + Function('return 1')()"), 4);
  });
});

suite('performance', () => {
  test('counts from the navigation, separately in each frame', async (t) => {
    const page = await openHtml(
      t,
      '<script>var first = performance.now(), epoch = Date.now() - performance.timeOrigin, second = performance.now()</script>',
    );
    const [times, frame] = await page.evaluate(async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      const child = document.documentElement.appendChild(document.createElement('iframe')).contentWindow;
      const before = performance.now();
      const inChild = child.performance.now();
      const after = performance.now();
      const origins = child.performance.timeOrigin - performance.timeOrigin;
      return [
        [first, epoch, second],
        [before - inChild, origins, after - inChild],
      ];
    });
    // The clocks are read one after the other, and Date.now() is in whole milliseconds.
    const isBetween = ([least, value, most]) => value > least - 5 && value < most + 5;
    assert.ok(times[0] > 0 && isBetween(times), times.join());
    assert.ok(frame[0] > 45 && isBetween(frame), frame.join());
  });

  test("has marks, measures, observers and the times of the page's loading", async (t) => {
    const page = await openHtml(
      t,
      "<script>performance.mark('early'); new PerformanceObserver((list) => console.log(list.getEntries().map((e) => e.name + ' ' + e.detail?.a).join())).observe({ type: 'mark', buffered: true })</script>",
    );
    await page.evaluate(() => {
      performance.mark('m', { detail: { a: 1 } });
      performance.measure('since', 'domLoading', 'm');
    });
    await until(page, () => page.log.join().includes('m 1'));
    assert.match(page.log.join(), /early undefined/);
    assert.match(page.log.join(), /m 1/);
    const [types, timing, realm] = await page.evaluate(() => [
      performance.getEntriesByName('since').map(({ duration }) => duration > 0),
      [
        'navigationStart',
        'domLoading',
        'domInteractive',
        'domContentLoadedEventStart',
        'domComplete',
        'loadEventStart',
        'loadEventEnd',
      ].map((name) => performance.timing[name]),
      [
        performance instanceof EventTarget,
        performance.getEntries() instanceof Array,
        performance.mark('x') instanceof PerformanceMark,
        performance.constructor === Performance,
      ],
    ]);
    assert.deepEqual(types, [true]);
    assert.deepEqual(
      timing,
      timing.toSorted((a, b) => a - b),
    );
    assert.ok(
      timing.every((time) => Math.abs(time - Date.now()) < 60_000),
      timing.join(),
    );
    assert.deepEqual(realm, [true, true, true, true]);
    assert.equal(
      await page.evaluate(() => {
        performance = 1;
        return performance;
      }),
      1,
    );
  });
});

suite('structuredClone', () => {
  test("creates values of the window's realm", async (t) => {
    const page = await openHtml(t, '');
    assert.deepEqual(
      await page.evaluate(async () => {
        const cyclic = { list: [1] };
        cyclic.self = cyclic;
        const copy = structuredClone(cyclic);
        const buffer = new ArrayBuffer(4);
        const moved = structuredClone({ buffer, view: new Uint8Array(buffer, 1, 2) }, { transfer: [buffer] });
        const file = structuredClone(new File(['text'], 'n.txt', { type: 'text/plain' }));
        const error = structuredClone(new RangeError('r', { cause: 1 }));
        const rect = structuredClone(new DOMRect(1, 2, 3, 4));
        return [
          copy !== cyclic && copy.self === copy && copy.list instanceof Array,
          buffer.byteLength,
          moved.view.buffer === moved.buffer,
          moved.view.byteOffset,
          file instanceof File && file.name,
          await file.text(),
          error instanceof RangeError && error.message,
          error.cause,
          rect instanceof DOMRect && rect.width,
          structuredClone(new DOMException('m', 'AbortError')).name,
          structuredClone(
            Object.create({ inherited: 1 }, { own: { value: 1, enumerable: true }, hidden: { value: 1 } }),
          ),
        ];
      }),
      [true, 0, true, 1, 'n.txt', 'text', 'r', 1, 3, 'AbortError', { own: 1 }],
    );
  });

  test('refuses what cannot be cloned', async (t) => {
    const page = await openHtml(t, '<p>');
    assert.deepEqual(
      await page.evaluate(() => {
        const attempt = (work) => {
          try {
            work();
            return 'cloned';
          } catch (error) {
            return `${error.name} ${error instanceof DOMException}`;
          }
        };
        const detached = new ArrayBuffer(1);
        structuredClone(detached, { transfer: [detached] });
        return [
          () => structuredClone(() => {}),
          () => structuredClone(document.querySelector('p')),
          () => structuredClone(window),
          () => structuredClone(detached),
          () => structuredClone(1, { transfer: [{}] }),
          () => structuredClone(new MessageChannel().port1),
          () => structuredClone(Symbol()),
          () => structuredClone(new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]))),
          () => structuredClone(new WebAssembly.Memory({ initial: 1 })),
          () =>
            structuredClone({
              get x() {
                throw new RangeError('x');
              },
            }),
          () => structuredClone(),
        ].map(attempt);
      }),
      [...Array(9).fill('DataCloneError true'), 'RangeError false', 'TypeError false'],
    );
  });
});

suite('messages', () => {
  test('are delivered in order once the port has a listener', async (t) => {
    const page = await openHtml(t, '');
    assert.deepEqual(
      await page.evaluate(async () => {
        const { port1, port2 } = new MessageChannel();
        port1.postMessage(1);
        port1.postMessage({ two: [2] });
        const got = [];
        const done = new Promise((resolve) => {
          port2.onmessage = (event) => {
            got.push(event.data, event instanceof MessageEvent, event.target === port2, event.isTrusted);
            if (got.length === 8) resolve();
          };
        });
        await done;
        port2.close();
        port1.postMessage('lost');
        const other = new MessageChannel();
        await new Promise((resolve) => {
          other.port2.onmessage = resolve;
          other.port1.postMessage('arrives');
        });
        return got;
      }),
      [1, true, true, true, { two: [2] }, true, true, true],
    );
  });

  test('transfer ports, also to windows of other origins', async (t) => {
    const foreign = await serve(t, {
      '/': '<script>onmessage = ({ data, ports }) => { ports[0].onmessage = (e) => ports[0].postMessage([data, e.data, e.ports.length]); };</script>',
    });
    const page = await openHtml(t, `<iframe src="${foreign.url('/')}"></iframe><iframe src="/own"></iframe>`, {
      routes: {
        '/own':
          '<script>onmessage = ({ data, ports, origin, source }) => ports[0].postMessage([data, origin === location.origin, source !== null]);</script>',
      },
    });
    assert.deepEqual(
      await page.evaluate(async () => {
        const ask = (window, value, then) => {
          const { port1, port2 } = new MessageChannel();
          window.postMessage(value, '*', [port2]);
          if (then !== undefined) port1.postMessage(then);
          return new Promise((resolve) => {
            port1.onmessage = ({ data }) => resolve(data);
          });
        };
        return [await ask(frames[0], 'a', 'b'), await ask(frames[1], 'c')];
      }),
      [
        ['a', 'b', 0],
        ['c', true, true],
      ],
    );
  });

  test('of a window to itself are clones', async (t) => {
    const page = await openHtml(t, '');
    assert.deepEqual(
      await page.evaluate(
        () =>
          new Promise((resolve) => {
            const sent = { list: [1] };
            addEventListener('message', ({ data, origin }) =>
              resolve([data.list[0], data !== sent, data instanceof Object, origin === location.origin]),
            );
            postMessage(sent, '*');
            postMessage('for others', 'http://other.test');
            sent.list[0] = 2;
          }),
      ),
      [1, true, true, true],
    );
  });
});

suite('object URLs', () => {
  test('name blobs until they are revoked', async (t) => {
    const page = await openHtml(t, '');
    assert.deepEqual(
      await page.evaluate(async () => {
        const url = URL.createObjectURL(new Blob(["console.log('from a blob')"], { type: 'text/javascript' }));
        const load = () =>
          new Promise((resolve) => {
            const script = Object.assign(document.createElement('script'), {
              src: url,
              onload: () => resolve('loaded'),
              onerror: () => resolve('failed'),
            });
            document.head.append(script);
          });
        const text = await (await fetch(url)).text();
        const module = await import(url);
        const results = [url.startsWith(`blob:${origin}/`), text.length, typeof module, await load()];
        URL.revokeObjectURL(url);
        results.push(await load(), await fetch(url).catch((error) => error.name));
        try {
          URL.createObjectURL({});
        } catch (error) {
          results.push(error.name);
        }
        return results;
      }),
      [true, 26, 'object', 'loaded', 'failed', 'TypeError', 'TypeError'],
    );
    assert.deepEqual(page.log, ['from a blob', 'from a blob']);
  });

  test('cannot be used by other origins', async (t) => {
    const foreign = await serve(t, {
      '/': '<script>onmessage = ({ data, source, origin }) => fetch(data).then((r) => r.text(), (e) => e.name).then((text) => source.postMessage(text, origin));</script>',
    });
    const page = await openHtml(t, `<iframe src="${foreign.url('/')}"></iframe>`);
    assert.equal(
      await page.evaluate(() => {
        frames[0].postMessage(URL.createObjectURL(new Blob(['secret'])), '*');
        return new Promise((resolve) => addEventListener('message', ({ data }) => resolve(data)));
      }),
      'TypeError',
    );
  });
});
