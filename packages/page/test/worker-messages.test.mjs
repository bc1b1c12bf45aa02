// Messages to and from dedicated workers, their errors, and the scripts that they import.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { openHtml, serve } from './server.mjs';
import { html, until, untilWorkers } from './worker-pages.mjs';

const ISOLATED = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };

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
