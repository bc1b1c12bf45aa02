// Limits on what a page may use beside memory: messages, entries, samples, cookies, object URLs.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';

import { PageHost } from '../index.mjs';
import { block, host, jsdom, openHtml, serve } from './server.mjs';

const ALLOW = { 'document-policy': 'js-profiling' };

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
        { timeout: 300_000 },
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
    // This thread handles nothing before the page has done all that it does, and said so to a server in another thread.
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
    const doAlone = async (script) => {
      Atomics.store(asked, 0, 0);
      await page.evaluate(`setTimeout(() => {
        for (let i = 0; i < 50_000; i++) { ${script} }
        fetch('http://127.0.0.1:${port}/', { mode: 'no-cors' }).catch(() => {});
      }, 100); 0`);
      assert.notEqual(Atomics.wait(asked, 0, 0, 180_000), 'timed-out');
    };
    await doAlone('console.log(i)');
    await page.evaluate('0');
    assert.ok(page.log.length > 0 && page.log.length < 25_000, `${page.log.length} lines`);
    // Of many requested navigations, the last one is performed.
    const navigated = new Promise((resolve) => page.on('navigated', (url) => url.endsWith('/next?999') && resolve()));
    await doAlone("if (i < 1_000) location.href = '/next?' + i;");
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
test('options of a host are numbers in their ranges', () => {
  const thrown = (options) => {
    try {
      new PageHost(options);
    } catch (error) {
      return String(error);
    }
  };
  for (const memoryLimit of [NaN, -1, 0, 63, 2 ** 21, Infinity])
    assert.equal(
      thrown({ memoryLimit }),
      `RangeError: the option \`memoryLimit\` is a number from 64 to 1048576, not ${memoryLimit}`,
    );
  assert.equal(thrown({ memoryLimit: '512' }), 'TypeError: the option `memoryLimit` is a number');
  for (const [name, least] of Object.entries({ sampleBudget: 1, threadLimit: 1, bodyLimit: 0, timeout: 0 })) {
    const message = `RangeError: the option \`${name}\` is a number of at least ${least}, not NaN`;
    assert.equal(thrown({ [name]: NaN }), message);
    assert.equal(thrown({ [name]: least - 1 }), message.replace('NaN', String(least - 1)));
  }
  assert.equal(thrown({ cookies: 'none' }), "TypeError: the option `cookies` is 'page' or 'host'");
  assert.equal(
    thrown({ ignoreCertificateErrors: 'false' }),
    'TypeError: the option `ignoreCertificateErrors` is true or false',
  );
});

test('a timeout or a listener that is refused leaves no page open', async (t) => {
  const pages = host(t);
  const page = await pages.open();
  for (const [timeout, error] of [
    [-1, 'RangeError: a timeout is at least 0 milliseconds, not -1'],
    [NaN, 'RangeError: a timeout is at least 0 milliseconds, not NaN'],
    ['5', 'TypeError: a timeout is a number of milliseconds'],
    [null, 'TypeError: a timeout is a number of milliseconds'],
    [Symbol('timeout'), 'TypeError: a timeout is a number of milliseconds'],
    [10n, 'TypeError: a timeout is a number of milliseconds'],
  ]) {
    const call = (work) => work().then(String, String);
    assert.equal(await call(() => page.evaluateIn({ timeout }, () => 1)), error);
    assert.equal(await call(() => page.navigate('about:blank', { timeout })), error);
    assert.equal(await call(() => page.setVisible(false, { timeout })), error);
    assert.equal(await call(() => pages.open('about:blank', { timeout })), error);
  }
  for (const on of [{ load: 5 }, { console: null }])
    await assert.rejects(pages.open('about:blank', { on }), /listener/);
  assert.deepEqual(pages.pages, [page]);
  assert.equal(await page.evaluate(() => 1 + 1), 2);
});

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

suite('cookies', () => {
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

  /** Makes object URLs and revokes them while the user's thread is busy. Returns how many there were, and how much the process grew, in bytes. */
  const makeAndRevoke = async (t, bytes, most) => {
    const page = await openHtml(t, '');
    const before = process.memoryUsage.rss();
    const flood = page.evaluate(
      (bytes, most) => {
        const blob = new Blob([new Uint8Array(bytes)], { type: `text/${'x'.repeat(900)}` });
        let made = 0;
        for (const end = performance.now() + 3_000; performance.now() < end && made < most; made++) {
          try {
            URL.revokeObjectURL(URL.createObjectURL(blob));
          } catch {
            break;
          }
        }
        return made;
      },
      bytes,
      most,
    );
    block(4_000);
    const grown = process.memoryUsage.rss() - before;
    const made = await flood;
    // Later there is room again.
    assert.match(await page.evaluate(() => URL.createObjectURL(new Blob(['x']))), /^blob:/);
    return { made, grown };
  };

  test('object URLs that are revoked at once do not fill memory until they are read', async (t) => {
    const { made, grown } = await makeAndRevoke(t, 50 << 20, 60);
    assert.ok(grown < 1_500 << 20, `${grown >> 20} MB`);
    assert.ok(made < 20);
  });

  test('object URLs without bytes that are revoked at once do not fill memory either', async (t) => {
    const { made, grown } = await makeAndRevoke(t, 0, Infinity);
    assert.ok(grown < 300 << 20, `${grown >> 20} MB`);
    assert.ok(made > 10_000 && made < 40_000, `${made} URLs`);
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
