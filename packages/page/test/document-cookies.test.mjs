// Which cookies a document and its requests have: those of its own origin, whatever is around it.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { eventually, host, logged, openHtml, serve } from './server.mjs';

suite('cookies of another origin', () => {
  test('are not in document.cookie, and cannot be set there', async (t) => {
    const pages = host(t, { hosts: { 'frame.test': '127.0.0.1' } });
    const foreign = await serve(t, {
      '/': "<script>document.cookie = 'planted=1'; console.log(document.cookie); fetch('/sent')</script>",
      '/sent': '',
    });
    const page = await openHtml(t, `<iframe src="http://frame.test:${foreign.port}/"></iframe>`, {
      host: pages,
      headers: { 'set-cookie': 'secret=1; Path=/' },
    });
    await eventually(() => foreign.requests.some(({ url }) => url === '/sent'));
    assert.doesNotMatch(page.log.join(), /secret/);
    await page.evaluate("fetch('/').then(() => {})");
    assert.equal(await page.evaluate('document.cookie'), 'secret=1');
    assert.equal(page.server.requests.at(-1).headers.cookie, 'secret=1');
  });

  test('are in no sandboxed frame, even if it is of their host', async (t) => {
    const page = await openHtml(t, '<iframe sandbox="allow-scripts" src="/frame"></iframe>', {
      headers: { 'set-cookie': 'secret=1' },
      routes: {
        '/frame': `<script>
          const attempt = (work) => { try { return String(work()); } catch (error) { return error.name; } };
          console.log(attempt(() => document.cookie), attempt(() => { document.cookie = 'planted=1'; }), attempt(() => document.cookie));
        </script>`,
      },
    });
    await logged(page, 'SecurityError SecurityError SecurityError');
    assert.equal(await page.evaluate('document.cookie'), 'secret=1');
  });

  test('are not those of a request of a frame that navigates itself', async (t) => {
    const pages = host(t, { hosts: { 'frame.test': '127.0.0.1' } });
    const server = await serve(t, {
      '/': () => ({
        body: `<iframe src="http://frame.test:${server.port}/frame"></iframe>`,
        headers: { 'set-cookie': ['strict=1; SameSite=Strict', 'lax=1; SameSite=Lax'] },
      }),
      '/frame': () => `<script>location.href = '${server.url('/delete')}'</script>`,
      '/delete': '',
    });
    await pages.open(server.url('/'));
    await eventually(() => server.requests.some(({ url }) => url === '/delete'));
    const { headers } = server.requests.find(({ url }) => url === '/delete');
    assert.equal(headers.cookie, undefined);
    assert.equal(headers['sec-fetch-site'], 'cross-site');
    assert.equal(headers.referer, `http://frame.test:${server.port}/`);
  });
});

suite('a cookie', () => {
  test('reaches the other origins of its host', async (t) => {
    // Cookies do not distinguish ports.
    const other = await serve(t, { '/': "<script>document.cookie = 'own=1'; console.log('set')</script>" });
    const page = await openHtml(t, `<iframe src="${other.url('/')}"></iframe>`);
    await logged(page, 'set');
    await eventually(() => page.evaluate("document.cookie === 'own=1'"));
  });

  test('of any text does not keep requests from being sent', async (t) => {
    const page = await openHtml(t, '', {
      headers: { 'set-cookie': Buffer.from('server=\u00e9').toString('latin1') },
      routes: { '/': '', '/next': '' },
    });
    const status = await page.evaluate(async () => {
      for (const text of ['a=\u{1f600}', 'b=x\x7f', 'c\x01=y', 'd=\ud800', 'e=\u00ff']) document.cookie = text;
      return (await fetch('/next')).status;
    });
    assert.equal(status, 200);
    const sent = Buffer.from(page.server.requests.at(-1).headers.cookie, 'latin1').toString();
    assert.equal(sent, 'server=\u00e9; a=\u{1f600}; d=\ufffd; e=\u00ff');
  });
});
