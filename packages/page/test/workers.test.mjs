// Dedicated workers: what they have, what they may load, and how they end.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { host, logged, openHtml } from './server.mjs';
import { html, until, untilWorkers } from './worker-pages.mjs';

suite('a worker', () => {
  test('from a blob: URL may profile if the document that makes it may', async (t) => {
    const probe = async () => {
      const mayProfile = () => {
        try {
          new Profiler({ sampleInterval: 10, maxBufferSize: 10 });
          return true;
        } catch {
          return false;
        }
      };
      const worker = new Worker(URL.createObjectURL(new Blob([`postMessage((${mayProfile})())`])));
      const { data } = await new Promise((resolve) => {
        worker.onmessage = resolve;
      });
      return [mayProfile(), data];
    };
    const allow = { 'document-policy': 'js-profiling' };
    for (const [headers, ofFrame] of [
      [allow, {}],
      [{}, allow],
    ]) {
      const routes = { '/frame': { body: '<p>', headers: ofFrame } };
      const page = await openHtml(t, '<iframe src="/frame"></iframe>', { headers, routes });
      const seen = [];
      for (const { frame } of await page.frames()) seen.push(await page.evaluateIn({ frame }, probe));
      const expected = headers === allow ? [true, false] : [false, true];
      assert.deepEqual(
        seen,
        expected.map((may) => [may, may]),
      );
    }
  });

  test('can be made from a blob: URL of its own sandboxed frame, and of no other one', async (t) => {
    const make = "URL.createObjectURL(new Blob(['postMessage(self.origin)']))";
    const start = (url) => `{
      const worker = new Worker(${url});
      worker.onmessage = ({ data }) => console.log(data);
      worker.onerror = () => console.log('error');
    }`;
    const page = await openHtml(t, '<body>');
    const url = await page.evaluate((script) => {
      const add = (html) =>
        document.body.append(
          Object.assign(document.createElement('iframe'), { sandbox: 'allow-scripts', srcdoc: html }),
        );
      add(`<script>${script}; parent.postMessage(URL.createObjectURL(new Blob(['postMessage(0)'])), '*')</script>`);
      return new Promise((resolve) => {
        window.onmessage = ({ data }) => resolve(data);
      });
    }, start(make));
    await logged(page, 'null');
    await page.evaluate(
      (script) => {
        const frame = Object.assign(document.createElement('iframe'), { sandbox: 'allow-scripts' });
        frame.srcdoc = `<script>${script}</script>`;
        document.body.append(frame);
      },
      start(`'${url}'`),
    );
    await logged(page, 'error');
    assert.deepEqual(page.log, ['null', 'error']);
  });

  test('can be made from an http:, blob: or data: URL', async (t) => {
    const page = await openHtml(t, html(), {
      routes: { '/dir/w.js': 'postMessage([location.href, origin, typeof window, typeof document])' },
    });
    assert.deepEqual(await page.evaluate("hear('dir/w.js#fragment')"), [
      page.server.url('/dir/w.js#fragment'),
      page.server.origin,
      'undefined',
      'undefined',
    ]);
    const [href, origin] = await page.evaluate("hear(textUrl('postMessage([location.href, origin])'))");
    assert.match(href, new RegExp(`^blob:${page.server.origin}/`));
    assert.equal(origin, page.server.origin);
    assert.deepEqual(
      await page.evaluate("hear('data:text/javascript,postMessage([location.href, origin, isSecureContext])')"),
      ['data:text/javascript,postMessage([location.href, origin, isSecureContext])', 'null', true],
    );
  });

  test('is a classic script or a module, with the features of each', async (t) => {
    const page = await openHtml(t, html(), {
      routes: {
        '/m.mjs': `import { value } from './lib/part.mjs'; import json from './data.json' with { type: 'json' };
          let error; try { importScripts('/classic.js') } catch (e) { error = e instanceof TypeError }
          const { late } = await import('./lib/late.mjs');
          postMessage([value, json.n, late, import.meta.url, typeof this, error]);`,
        '/lib/part.mjs': 'export const value = 1',
        '/lib/late.mjs': 'export const late = 2',
        '/data.json': '{ "n": 3 }',
        '/classic.js':
          "self.top_level = typeof this; import('./lib/late.mjs').then(({ late }) => postMessage([late, self.top_level]))",
      },
    });
    assert.deepEqual(await page.evaluate("hear('/m.mjs', { type: 'module' })"), [
      1,
      3,
      2,
      page.server.url('/m.mjs'),
      'undefined',
      true,
    ]);
    assert.deepEqual(
      await page.evaluate(
        "hear(textUrl('import { value } from \"' + location.origin + '/lib/part.mjs\"; postMessage(value)'), { type: 'module' })",
      ),
      1,
    );
    assert.deepEqual(await page.evaluate("hear('/classic.js')"), [2, 'object']);
  });

  test("has the standard's global object", async (t) => {
    const page = await openHtml(t, html(), {
      routes: {
        '/w.js': `const names = ['AbortController', 'Blob', 'Event', 'FormData', 'Headers', 'MessageChannel', 'Request', 'TextDecoder', 'URL',
            'URLSearchParams', 'WorkerLocation', 'WorkerNavigator', 'atob', 'crypto', 'fetch', 'performance', 'queueMicrotask', 'reportError',
            'setInterval', 'structuredClone', 'PerformanceObserver', 'Profiler', 'Worker'];
          const missing = names.filter((name) => !(name in self));
          const foreign = ['process', 'require', 'Window', 'document', 'localStorage', 'alert', 'HTMLElement', 'setImmediate', 'Buffer'].filter((name) => name in self);
          let illegal = 0;
          for (const make of [() => new WorkerGlobalScope(), () => new DedicatedWorkerGlobalScope(), () => new WorkerLocation(), () => new WorkerNavigator()]) {
            try { make() } catch (e) { illegal += e instanceof TypeError }
          }
          postMessage({
            missing, foreign, illegal, name, global: self === globalThis && this === self,
            chain: [self instanceof DedicatedWorkerGlobalScope, self instanceof WorkerGlobalScope, self instanceof EventTarget, self instanceof Object],
            text: [self, location, navigator, crypto].map((o) => Object.prototype.toString.call(o)),
            location: [String(location), location.pathname, location.search, location.hash, location.host],
            navigator: [navigator.userAgent, navigator.onLine],
            timing: [typeof performance.timing, typeof PerformanceTiming, performance instanceof EventTarget],
            code: [atob(btoa('abc')), new TextDecoder().decode(new TextEncoder().encode('é')), crypto.getRandomValues(new Uint8Array(3)).length, structuredClone(new Map([[1, 2]])).get(1)],
          });`,
      },
      host: host(t, { userAgent: 'tests' }),
    });
    const seen = await page.evaluate("hear('/w.js?q#h', { name: 'called' })");
    const { host: authority } = new URL(page.server.origin);
    assert.deepEqual(seen, {
      missing: [],
      foreign: [],
      illegal: 4,
      name: 'called',
      global: true,
      chain: [true, true, true, true],
      text: [
        '[object DedicatedWorkerGlobalScope]',
        '[object WorkerLocation]',
        '[object WorkerNavigator]',
        '[object Crypto]',
      ],
      location: [page.server.url('/w.js?q#h'), '/w.js', '?q', '#h', authority],
      navigator: ['tests', true],
      timing: ['undefined', 'undefined', true],
      code: ['abc', 'é', 3, 2],
    });
  });

  test('runs beside its page, with its own clock', async (t) => {
    const page = await openHtml(t, html(), {
      routes: { '/w.js': 'onmessage = ({ data }) => postMessage([data, performance.now(), performance.timeOrigin])' },
    });
    const [[before, made, after], [echo, now, origin]] = await page.evaluate(async () => {
      const epoch = () => performance.timeOrigin + performance.now();
      const times = [epoch()];
      const worker = new Worker('/w.js');
      times.push(epoch());
      worker.postMessage('hello');
      const answer = await listen(worker);
      return [[...times, epoch()], answer];
    });
    assert.equal(echo, 'hello');
    // Its time origin is its creation, and both clocks run at the same rate.
    assert.ok(origin >= before - 1 && origin <= made + 1, `${before} ${origin} ${made}`);
    assert.ok(origin + now >= made - 1 && origin + now <= after + 1, `${made} ${origin + now} ${after}`);
    // Both are busy at the same time.
    await page.evaluate(
      `globalThis.busy = new Worker(textUrl('onmessage = () => { for (;;); }')); busy.postMessage(0); 0`,
    );
    assert.equal(await page.evaluate('1 + 1'), 2);
  });

  test('has timers, microtasks, and can compile text', async (t) => {
    const page = await openHtml(t, html(), {
      routes: {
        '/w.js': `const log = [];
          setTimeout((a, b) => log.push('timer ' + a + b), 1, 1, 2);
          const cleared = setTimeout(() => log.push('cleared'), 1); clearTimeout(cleared);
          setTimeout("log.push('text')", 2);
          queueMicrotask(() => log.push('microtask'));
          let count = 0;
          const id = setInterval(() => { if (++count === 3) { clearInterval(id); setTimeout(() => postMessage(log), 20); } }, 2);
          log.push('script');`,
      },
    });
    assert.deepEqual(await page.evaluate("hear('/w.js')"), ['script', 'microtask', 'timer 12', 'text']);
  });

  test('fetches as its page does, and has File and FormData', async (t) => {
    const page = await openHtml(t, html(), {
      routes: {
        '/dir/w.js': `(async () => {
          const form = new FormData(); form.append('file', new File(['in a file'], 'f.txt')); form.append('key', 'value');
          let wrong; try { new FormData({}) } catch (e) { wrong = e instanceof TypeError }
          const reader = new FileReader();
          const read = new Promise((resolve) => { reader.onload = () => resolve(reader.result) });
          reader.readAsText(new Blob(['in a blob']));
          const own = URL.createObjectURL(new Blob(['of a blob']));
          postMessage([
            await (await fetch('text')).text(), await (await fetch('/echo', { method: 'POST', body: form })).text(), wrong, await read,
            await (await fetch(own)).text(), await fetch('blob:nothing').catch((e) => e instanceof TypeError),
          ]);
        })()`,
        '/dir/text': 'beside it',
        '/echo': async () => ({ body: 'received' }),
      },
    });
    assert.deepEqual(await page.evaluate("hear('/dir/w.js')"), [
      'beside it',
      'received',
      true,
      'in a blob',
      'of a blob',
      true,
    ]);
    const [sent] = page.server.requests.filter(({ url }) => url === '/echo');
    assert.match(sent.body, /filename="f.txt"[\s\S]*in a file[\s\S]*name="key"[\s\S]*value/);
    assert.equal(sent.headers.referer, page.server.url('/dir/w.js'));
  });

  test('can use object URLs of its page, and its page those of the worker', async (t) => {
    const page = await openHtml(t, html(), {
      routes: {
        '/w.js': `onmessage = async ({ data }) => {
          importScripts(data.script);
          postMessage([await (await fetch(data.text)).text(), self.imported, URL.createObjectURL(new Blob(['of the worker']))]);
        }`,
      },
    });
    const [text, imported, url] = await page.evaluate(async () => {
      const worker = new Worker('/w.js');
      worker.postMessage({
        text: URL.createObjectURL(new Blob(['of the page'])),
        script: textUrl('self.imported = true'),
      });
      const answer = await listen(worker);
      globalThis.theirs = await (await fetch(answer[2])).text();
      worker.terminate();
      return answer;
    });
    assert.deepEqual([text, imported, await page.evaluate('theirs')], ['of the page', true, 'of the worker']);
    // It ends with the worker.
    await untilWorkers(page, 0);
    assert.equal(
      await page.evaluate(
        (gone) =>
          fetch(gone).then(
            () => 'there',
            () => 'gone',
          ),
        url,
      ),
      'gone',
    );
    // A URL that is revoked right after `new Worker()` still works.
    assert.equal(
      await page.evaluate(
        "(() => { const url = textUrl('postMessage(1)'); const heard = hear(url); URL.revokeObjectURL(url); return heard; })()",
      ),
      1,
    );
  });

  test('can make workers, which end with it', async (t) => {
    const page = await openHtml(t, html(), {
      routes: {
        '/outer.js':
          "const inner = new Worker('inner.js', { name: 'inner' }); inner.onmessage = ({ data }) => postMessage(['outer', data]);",
        '/inner.js': "postMessage(name + ' ' + location.pathname)",
      },
    });
    assert.deepEqual(await page.evaluate("hear('/outer.js', { name: 'outer' })"), ['outer', 'inner /inner.js']);
    const [outer, inner] = await page.workers();
    assert.deepEqual(
      [outer, inner].map(({ name, type, parent }) => [name, type, parent]),
      [
        ['outer', 'classic', 0],
        ['inner', 'classic', outer.frame],
      ],
    );
    assert.equal(await page.evaluateIn({ frame: inner.frame }, () => self.name), 'inner');
    await page.evaluate('workers[0].terminate()');
    await untilWorkers(page, 0);
  });
});

