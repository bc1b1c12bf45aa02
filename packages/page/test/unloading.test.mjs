// What happens to a document that another one replaces, or whose frame is removed.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { eventually, host, logged, open, openHtml, serve, until } from './server.mjs';

/** Logs the last events of a document. */
const LISTENERS = (name) => `<script>
  for (const type of ['beforeunload', 'pagehide', 'visibilitychange', 'unload'])
    addEventListener(type, (e) => {
      const { bubbles, cancelable, persisted, isTrusted } = e;
      console.log('${name}', type, e.constructor.name, e.target === document, document.visibilityState, [bubbles, cancelable, isTrusted, persisted].join(' '));
    });
</script>`;

/** As Chromium fires them, without its back/forward cache. */
const last = (name, { isNavigation = true } = {}) => [
  ...(isNavigation ? [`${name} beforeunload BeforeUnloadEvent true visible false true true `] : []),
  `${name} pagehide PageTransitionEvent true visible true true true false`,
  `${name} visibilitychange Event true hidden true false true `,
  `${name} unload Event true hidden false false true `,
];

const FRAMES = {
  '/': `${LISTENERS('page')}<iframe src="/child"></iframe><iframe src="/other"></iframe>`,
  '/child': `${LISTENERS('child')}<iframe src="/inner"></iframe>`,
  '/inner': LISTENERS('inner'),
  '/other': LISTENERS('other'),
  '/next': 'next',
};

suite('the last events of a document', () => {
  test('are fired when another document replaces it, for it and for its frames', async (t) => {
    const server = await serve(t, FRAMES);
    const page = await open(t, server.url('/'));
    await page.evaluate(() => {
      document.querySelectorAll('iframe')[1].src = '/next';
    });
    await logged(page, ...last('other'));
    assert.deepEqual(page.log.splice(0), last('other'));
    await page.navigate(server.url('/next'));
    const [pageFirst, ...pageRest] = last('page');
    const [childFirst, ...childRest] = last('child');
    const [innerFirst, ...innerRest] = last('inner');
    assert.deepEqual(page.log, [pageFirst, childFirst, innerFirst, ...pageRest, ...childRest, ...innerRest]);
  });

  test('are fired when its frame is removed', async (t) => {
    const server = await serve(t, FRAMES);
    const page = await open(t, server.url('/'));
    await page.evaluate(() => {
      const frame = document.querySelector('iframe');
      const { contentWindow } = frame;
      contentWindow.addEventListener('pagehide', () => console.log(frame.contentWindow === contentWindow));
      frame.remove();
      console.log('removed');
    });
    const [pagehide, ...rest] = last('child', { isNavigation: false });
    assert.deepEqual(page.log, [pagehide, 'true', ...rest, ...last('inner', { isNavigation: false }), 'removed']);
  });

  test('are fired in frames of other origins', async (t) => {
    const foreign = await serve(t, FRAMES);
    const page = await openHtml(t, `<iframe src="${foreign.url('/inner')}"></iframe>`);
    await page.navigate('about:blank');
    assert.deepEqual(page.log, last('inner'));
  });

  test('come before the page is hidden, only once', async (t) => {
    const page = await openHtml(t, LISTENERS('page'));
    await page.setVisible(false);
    await page.navigate('about:blank');
    assert.deepEqual(
      page.log.filter((line) => line.includes('visibilitychange')),
      ['page visibilitychange Event true hidden true false true '],
    );
  });

  test('may change the frame that is removed or navigated', async (t) => {
    const page = await openHtml(t, '', { routes: { '/a': 'a', '/b': 'b' } });
    const seen = await page.evaluate(async () => {
      const add = (src) =>
        new Promise((resolve) => {
          const frame = Object.assign(document.createElement('iframe'), { src, onload: () => resolve(frame) });
          document.body.append(frame);
        });
      const seen = [];
      const removed = await add('/a');
      removed.contentWindow.onpagehide = () => {
        seen.push('removed');
        removed.remove();
        removed.src = '/b';
      };
      removed.remove();
      const navigated = await add('/a');
      navigated.contentWindow.onpagehide = () => {
        seen.push('navigated');
        navigated.remove();
      };
      navigated.src = '/b';
      // Whatever they would show is there before this one.
      (await add('/b')).remove();
      return [...seen, removed.contentWindow, navigated.contentWindow, length];
    });
    assert.deepEqual(seen, ['removed', 'navigated', null, null, 0]);
    assert.equal((await page.frames()).length, 1);
  });
});

