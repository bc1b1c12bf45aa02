// Dedicated workers: what they have, what they may load, and how they end.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { suite, test } from 'node:test';

import { eventually, host, logged, open, openHtml, serve } from './server.mjs';

const ALLOW = { 'document-policy': 'js-profiling' };
const ISOLATED = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };

/** Source for pages: makes a worker from a URL or from text, and resolves with its first message or its error. */
const HEAR = `function textUrl(text) { return URL.createObjectURL(new Blob([text], { type: 'text/javascript' })); }
  function listen(worker) {
    return new Promise((resolve) => {
      worker.onmessage = (event) => resolve(event.data);
      worker.onerror = (event) => { event.preventDefault(); resolve(event instanceof ErrorEvent ? [event.message, event.filename, event.lineno, event.colno, event.error] : event.type); };
      worker.onmessageerror = () => resolve('messageerror');
    });
  }
  function hear(url, options) { const worker = new Worker(url, options); workers.push(worker); return listen(worker); }
  const workers = [];`;

const html = (body = '') => `<script>${HEAR}</script>${body}`;

/** Waits for an event after which a condition holds. */
async function until(page, type, isIt) {
  while (!isIt()) await once(page, type);
}

/** Waits until a page has so many workers. */
async function untilWorkers(page, count) {
  await eventually(async () => (await page.workers()).length === count);
}

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

suite('messages to and from a worker', () => {
  test('carry clones and transferred objects', async (t) => {
    const page = await openHtml(t, html(), {
      routes: {
        '/w.js': `onmessage = ({ data, ports, origin, source }) => {
          const buffer = data.buffer;
          ports[0].postMessage(['over the port', data.map.get('k'), data.date instanceof Date, data.error instanceof RangeError, new Uint8Array(buffer)[1], origin, source]);
          const mine = new ArrayBuffer(8);
          postMessage({ mine, blob: new Blob(['b']) }, [mine]);
          self.left = mine.byteLength;
        }`,
      },
    });
    const seen = await page.evaluate(async () => {
      const worker = new Worker('/w.js');
      const { port1, port2 } = new MessageChannel();
      const buffer = new Uint8Array([1, 2, 3]).buffer;
      const overPort = new Promise((resolve) => {
        port1.onmessage = ({ data }) => resolve(data);
      });
      worker.postMessage({ map: new Map([['k', 'v']]), date: new Date(), error: new RangeError('x'), buffer }, [
        buffer,
        port2,
      ]);
      const { mine, blob } = await listen(worker);
      return [buffer.byteLength, await overPort, mine.byteLength, mine instanceof ArrayBuffer, await blob.text()];
    });
    assert.deepEqual(seen, [0, ['over the port', 'v', true, true, 2, '', null], 8, true, 'b']);
    assert.equal(await page.evaluateIn({ frame: (await page.workers())[0].frame }, 'left'), 0);
  });

  test('that cannot be cloned are refused at the sender', async (t) => {
    const page = await openHtml(t, html(), {
      routes: {
        '/w.js':
          'let e; try { postMessage(() => {}) } catch (error) { e = error } postMessage([e.name, e instanceof DOMException])',
      },
    });
    assert.deepEqual(await page.evaluate("hear('/w.js')"), ['DataCloneError', true]);
    const refusals = await page.evaluate(() => {
      const [worker] = workers;
      return [
        () => worker.postMessage(Symbol()),
        () => worker.postMessage(1, [1]),
        () => worker.postMessage(),
        () => worker.postMessage(1, [new ArrayBuffer(1), {}]),
      ].map((send) => {
        try {
          send();
        } catch (error) {
          return error.name;
        }
        return 'sent';
      });
    });
    assert.deepEqual(refusals, ['DataCloneError', 'TypeError', 'TypeError', 'DataCloneError']);
  });

  test('are delivered in order after the script has run', async (t) => {
    const page = await openHtml(t, html(), {
      routes: {
        '/w.js':
          'const log = []; onmessage = ({ data }) => { log.push(data); if (data === 99) postMessage(log); }; log.push("script")',
        '/late.mjs':
          "const log = []; addEventListener('message', ({ data }) => { log.push(data); if (data === 99) postMessage(log); });",
      },
    });
    for (const script of ["new Worker('/w.js')", "new Worker('/late.mjs', { type: 'module' })"]) {
      const log = await page.evaluate(
        `(() => { const w = ${script}; for (let i = 0; i < 100; i++) w.postMessage(i); return listen(w); })()`,
      );
      assert.deepEqual(log.filter(Number.isInteger), [...Array(100).keys()]);
    }
  });

  test('share memory only if both sides are isolated', async (t) => {
    const worker = {
      body: 'onmessage = ({ data }) => { data[0] = 7; postMessage([data.buffer instanceof SharedArrayBuffer, crossOriginIsolated]) }',
      headers: ISOLATED,
    };
    const memory = {
      body: `onmessage = ({ data: { memory, view } }) => {
        view[0] = 9;
        postMessage([memory instanceof WebAssembly.Memory, memory.buffer === view.buffer, view.byteLength]);
      }`,
      headers: ISOLATED,
    };
    const page = await openHtml(t, html(), { headers: ISOLATED, routes: { '/w.js': worker, '/memory.js': memory } });
    const share = async () => {
      const view = new Int32Array(new SharedArrayBuffer(4));
      const worker = new Worker('/w.js');
      worker.postMessage(view);
      return [...(await listen(worker)), view[0]];
    };
    assert.deepEqual(await page.evaluate(share), [true, true, 7]);
    assert.deepEqual(
      await page.evaluate(() => {
        const memory = new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true });
        const worker = new Worker('/memory.js');
        worker.postMessage({ memory, view: new Uint8Array(memory.buffer) });
        return listen(worker).then((answer) => [...answer, new Uint8Array(memory.buffer)[0]]);
      }),
      [true, true, 65536, 9],
    );
    // A data: worker is in another agent cluster.
    assert.deepEqual(
      await page.evaluate(() => {
        const worker = new Worker(
          "data:text/javascript,onmessageerror = () => postMessage(['refused', crossOriginIsolated, typeof SharedArrayBuffer])",
        );
        worker.postMessage(new SharedArrayBuffer(4));
        return listen(worker);
      }),
      ['refused', false, 'undefined'],
    );
  });
});

