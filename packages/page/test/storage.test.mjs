// localStorage and sessionStorage: how long they live, and who has them.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { host, logged, open, openHtml, serve } from './server.mjs';

const ITEMS = () => [{ ...localStorage }, { ...sessionStorage }];

suite('storage', () => {
  test('lives as long as the page, for each origin', async (t) => {
    const [server, foreign] = [await serve(t, { '*': '' }), await serve(t, { '*': '' })];
    const page = await open(t, server.url('/'));
    await page.evaluate(() => {
      localStorage.gone = '1';
      localStorage.clear();
      Object.assign(localStorage, { a: '1', b: '2', c: '3' });
      sessionStorage.setItem('s', 'x');
      addEventListener('unload', () => {
        localStorage.b = 'last';
        localStorage.removeItem('c');
      });
    });
    const kept = [{ a: '1', b: 'last' }, { s: 'x' }];
    await page.navigate(server.url('/next'));
    assert.deepEqual(await page.evaluate(ITEMS), kept);
    await page.navigate(foreign.url('/'));
    assert.deepEqual(await page.evaluate(ITEMS), [{}, {}]);
    await page.evaluate("localStorage.a = 'foreign'");
    await page.navigate('about:blank');
    await assert.rejects(page.evaluate('localStorage'), /SecurityError|opaque/);
    await page.navigate(server.url('/'));
    assert.deepEqual(await page.evaluate(ITEMS), kept);
    await page.navigate(foreign.url('/'));
    assert.deepEqual(await page.evaluate(ITEMS), [{ a: 'foreign' }, {}]);
  });

  test('belongs to a page, unless its host shares it with the cookies', async (t) => {
    const server = await serve(t, { '*': '' });
    for (const [cookies, seen] of [
      ['page', [{}, {}]],
      ['host', [{ a: '1' }, {}]],
    ]) {
      const pages = host(t, { cookies });
      const page = await open(t, server.url('/'), { host: pages });
      await page.evaluate("localStorage.a = sessionStorage.a = '1'");
      await page.close();
      const other = await open(t, server.url('/'), { host: pages });
      assert.deepEqual(await other.evaluate(ITEMS), seen, cookies);
    }
  });

  test('is shared by the windows of an origin in a page, also in different threads', async (t) => {
    const server = await serve(t, { '*': '' });
    const between = await serve(t, {
      '/': `<iframe src="${server.url('/inner')}"></iframe>`,
    });
    server.routes['/inner'] = `<script>
      addEventListener('storage', (e) => console.log('inner', e.key, e.oldValue, e.newValue, e.url === 'SERVER/', e.storageArea === localStorage, localStorage.a));
      console.log('inner has', localStorage.a);
    </script>`.replace('SERVER', server.origin);
    server.routes['/'] = `<script>
      localStorage.a = '1';
      addEventListener('storage', (e) => console.log('page', e.key, e.newValue));
    </script>
    <iframe src="${between.url('/')}"></iframe><iframe src="/same"></iframe>`;
    const page = await open(t, server.url('/'));
    await logged(page, 'inner has 1');
    await page.evaluate("localStorage.a = '2'");
    await logged(page, 'inner a 1 2 true true 2');
    await page.evaluate("frames[1].localStorage.b = '3'");
    await logged(page, 'page b 3', 'inner b null 3 true true 2');
    const inner = (await page.frames()).find(({ url }) => url.endsWith('/inner')).frame;
    await page.evaluateIn({ frame: inner }, "localStorage.c = '4'; 0");
    await logged(page, 'page c 4');
    // In another page, a frame of the origin has items of its own.
    await page.navigate(between.url('/'));
    await logged(page, 'inner has undefined');
  });

  test('is that of the page in frames with srcdoc, also after a document of another origin', async (t) => {
    const foreign = await serve(t, { '*': '' });
    const page = await openHtml(t, '');
    const found = await page.evaluate(async (url) => {
      localStorage.of = 'page';
      const frame = document.createElement('iframe');
      const load = async (how) => {
        const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
        how();
        await loaded;
      };
      await load(() => document.body.append(Object.assign(frame, { src: url })));
      await load(() => {
        frame.srcdoc = '<iframe srcdoc=""></iframe>';
      });
      const inner = frame.contentWindow;
      const before = inner.localStorage.of;
      inner.localStorage.of = inner.sessionStorage.of = 'frame';
      return [before, localStorage.of, sessionStorage.of, inner.frames[0].localStorage.of];
    }, foreign.url('/'));
    assert.deepEqual(found, ['page', 'frame', 'frame', 'frame']);
  });

  test('is not that of other origins, whoever claims it', async (t) => {
    const [victim, attacker] = [await serve(t, { '*': '' }), await serve(t, { '*': '' })];
    const page = await open(t, victim.url('/'));
    await page.evaluate("localStorage.secret = '1'");
    await page.navigate(attacker.url('/'));
    await page.evaluate((origin) => {
      window._origin = window._document._origin = origin;
      window._currentOriginData.localStorageArea.set('planted', '1');
      localStorage.planted = '2';
      sessionStorage.planted = '2';
    }, victim.origin);
    await page.navigate(victim.url('/'));
    assert.deepEqual(await page.evaluate(ITEMS), [{ secret: '1' }, {}]);
  });
});