test('a window that is closed starts no worker, which nobody would end', async (t) => {
  const page = await openHtml(t, '<body>', { routes: { '/frame': '<p>', '/worker.js': 'postMessage(1)' } });
  const event = await page.evaluate(async () => {
    const frame = Object.assign(document.createElement('iframe'), { src: '/frame' });
    await new Promise((resolve) => {
      frame.onload = resolve;
      document.body.append(frame);
    });
    const { Worker } = frame.contentWindow;
    frame.remove();
    const worker = new Worker(new URL('/worker.js', location.href));
    return await new Promise((resolve) => {
      worker.onmessage = worker.onerror = ({ type }) => resolve(type);
    });
  });
  assert.equal(event, 'error');
  assert.deepEqual(await page.workers(), []);
});

suite('a worker ends', () => {
  test('when it is terminated, whatever it is doing', async (t) => {
    const page = await openHtml(t, html(), {
      routes: {
        '/loop.js': "postMessage('begin'); for (;;);",
        '/echo.js': 'onmessage = ({ data }) => postMessage(data)',
        '/burst.js': 'for (let i = 0; i < 10; i++) postMessage(i)',
      },
    });
    assert.equal(await page.evaluate("hear('/loop.js')"), 'begin');
    await page.evaluate('workers[0].terminate(); workers[0].terminate(); workers[0].postMessage(1)');
    await untilWorkers(page, 0);
    // No more messages arrive.
    await page.evaluate(async () => {
      const worker = new Worker('/burst.js');
      globalThis.received = 0;
      await new Promise((resolve) => {
        worker.onmessage = () => {
          globalThis.received += 1;
          if (globalThis.received === 3) resolve(worker.terminate());
        };
      });
    });
    await untilWorkers(page, 0);
    assert.equal(await page.evaluate('received'), 3);
    // Before its script runs.
    await page.evaluate("new Worker('/echo.js').terminate()");
    await untilWorkers(page, 0);
  });

  test('when it closes itself, after the current task', async (t) => {
    const page = await openHtml(t, html(), {
      routes: {
        '/w.js':
          "setTimeout(() => postMessage('timer')); close(); postMessage('after close'); Promise.resolve().then(() => postMessage('microtask'))",
        '/load.js': 'close()',
      },
    });
    const heard = await page.evaluate(() => {
      const all = [];
      const worker = new Worker('/w.js');
      return new Promise((resolve) => {
        worker.onmessage = ({ data }) => {
          if (all.push(data) === 2) resolve(all);
        };
      });
    });
    await untilWorkers(page, 0);
    assert.deepEqual(heard, ['after close', 'microtask']);
    // As soon as it has started.
    await page.evaluate("globalThis.loaded = new Worker('/load.js'); 0");
    await untilWorkers(page, 1);
    await untilWorkers(page, 0);
  });

  test('with the document that made it', async (t) => {
    const page = await openHtml(t, html('<iframe src="/child"></iframe>'), {
      routes: {
        '/child': html("<script>hear('/w.js').then(() => console.log('runs'))</script>"),
        '/w.js': 'postMessage(1); setInterval(() => {}, 1)',
      },
    });
    await until(page, 'console', () => page.log.includes('runs'));
    const [{ parent }] = await page.workers();
    assert.equal((await page.frames()).find(({ frame }) => frame === parent).url, page.server.url('/child'));
    await page.evaluate("document.querySelector('iframe').remove()");
    await untilWorkers(page, 0);
    await page.evaluate("hear('/w.js')");
    await page.navigate(page.server.url('/child'), { waitUntil: 'commit' });
    await page.close();
    assert.deepEqual(await page.workers(), []);
  });

  test('when its memory is full, and its page continues', async (t) => {
    const page = await openHtml(t, html(), {
      routes: { '/w.js': 'const all = []; for (;;) all.push(new Array(10000).fill(Math.random()))' },
      host: host(t, { memoryLimit: 64 }),
    });
    assert.equal(await page.evaluate("hear('/w.js')"), 'error');
    assert.ok(
      page.problems.some(({ kind, text }) => kind === 'crash' && /memory/.test(text)),
      JSON.stringify(page.problems),
    );
    assert.equal(await page.evaluate('1 + 1'), 2);
  });
});