suite('a document that is unloaded', () => {
  test('cannot keep its page from leaving', async (t) => {
    const server = await serve(t, {
      '/': `<script>
        addEventListener('beforeunload', (e) => { e.preventDefault(); e.returnValue = 'stay'; return 'stay'; });
        addEventListener('pagehide', () => { location.href = '/elsewhere'; document.body.append(Object.assign(document.createElement('iframe'), { src: '/elsewhere' })); });
        addEventListener('unload', () => { throw new Error('stay'); });
      </script>`,
      '/loop': '<script>addEventListener("pagehide", () => { for (;;); })</script>',
      '/next': '<title>next</title>',
      '/elsewhere': '',
    });
    const page = await open(t, server.url('/'));
    await page.navigate(server.url('/next'));
    assert.equal(await page.evaluate('document.title'), 'next');
    await page.navigate(server.url('/loop'));
    const began = performance.now();
    await page.navigate(server.url('/next'));
    assert.ok(performance.now() - began < 20_000);
    assert.equal(await page.evaluate('document.title'), 'next');
    assert.equal(page.url, server.url('/next'));
    assert.equal((await page.frames()).length, 1);
  });

  test('cannot keep its user from leaving by going elsewhere meanwhile', async (t) => {
    const server = await serve(t, {
      '/next': () => new Promise((resolve) => setTimeout(resolve, 300, '<title>next</title>')),
      '*': {
        headers: { 'content-type': 'text/html' },
        body: '<script>setInterval(() => { location.href = `/?${Math.random()}`; }, 10)</script>',
      },
    });
    const page = await open(t, server.url('/'), { waitUntil: 'commit' });
    for (let round = 0; round < 3; round++) {
      await page.navigate(server.url('/next'));
      assert.equal(await page.evaluate('document.title'), 'next');
      await page.navigate(server.url('/'), { waitUntil: 'commit' });
    }
  });

  test('goes where it asked to go last, however many servers before do not answer', async (t) => {
    const server = await serve(t, {
      '/': '<p></p>',
      '/last': '<title>last</title>',
      '/never': () => new Promise(() => {}),
    });
    const page = await open(t, server.url('/'));
    const asked = () => server.requests.filter(({ url }) => url.startsWith('/never')).length;
    for (let round = 1; round <= 6; round++) {
      await page.evaluate((round) => {
        location.href = `/never?${round}`;
      }, round);
      await eventually(() => asked() === round);
    }
    await page.evaluate(() => {
      location.href = '/last';
    });
    await eventually(() => page.url === server.url('/last'));
  });
});

