// Opens and closes many pages, frames and workers, and counts what is left.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import v8 from 'node:v8';
import vm from 'node:vm';

import { countThreads, eventually, host, open, openHtml, serve } from './server.mjs';

v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc');

const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)]);

/** Does something again and again, and checks that no thread is left by each time after the first. */
async function checkThreads(round, count = 1) {
  await round();
  let threads = countThreads();
  // Those of the first round may still be ending.
  await eventually(() => {
    const before = threads;
    threads = countThreads();
    return threads === before;
  });
  for (let i = 0; i < count; i++) await round();
  await eventually(() => countThreads() <= threads);
}

suite('nothing is left', () => {
  test('for other pages to wait for, by frames that wait for their server', async (t) => {
    const sockets = new Set();
    const server = await serve(t, {
      '/': 'the page',
      '/frames': '<iframe src="/waiting"></iframe>'.repeat(20),
      '/waiting': ({ socket }) => {
        sockets.add(socket);
        return new Promise(() => {});
      },
    });
    const pages = host(t);
    const first = await open(t, server.url('/frames'), { host: pages, waitUntil: 'commit' });
    await eventually(() => sockets.size >= 6);
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
    const pages = host(t);
    const closed = [];
    const round = async () => {
      const page = await open(t, server.url('/'), { host: pages });
      await eventually(async () => (await page.workers()).length === 1);
      await page.navigate(server.url('/'));
      // A worker that is being started would end a moment after the page.
      await eventually(async () => (await page.workers()).length === 1);
      await page.close();
      assert.deepEqual([await page.frames(), await page.workers()], [[], []]);
      const endless = await open(t, server.url('/endless'), { host: pages, waitUntil: 'commit' });
      if (endless.log.length === 0) await once(endless, 'console');
      await endless.close();
      await assert.rejects(pages.open('http://127.0.0.1:1/'), { name: 'NetworkError' });
      closed.push(new WeakRef(page), new WeakRef(endless));
    };
    const listenersBefore = listeners();
    await checkThreads(round);
    assert.deepEqual(pages.pages, []);
    assert.deepEqual(listeners(), listenersBefore);
    await eventually(() => {
      collectGarbage();
      return closed.every((reference) => reference.deref() === undefined);
    });
  });

  test('of frames of another origin, when the frame around them goes', async (t) => {
    const foreign = await serve(t, { '/': '', '/slow': () => new Promise(() => {}) });
    const page = await openHtml(t, '', {
      routes: { '/around': `<iframe src="${foreign.url('/')}"></iframe>`, '/other': '' },
    });
    const hasFrames = (count) => eventually(async () => (await page.frames()).length === 1 + count);
    const round = async () => {
      for (const [src, end] of [
        ['/around', 'frame.remove()'],
        ['/around', "frame.src = '/other'"],
        ['/around', "frame.contentWindow.location = '/other'"],
        ['/around', "document.documentElement.textContent = ''"],
        // The frame goes from the other origin to an empty document of the page.
        [foreign.url('/'), "frame.src = 'about:blank'"],
        [foreign.url('/'), "frame.removeAttribute('src')"],
        [foreign.url('/'), "frame.srcdoc = ''"],
      ]) {
        await page.evaluate((src) => {
          globalThis.frame = document.documentElement.appendChild(document.createElement('iframe'));
          frame.src = src;
          return new Promise((resolve) => {
            frame.onload = () => resolve();
          });
        }, src);
        await hasFrames(src === '/around' ? 2 : 1);
        const isFrame = await page.evaluate(`${end}; frame.isConnected`);
        await hasFrames(isFrame ? 1 : 0);
        if (isFrame && src !== '/around')
          assert.ok(await page.evaluate('frame.contentWindow === frame.contentDocument.defaultView'), end);
        await page.evaluate('frame.remove()');
        await hasFrames(0);
      }
      // The document is opened while the page is busy, and the page does not wait for it any more.
      await page.evaluate((url) => {
        const frame = document.documentElement.appendChild(document.createElement('iframe'));
        frame.src = url;
        for (const end = Date.now() + 500; Date.now() < end; );
        frame.remove();
      }, foreign.url('/'));
      await hasFrames(0);
    };
    await checkThreads(round);
    // It waits for its document when the frame around it goes.
    let socket;
    foreign.routes['/slow'] = (request) => {
      socket = request.socket;
      return new Promise(() => {});
    };
    await page.evaluate((url) => {
      const frame = document.documentElement.appendChild(document.createElement('iframe'));
      frame.contentDocument.body.appendChild(document.createElement('iframe')).src = url;
    }, foreign.url('/slow'));
    await eventually(() => socket !== undefined);
    await page.evaluate("document.querySelector('iframe').remove()");
    await eventually(() => socket.destroyed);
    await hasFrames(0);
  });

  test('of a frame that a listener of its document moves, while it goes to another origin', async (t) => {
    const foreign = await serve(t, { '/': '' });
    const page = await openHtml(t, '<div id="one"></div><div id="two"></div>', {
      routes: { '/inner': '<script>onpagehide = () => parent.move()</script>' },
    });
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
    await eventually(async () => foreign.requests.length === 2 && (await page.frames()).length === 2);
    assert.equal(await page.evaluate('frames.length'), 1);
    await page.evaluate("document.querySelector('iframe').remove()");
    await eventually(async () => (await page.frames()).length === 1);
  });

  test('of frames and workers that ended, while their page stays', async (t) => {
    const foreign = await serve(t, { '*': '' });
    const page = await openHtml(t, '', {
      routes: { '/own': '', '/w.js': 'postMessage(1)', '/none.js': { status: 404 }, '/close.js': 'close()' },
    });
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
      await eventually(async () => (await page.frames()).length === 1 && (await page.workers()).length === 0);
    };
    await checkThreads(round, 2);
    const [{ frame, parent }] = await page.frames();
    assert.deepEqual([frame, parent], [0, undefined]);
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
        // V8 collects garbage meanwhile, and the callbacks wait for the end of the loop.
        for (let round = 1; ; round++) {
          for (const registry of registries) registry.register({}, 'value');
          for (let i = 0; i < 300; i++) registries.garbage = { i };
          if (round % 10_000 === 0) console.log('garbage was collected');
        }
      };
    </script>`,
  });
  const pages = host(t);
  for (let i = 0; i < 3; i++) {
    const page = await open(t, server.url('/'), { host: pages, waitUntil: 'commit' });
    if (page.log.length === 0) await once(page, 'console');
    await page.close();
  }
  assert.deepEqual(pages.pages, []);
  const page = await open(t, 'about:blank', { host: pages });
  assert.equal(await page.evaluate('1 + 1'), 2);
});