suite('errors of a worker', () => {
  test('go to its own listeners, then to its object, then to the page', async (t) => {
    const page = await openHtml(t, html(), {
      routes: {
        '/throws.js': "onmessage = () => {\n  throw new Error('thrown');\n}",
        '/handles.js':
          "onerror = (...all) => { postMessage([all.length, all[0], all[2], all[4] instanceof Error, all[4].message]); return true; }; setTimeout(() => { throw new Error('handled') });",
        '/syntax.js': 'let 1',
      },
    });
    assert.deepEqual(
      await page.evaluate("(() => { const heard = hear('/throws.js'); workers[0].postMessage(0); return heard; })()"),
      ['Uncaught Error: thrown', page.server.url('/throws.js'), 2, 9, null],
    );
    assert.deepEqual(await page.evaluate("hear('/handles.js')"), [5, 'Uncaught Error: handled', 1, true, 'handled']);
    const [message, filename, lineno] = await page.evaluate("hear('/syntax.js')");
    assert.match(message, /^Uncaught SyntaxError/);
    assert.deepEqual([filename, lineno], [page.server.url('/syntax.js'), 1]);
    assert.deepEqual(page.errors, []);
    // An error that nothing handles is reported for the page.
    await page.evaluate(
      "addEventListener('error', (event) => console.log(event.message, event.error)); globalThis.w = new Worker('/throws.js'); w.postMessage(0); 0",
    );
    await until(page, 'pageerror', () => page.errors.length > 0);
    assert.deepEqual(page.log, ['Uncaught Error: thrown null']);
    const [{ message: told, filename: where, lineno: line, frame }] = page.errors;
    assert.deepEqual([told, where, line, frame], ['Uncaught Error: thrown', page.server.url('/throws.js'), 2, 0]);
  });

  test('propagate from nested workers', async (t) => {
    const page = await openHtml(t, html(), {
      routes: {
        '/outer.js': "new Worker('inner.js')",
        '/inner.js': "setTimeout(() => { throw new TypeError('deep') })",
      },
    });
    assert.equal((await page.evaluate("hear('/outer.js')"))[0], 'Uncaught TypeError: deep');
  });

  test('include unhandled rejections', async (t) => {
    const page = await openHtml(t, html(), {
      routes: {
        '/w.js': `onunhandledrejection = (event) => { postMessage([event instanceof PromiseRejectionEvent, event.reason.message, event.promise instanceof Promise]); event.preventDefault(); };
          Promise.reject(new Error('rejected'));`,
        '/quiet.js': "Promise.reject(new Error('nobody listens')); setTimeout(() => postMessage('goes on'), 1)",
      },
    });
    assert.deepEqual(await page.evaluate("hear('/w.js')"), [true, 'rejected', true]);
    assert.equal(await page.evaluate("hear('/quiet.js')"), 'goes on');
    await until(page, 'pageerror', () => page.errors.length > 0);
    assert.deepEqual(
      page.errors.map(({ message }) => message),
      ['Uncaught (in promise) Error: nobody listens'],
    );
  });

  test('are fired when it cannot be started', async (t) => {
    const foreign = await serve(t, {
      '/w.js': { body: 'postMessage(1)', headers: { 'access-control-allow-origin': '*' } },
    });
    const page = await openHtml(t, html(), {
      routes: {
        '/html': 'postMessage(1)',
        '/away.js': { status: 302, headers: { location: foreign.url('/w.js') } },
        '/imports.mjs': "import './none.mjs'",
        '/text.mjs': { body: 'postMessage(1)', headers: { 'content-type': 'text/plain' } },
      },
    });
    const attempt = (url, type = 'classic') => page.evaluate((...both) => hear(both[0], { type: both[1] }), url, type);
    for (const url of [
      '/none.js',
      '/html',
      '/away.js',
      foreign.url('/w.js'),
      'blob:nothing',
      'file:///etc/passwd',
      'ftp://example.test/',
    ]) {
      assert.equal(await attempt(url), 'error', url);
    }
    for (const url of ['/none.mjs', '/imports.mjs', '/text.mjs', foreign.url('/w.js'), 'data:text/plain,1'])
      assert.equal(await attempt(url, 'module'), 'error', url);
    assert.ok(
      page.problems.length === 12 && page.problems.every(({ kind }) => kind === 'worker'),
      JSON.stringify(page.problems),
    );
    assert.deepEqual(await page.workers(), []);
    const wrong = await page.evaluate(() =>
      [
        () => new Worker(),
        () => new Worker('http://['),
        () => new Worker('/w.js', { type: 'nonsense' }),
        () => new Worker('/w.js', 1),
        () => Worker('/w.js'),
      ].map((make) => {
        try {
          make();
        } catch (error) {
          return error.name;
        }
        return 'made';
      }),
    );
    assert.deepEqual(wrong, ['TypeError', 'SyntaxError', 'TypeError', 'TypeError', 'TypeError']);
  });
});