suite('what a document sends last', () => {
  const SEND = `<script>
    const send = (type) => {
      navigator.sendBeacon('/beacon?' + type, 'profile');
      fetch('/kept?' + type, { method: 'POST', body: 'profile', keepalive: true });
      fetch('/lost?' + type, { method: 'POST', body: 'profile' });
    };
    for (const type of ['pagehide', 'visibilitychange', 'unload']) addEventListener(type, () => send(type));
  </script>`;
  const sent = ({ requests }) =>
    requests
      .filter(({ method }) => method === 'POST')
      .map(({ url, body }) => `${url} ${body}`)
      .filter((line) => !line.startsWith('/lost'))
      .sort();
  const expected = ['pagehide', 'unload', 'visibilitychange']
    .flatMap((type) => [`/beacon?${type} profile`, `/kept?${type} profile`])
    .sort();
  /** Answers late, when the document is long gone. */
  const late = () => new Promise((resolve) => setTimeout(resolve, 300, ''));

  test('arrives when another document replaces it', async (t) => {
    const server = await serve(t, { '/': SEND, '/next': '', '*': late });
    const page = await open(t, server.url('/'));
    await page.navigate(server.url('/next'));
    await until(page, () => sent(server).length === expected.length);
    assert.deepEqual(sent(server), expected);
  });

  test('arrives when its page, or its host, is closed', async (t) => {
    for (const close of [(page) => page.close(), (_page, pages) => pages.close()]) {
      const server = await serve(t, { '/': SEND, '*': late });
      const pages = host(t);
      const page = await open(t, server.url('/'), { host: pages });
      await close(page, pages);
      await pages.close();
      assert.deepEqual(sent(server), expected);
    }
  });

  test('arrives from a frame that is removed, of this origin or another', async (t) => {
    const server = await serve(t, { '/': SEND, '*': late });
    const page = await openHtml(t, `<iframe src="/frame"></iframe><iframe src="${server.url('/')}"></iframe>`, {
      routes: { '/frame': SEND, '*': late },
    });
    await page.evaluate("for (const frame of document.querySelectorAll('iframe')) frame.remove()");
    await until(page, () => [server, page.server].every((one) => sent(one).length === expected.length));
    assert.deepEqual([sent(server), sent(page.server)], [expected, expected]);
  });

  test('is limited, as is what it keeps sending', async (t) => {
    const page = await openHtml(t, '', { routes: { '*': late } });
    const seen = await page.evaluate(async () => {
      const post = (size) =>
        fetch('/kept', { method: 'POST', body: 'x'.repeat(size), keepalive: true }).then(
          ({ status }) => status,
          (error) => error.message,
        );
      const together = await Promise.all([post(40_000), post(24_000), post(2_000)]);
      return [
        navigator.sendBeacon('/beacon', 'x'.repeat(65_537)),
        ...together,
        await post(65_536),
        await post(65_537),
        performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/kept')).length > 0,
      ];
    });
    assert.deepEqual(seen, [false, 200, 200, 'Failed to fetch', 200, 'Failed to fetch', true]);
  });

  test('does not wait for that of another page', async (t) => {
    const server = await serve(t, { '/wait': () => new Promise(() => {}), '*': 'answer' });
    const pages = host(t);
    const [busy, other] = [
      await open(t, server.url('/'), { host: pages }),
      await open(t, server.url('/'), { host: pages }),
    ];
    await busy.evaluate(() => {
      for (let count = 0; count < 100; count++) fetch('/wait', { keepalive: true }).catch(() => {});
    });
    await eventually(() => server.requests.filter(({ url }) => url === '/wait').length >= 6);
    assert.equal(await other.evaluate("fetch('/', { keepalive: true }).then((response) => response.text())"), 'answer');
  });

  test('ends with its host, also what waits for a connection', async (t) => {
    const sockets = new Set();
    const server = await serve(t, {
      '/wait': ({ socket }) => {
        sockets.add(socket);
        return new Promise(() => {});
      },
      '*': '',
    });
    const pages = host(t);
    const page = await open(t, server.url('/'), { host: pages });
    await page.evaluate(() => {
      for (let count = 0; count < 100; count++) fetch('/wait', { keepalive: true }).catch(() => {});
    });
    await eventually(() => sockets.size >= 6);
    await pages.close();
    await eventually(() => [...sockets].every((socket) => socket.destroyed));
    await open(t, server.url('/'));
    assert.ok(server.requests.filter(({ url }) => url === '/wait').length < 100);
  });

  test('comes with the cookies of its document, and under its rules', async (t) => {
    const victim = await serve(t, { '*': '' });
    const page = await openHtml(
      t,
      `<script>
        document.cookie = 'a=1';
        addEventListener('pagehide', () => {
          document.cookie = 'b=2';
          navigator.sendBeacon('/own', 'x');
          fetch('${victim.url('/')}', { method: 'PUT', keepalive: true, headers: { 'x-own': '1' } });
        });
      </script>`,
      { routes: { '/own': '' } },
    );
    await page.navigate('about:blank');
    await until(page, () => page.server.requests.length === 2 && victim.requests.length === 1);
    assert.equal(page.server.requests[1].headers.cookie, 'a=1; b=2');
    assert.deepEqual([victim.requests[0].method, victim.requests[0].headers.origin], ['OPTIONS', page.server.origin]);
  });
});
