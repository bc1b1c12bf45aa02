// Opens and closes many pages, frames and workers, and counts what the host keeps.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { suite, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';

import { eventually, host, open, openHtml, openInThisProcess, serve } from './server.mjs';

openInThisProcess();

const require = createRequire(import.meta.url);
const { watched } = require('../src/host/memory-watch.cjs');
const { contextOf } = require('../src/host/page-host.cjs');
const { internalsOf } = require('../src/host/page.cjs');

v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc');

/** The stacks that crates/v8/shim/full_stack.cc watches: each has a megabyte that nobody may use. */
const watchedStacks = () => {
  const maps = fs.readFileSync('/proc/self/maps', 'utf8').matchAll(/^([0-9a-f]+)-([0-9a-f]+) ---p/gm);
  return [...maps].filter(([, begin, end]) => parseInt(end, 16) - parseInt(begin, 16) === 1 << 20).length;
};

const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)]);

suite('nothing is kept', () => {
  test('from other pages by frames that wait for their server', async (t) => {
    const sockets = new Set();
    const server = await serve(t, {
      '/': 'the page',
      '/frames': '<iframe src="/waiting"></iframe>'.repeat(20),
      '/waiting': ({ socket }) => {
        sockets.add(socket);
        return new Promise(() => {});
      },
    });
    const pages = host(t, { timeout: 20_000 });
    const first = await open(t, server.url('/frames'), { host: pages, waitUntil: 'commit' });
    await eventually(() => sockets.size === 16);
    const second = await open(t, server.url('/'), { host: pages });
    assert.equal(await second.evaluate('document.body.textContent'), 'the page');
    await first.navigate(server.url('/'));
    await first.close();
    await eventually(() => [...sockets].every((socket) => socket.destroyed));
    assert.equal(await second.evaluate('fetch("/").then((response) => response.text())'), 'the page');
  });

  test('of pages that were closed', async (t) => {
    const foreign = await serve(t, { '*': '<script>URL.createObjectURL(new Blob(["x"]))</script>' });
    const server = await serve(t, {
      '/': `<iframe src="/child"></iframe><iframe src="${foreign.url('/')}"></iframe>
        <script>new Worker('/w.js'); URL.createObjectURL(new Blob(['x']))</script>`,
      '/child': '',
      '/w.js': 'setInterval(() => {})',
      '/endless': '<script>console.log("endless"); for (;;);</script>',
    });
    const pages = host(t, { timeout: 120_000 });
    // Threads of the test before end a moment after their page.
    await eventually(() => watched.size === 0);
    const listenersBefore = listeners();
    const stacksBefore = watchedStacks();
    /** In a function, so that no variable refers to the page afterwards. */
    const openAndClose = async () => {
      const page = await open(t, server.url('/'), { host: pages });
      await eventually(async () => (await page.workers()).length === 1);
      await page.navigate(server.url('/'));
      // A worker that is being started would end a moment after the page.
      await eventually(async () => (await page.workers()).length === 1);
      const { threads } = internalsOf(page);
      assert.ok(watchedStacks() >= stacksBefore + 3);
      await page.close();
      assert.deepEqual(threads.counts, { threads: 0, reserved: 0, windows: 0, blobs: 0, workers: 0 });
      return new WeakRef(page);
    };
    const closed = [];
    for (let i = 0; i < 2; i++) closed.push(await openAndClose());
    const endless = await open(t, server.url('/endless'), { host: pages, waitUntil: 'commit' });
    if (endless.log.length === 0) await once(endless, 'console');
    await endless.close();
    await assert.rejects(pages.open('http://127.0.0.1:1/'), { name: 'NetworkError' });
    assert.deepEqual(pages.pages, []);
    await eventually(() => contextOf(pages).threads === 0);
    assert.equal(watched.size, 0);
    await eventually(() => watchedStacks() === stacksBefore);
    assert.deepEqual(listeners(), listenersBefore);
    await eventually(() => {
      collectGarbage();
      return closed.every((reference) => reference.deref() === undefined);
    });
  });

  test('of frames of another origin, when the frame around them goes', async (t) => {
    const foreign = await serve(t, { '/': '', '/slow': () => new Promise(() => {}) });
    const page = await openHtml(t, '', {
      host: host(t, { timeout: 120_000 }),
      routes: { '/around': `<iframe src="${foreign.url('/')}"></iframe>`, '/other': '' },
    });
    const { threads } = internalsOf(page);
    const none = { threads: 1, reserved: 0, windows: 1, blobs: 0, workers: 0 };
    for (const end of [
      'frame.remove()',
      "frame.src = '/other'",
      "frame.contentWindow.location = '/other'",
      "document.documentElement.textContent = ''",
    ]) {
      await page.evaluate(() => {
        globalThis.frame = document.documentElement.appendChild(document.createElement('iframe'));
        frame.src = '/around';
        return new Promise((resolve) => {
          frame.onload = () => resolve();
        });
      });
      await eventually(() => threads.counts.threads === 2);
      await page.evaluate(end);
      await eventually(() => threads.counts.threads === 1);
      await page.evaluate('frame.remove()');
      await eventually(() => threads.counts.windows === 1);
    }
    // The frame goes from the other origin to an empty document of the page.
    for (const end of ["frame.src = 'about:blank'", "frame.removeAttribute('src')", "frame.srcdoc = ''"]) {
      await page.evaluate((url) => {
        globalThis.frame = document.documentElement.appendChild(document.createElement('iframe'));
        frame.src = url;
        return new Promise((resolve) => {
          frame.onload = () => resolve();
        });
      }, foreign.url('/'));
      assert.equal(threads.counts.threads, 2);
      assert.ok(await page.evaluate(`${end}; frame.contentWindow === frame.contentDocument.defaultView`), end);
      await eventually(() => threads.counts.threads === 1);
      await page.evaluate('frame.remove()');
      await eventually(() => threads.counts.windows === 1);
    }
    // The document is opened while the page is busy, and the page does not wait for it any more.
    await page.evaluate((url) => {
      const frame = document.documentElement.appendChild(document.createElement('iframe'));
      frame.src = url;
      for (const end = Date.now() + 3_000; Date.now() < end; );
      frame.remove();
    }, foreign.url('/'));
    await eventually(() => {
      const { reserved, threads: count } = threads.counts;
      return reserved === 0 && count === 1;
    });
    // It waits for its document when the frame around it goes.
    await page.evaluate((url) => {
      const frame = document.documentElement.appendChild(document.createElement('iframe'));
      frame.contentDocument.body.appendChild(document.createElement('iframe')).src = url;
    }, foreign.url('/slow'));
    await eventually(() => foreign.requests.some(({ url }) => url === '/slow'));
    const [top] = threads.all();
    assert.equal(top.frameRequests.size, 1);
    await page.evaluate("document.querySelector('iframe').remove()");
    await eventually(() => top.frameRequests.size === 0);
    assert.deepEqual(threads.counts, none);
  });

  test('of a frame that a listener of its document moves, while it goes to another origin', async (t) => {
    const foreign = await serve(t, { '/': '' });
    const page = await openHtml(t, '<div id="one"></div><div id="two"></div>', {
      routes: { '/inner': '<script>onpagehide = () => parent.move()</script>' },
    });
    const { threads } = internalsOf(page);
    await page.evaluate(
      (url) =>
        new Promise((resolve) => {
          const frame = document.createElement('iframe');
          globalThis.move = () => {
            document.getElementById('two').append(frame);
            resolve();
          };
          frame.onload = () => {
            frame.onload = null;
            frame.src = url;
          };
          frame.src = '/inner';
          document.getElementById('one').append(frame);
        }),
      foreign.url('/'),
    );
    // It loads what its attribute says at its new place.
    await eventually(() => foreign.requests.length === 2 && threads.counts.threads === 2);
    assert.equal(await page.evaluate('frames.length'), 1);
    await page.evaluate("document.querySelector('iframe').remove()");
    await eventually(() => threads.counts.threads === 1 && threads.counts.reserved === 0);
  });

  test('of frames and workers that ended, while their page stays', async (t) => {
    const foreign = await serve(t, { '*': '' });
    const page = await openHtml(t, '', {
      // A round starts three threads, which takes long on a slow machine.
      host: host(t, { timeout: 120_000 }),
      routes: { '/own': '', '/w.js': 'postMessage(1)', '/none.js': { status: 404 }, '/close.js': 'close()' },
    });
    const { threads } = internalsOf(page);
    const round = async () => {
      await page.evaluate(async (url) => {
        for (const source of ['/own', url]) {
          const frame = document.documentElement.appendChild(document.createElement('iframe'));
          const loaded = new Promise((resolve) => {
            frame.onload = resolve;
          });
          frame.src = source;
          await loaded;
          frame.remove();
        }
        const worker = new Worker('/w.js');
        await new Promise((resolve) => {
          worker.onmessage = resolve;
        });
        worker.terminate();
        new Worker('/close.js');
        await new Promise((resolve) => {
          new Worker('/none.js').onerror = resolve;
        });
        const blob = URL.createObjectURL(new Blob(['x']));
        await (await fetch(blob)).text();
        URL.revokeObjectURL(blob);
      }, foreign.url('/'));
      await eventually(() => threads.counts.threads === 1 && threads.counts.workers === 0);
    };
    await round();
    // That of the page itself. A thread is watched until it has ended, a moment after what ran in it.
    await eventually(() => watched.size === 1);
    const listenersBefore = listeners();
    const [main] = threads.all();
    const awaitedBefore = main.handle.awaited;
    for (let i = 0; i < 3; i++) await round();
    await eventually(() => threads.counts.blobs === 0 && threads.counts.windows === 1);
    assert.deepEqual(threads.counts, { threads: 1, reserved: 0, windows: 1, blobs: 0, workers: 0 });
    assert.deepEqual([...main.windows.keys()], [0]);
    assert.equal(main.handle.awaited, awaitedBefore);
    await eventually(() => watched.size === 1);
    assert.deepEqual(listeners(), listenersBefore);
  });

  test('of answers that came too late', async (t) => {
    const page = await openHtml(t, '');
    const [{ handle }] = internalsOf(page).threads.all();
    for (let i = 0; i < 5; i++) {
      await assert.rejects(
        page.evaluateIn({ timeout: 10 }, () => new Promise(() => {})),
        { name: 'TimeoutError' },
      );
    }
    await page.evaluate('1');
    assert.equal(handle.awaited, 0);
  });
});

test('a page ends while callbacks of its finalization registries are due', async (t) => {
  const server = await serve(t, {
    '/': `<body><script>
      onload = () => {
        const registries = [];
        for (let i = 0; i < 8; i++) {
          const frame = document.body.appendChild(document.createElement('iframe'));
          registries.push(new frame.contentWindow.FinalizationRegistry(() => {}));
        }
        console.log('begins');
        // V8 collects garbage meanwhile, and the callbacks wait for the end of the loop.
        for (;;) {
          for (const registry of registries) registry.register({}, 'value');
          for (let i = 0; i < 300; i++) registries.garbage = { i };
        }
      };
    </script>`,
  });
  const pages = host(t, { timeout: 120_000 });
  for (let i = 0; i < 3; i++) {
    const page = await open(t, server.url('/'), { host: pages, waitUntil: 'commit' });
    if (page.log.length === 0) await once(page, 'console');
    // Enough for V8 to collect garbage a few times.
    await setTimeout(200);
    await page.close();
  }
  await eventually(() => contextOf(pages).threads === 0);
});