suite('importScripts()', () => {
  test('runs scripts at once, in order, and stops at the first that fails', async (t) => {
    const page = await openHtml(t, html(), {
      routes: {
        '/dir/w.js': `self.log = [];
          importScripts(); importScripts('one.js', '/two.js?q');
          const caught = [];
          for (const urls of [['one.js', 'none.js', 'one.js'], ['http://['], ['throws.js'], ['html']]) {
            try { importScripts(...urls); } catch (error) { caught.push(error.name, error instanceof DOMException || error instanceof Error); }
          }
          importScripts('data:text/javascript,log.push("data")');
          postMessage([log, caught]);`,
        '/dir/one.js': 'log.push("one")',
        '/two.js': 'log.push("two")',
        '/dir/throws.js': 'throw new RangeError("x")',
        '/dir/html': 'log.push("html")',
      },
    });
    assert.deepEqual(await page.evaluate("hear('/dir/w.js')"), [
      ['one', 'two', 'one', 'data'],
      ['NetworkError', true, 'SyntaxError', true, 'RangeError', true, 'NetworkError', true],
    ]);
  });

  test('keeps what a script of another origin throws from the worker', async (t) => {
    const foreign = await serve(t, {
      '/throws.js': "throw new Error('secret')",
      '/later.js': "setTimeout(() => { throw new Error('secret') }); self.ran = true",
      '/page.html': { body: 'x', headers: { 'content-type': 'text/html' } },
    });
    const page = await openHtml(t, html(), {
      routes: {
        '/w.js': `const [origin] = location.search.slice(1).split(',');
          let caught; try { importScripts(origin + '/throws.js') } catch (error) { caught = [error.name, error.message.includes('secret')] }
          try { importScripts(origin + '/page.html') } catch (error) { caught.push(error.name) }
          importScripts(origin + '/later.js'); postMessage([...caught, ran]);`,
      },
    });
    assert.deepEqual(await page.evaluate((origin) => hear(`/w.js?${origin}`), foreign.origin), [
      'NetworkError',
      false,
      'NetworkError',
      true,
    ]);
  });

  test('does not keep a worker from being ended', async (t) => {
    let arrived;
    const asked = new Promise((resolve) => (arrived = resolve));
    const page = await openHtml(t, html(), {
      routes: { '/w.js': "importScripts('/never.js')", '/never.js': () => (arrived(), new Promise(() => {})) },
    });
    await page.evaluate("globalThis.w = new Worker('/w.js'); 0");
    await asked;
    await page.evaluate('w.terminate()');
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

  test('and the page never has more than its limit', async (t) => {
    const page = await openHtml(t, html(), {
      routes: {
        '/w.js': 'postMessage(1); setInterval(() => {}, 1000)',
        '/nest.js': "postMessage(1); new Worker('/nest.js')",
      },
      host: host(t, { threadLimit: 3 }),
    });
    const outcomes = await page.evaluate(() => Promise.all(Array.from({ length: 50 }, () => hear('/w.js'))));
    assert.deepEqual(outcomes.filter((outcome) => outcome === 1).length, 2);
    assert.equal(outcomes.filter((outcome) => outcome === 'error').length, 48);
    assert.equal((await page.workers()).length, 2);
    // Workers that ended no longer count; nested ones do.
    await page.evaluate('for (const worker of workers) worker.terminate()');
    await untilWorkers(page, 0);
    await page.evaluate("hear('/nest.js')");
    await until(page, 'problem', () => page.problems.some(({ text }) => /3 threads/.test(text) && /nest/.test(text)));
    assert.equal((await page.workers()).length, 2);
  });
});

suite("a worker's policies", () => {
  test("decide whether it may profile, by its own header or its owner's", async (t) => {
    const attempt = `let outcome = 'allowed'; try { new Profiler({ sampleInterval: 10, maxBufferSize: 10 }).stop(); outcome += ' ' + Profiler.capabilities().mode } catch (e) { outcome = e.name }
      postMessage(outcome);`;
    const routes = {
      '/none.js': attempt,
      '/eager.js': { body: attempt, headers: ALLOW },
      '/lazy.js': { body: attempt, headers: { 'document-policy': 'js-profiling-mode=lazy' } },
    };
    const may = async (page) =>
      await page.evaluate(
        (text) =>
          Promise.all(
            ['/none.js', '/eager.js', '/lazy.js', textUrl(text), `data:text/javascript,${text}`].map((url) =>
              hear(url),
            ),
          ),
        attempt,
      );
    assert.deepEqual(await may(await openHtml(t, html(), { routes, headers: ALLOW })), [
      'NotAllowedError',
      'allowed eager',
      'allowed lazy',
      'allowed eager',
      'allowed eager',
    ]);
    assert.deepEqual(await may(await openHtml(t, html(), { routes })), [
      'NotAllowedError',
      'allowed eager',
      'allowed lazy',
      'NotAllowedError',
      'NotAllowedError',
    ]);
  });

  test('must allow its isolated owner, or it is not started', async (t) => {
    const says = 'postMessage(crossOriginIsolated)';
    const page = await openHtml(t, html(), {
      headers: ISOLATED,
      routes: { '/no.js': says, '/yes.js': { body: says, headers: ISOLATED } },
    });
    const outcomes = await page.evaluate(
      (text) =>
        Promise.all(['/no.js', '/yes.js', textUrl(text), `data:text/javascript,${text}`].map((url) => hear(url))),
      says,
    );
    assert.deepEqual(outcomes, ['error', true, true, false]);
    assert.match(page.problems[0].text, /Cross-Origin-Embedder-Policy/);
    const plain = await openHtml(t, html(), { routes: { '/yes.js': { body: says, headers: ISOLATED } } });
    assert.equal(await plain.evaluate("hear('/yes.js')"), false);
  });

  test('let a page from disk make workers from its folder', async (t) => {
    const { mkdtemp, writeFile, rm } = await import('node:fs/promises');
    const { tmpdir } = await import('node:os');
    const path = await import('node:path');
    const folder = await mkdtemp(path.join(tmpdir(), 'selfprof-'));
    t.after(() => rm(folder, { recursive: true }));
    await writeFile(path.join(folder, 'page.html'), html());
    await writeFile(path.join(folder, 'w.js'), 'postMessage(location.protocol)');
    const page = await open(t, path.join(folder, 'page.html'));
    assert.equal(await page.evaluate("hear('w.js')"), 'file:');
    assert.equal(await page.evaluate("hear('../../etc/passwd')"), 'error');
  });
});

suite('Profiler in a worker', () => {
  const SPIN = 'function spin(ms) { const end = performance.now() + ms; while (performance.now() < end); }';

  test("shows the worker's functions and no others", async (t) => {
    const foreign = await serve(t, { '/muted.js': `function muted(callback) { callback(); }` });
    const page = await openHtml(t, html(`<script>${SPIN} function ofPage() { spin(20); }</script>`), {
      headers: ALLOW,
      routes: {
        '/w.js': {
          headers: ALLOW,
          body: `${SPIN}
importScripts('/lib.js', location.search.slice(1));
onmessage = async () => {
  const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 10000 });
  function inWorker() { muted(function back() { inLibrary(); }); }
  inWorker();
  const stopped = profiler.stop();
  const end = performance.now();
  postMessage({ trace: await stopped, end });
};`,
        },
        '/lib.js': 'function inLibrary() { spin(60); }',
      },
    });
    const { trace, end } = await page.evaluate(async (script) => {
      const worker = new Worker(`/w.js?${script}`);
      worker.postMessage(0);
      ofPage();
      return await listen(worker);
    }, foreign.url('/muted.js'));
    const names = trace.frames.map(({ name }) => name);
    for (const name of ['inWorker', 'back', 'inLibrary', 'spin'])
      assert.ok(names.includes(name), `${name} in ${names}`);
    for (const name of ['muted', 'ofPage']) assert.ok(!names.includes(name), `${name} in ${names}`);
    assert.deepEqual(
      new Set(trace.resources),
      new Set([page.server.url(`/w.js?${foreign.url('/muted.js')}`), page.server.url('/lib.js')]),
    );
    assert.ok(trace.samples.length > 5);
    for (const { timestamp } of trace.samples) assert.ok(timestamp > 0 && timestamp <= end + 1);
  });

  test('takes forced samples, also in the background', async (t) => {
    const page = await openHtml(t, html(), {
      headers: ALLOW,
      routes: {
        '/w.js': {
          headers: ALLOW,
          body: "profiler = new Profiler({ sampleInterval: 2147483, maxBufferSize: 100 }); postMessage('ready')",
        },
      },
    });
    await page.evaluate("hear('/w.js')");
    const [{ frame }] = await page.workers();
    await page.forceSample({ frame });
    await page.setVisible(false);
    await page.forceSample({ frame });
    await page.forceSample();
    assert.equal(await page.evaluateIn({ frame }, async () => (await profiler.stop()).samples.length), 3);
  });

  test('has marks and measures of the worker', async (t) => {
    const page = await openHtml(t, html(), {
      headers: ALLOW,
      routes: {
        '/w.js': {
          headers: ALLOW,
          body: `(async () => {
            const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1000, includeEntries: true });
            const observed = new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries().map(({ name }) => name))).observe({ entryTypes: ['mark'] }));
            performance.mark('m'); performance.measure('d', 'm');
            postMessage([(await profiler.stop()).entries.map(({ name }) => name), performance.getEntriesByType('mark').length, await observed]);
          })()`,
        },
      },
    });
    assert.deepEqual(await page.evaluate("hear('/w.js')"), [['m', 'd'], 1, ['m']]);
  });

  test('ends with the worker, even while it records', async (t) => {
    const page = await openHtml(t, html(), {
      headers: ALLOW,
      routes: {
        '/w.js': {
          headers: ALLOW,
          body: "profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 100000 }); postMessage('ready'); for (;;);",
        },
      },
    });
    for (let i = 0; i < 5; i++) {
      assert.equal(await page.evaluate("hear('/w.js')"), 'ready');
      await page.evaluate('workers.at(-1).terminate()');
    }
    await untilWorkers(page, 0);
    assert.equal(await page.evaluate('1 + 1'), 2);
  });
});
