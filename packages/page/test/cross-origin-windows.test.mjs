// What a page learns of the windows of other origins in it, and in whose name they are navigated.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { suite, test } from 'node:test';

import { eventually, host, open, openHtml, serve } from './server.mjs';

suite('a frame of another origin that navigates itself', () => {
  test('does not tell its URL to the page around', async (t) => {
    const frame = await serve(t, {
      '/': "<script>onmessage = () => { location.href = '/callback?token=secret'; }</script>",
      '/callback': "<script>parent.postMessage('loaded', '*')</script>",
    });
    const page = await openHtml(t, `<body><iframe src="${frame.url('/')}"></iframe>`);
    const seen = await page.evaluate(async () => {
      frames[0].postMessage('go', '*');
      await new Promise((resolve) => addEventListener('message', resolve));
      return [JSON.stringify(performance.getEntries()), document.querySelector('iframe').src];
    });
    assert.doesNotMatch(seen[0], /secret|callback/);
    assert.equal(seen[1], frame.url('/'));
  });

  test('gives no document to the page around, wherever it goes', async (t) => {
    const frame = await serve(t, {
      '/': "<script>onmessage = ({ data }) => { name = 'secret name'; location.href = data; }</script>",
    });
    const page = await openHtml(t, `<body><iframe src="${frame.url('/')}"></iframe>`);
    const look = (url) =>
      page.evaluate(async (url) => {
        const element = document.querySelector('iframe');
        if (url !== undefined) {
          const loaded = new Promise((resolve) => {
            element.onload = resolve;
          });
          element.contentWindow.postMessage(url, '*');
          await loaded;
        }
        const read = (work) => {
          try {
            return String(work());
          } catch ({ name }) {
            return name;
          }
        };
        return [
          element.contentDocument === null,
          read(() => element.contentWindow.location.href),
          read(() => element.contentWindow.name),
        ];
      }, url);
    const nothing = [true, 'SecurityError', 'SecurityError'];
    // These are no documents, so the frame stays as it is.
    for (const url of ['about:srcdoc?secret', 'about:secret', 'about:srcdoc']) {
      await page.evaluate((url) => frames[0].postMessage(url, '*'), url);
      await eventually(() => page.problems.some(({ text }) => text.includes(`${url} is no document`)));
      assert.deepEqual(await look(), nothing, url);
    }
    assert.deepEqual(await look('about:blank?token=secret#secret'), nothing);
  });
});

suite('a navigation', () => {
  test('is not made in the name of the page that comes next, when it had to wait', async (t) => {
    const pages = host(t, { hosts: { 'first.test': '127.0.0.1' } });
    const server = await serve(t, {
      '/': { body: '', headers: { 'set-cookie': 'strict=1; SameSite=Strict' } },
      '/last': '',
      '/first': '<body>',
      // The latest navigation wins. While four are ending, it waits.
      '/slow': () => new Promise(() => {}),
    });
    const page = await pages.open(`http://first.test:${server.port}/first`);
    await page.evaluate((url) => {
      for (const target of ['/slow?1', '/slow?2', '/slow?3', `${url}/`, `${url}/last`]) location.href = target;
    }, server.origin);
    await eventually(() => page.url === server.url('/') || page.url === server.url('/last'));
    // Whatever waited is done or dropped before this one.
    await page.navigate(server.url('/first'), { waitUntil: 'idle' });
    for (const { headers } of server.requests.filter(({ url }) => url === '/last'))
      assert.equal(headers.cookie, undefined);
  });

  test('tells the next document no more of the one before than its origin', async (t) => {
    const other = await serve(t, { '/': '<script>console.log(document.referrer)</script>' });
    const first = await serve(t, {
      '/': `<script>if (location.search === '') location.href = '/?secret'; else setTimeout(() => { location.href = '${other.url('/')}' })</script>`,
      '/embedding': `<iframe src="${other.url('/')}"></iframe>`,
    });
    const page = await open(t, first.url('/'));
    await eventually(() => page.log.length === 1);
    await page.navigate(first.url('/embedding?secret'));
    await eventually(() => page.log.length === 2);
    assert.deepEqual(page.log, [first.url('/'), first.url('/')]);
  });
});

suite('a document that is not of the origin of the page that made it', () => {
  test('knows no more of its URL than the origin', async (t) => {
    const code = '<script>console.log(location.protocol, document.referrer)</script>';
    const server = await serve(t, {
      '/': `<iframe sandbox="allow-scripts" srcdoc='${code}'></iframe><iframe src='data:text/html,${code}'></iframe>
        <iframe sandbox="allow-scripts"></iframe>
        <script>document.querySelectorAll('iframe')[2].src = URL.createObjectURL(new Blob([${JSON.stringify(code).replaceAll('/', '\\/')}], { type: 'text/html' }))</script>`,
    });
    const page = await open(t, server.url('/?query#secret').replace('//', '//user:secret@'));
    await eventually(() => page.log.length === 3);
    const origin = server.url('/');
    assert.deepEqual(page.log.sort(), [`about: ${origin}`, `blob: ${origin}?query`, `data: ${origin}`]);
  });
});

suite('a file', () => {
  test('of a page from disk cannot be reached by a frame of the network in it', async (t) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-'));
    t.after(() => fs.rmSync(folder, { recursive: true }));
    fs.writeFileSync(path.join(folder, 'secret.html'), '<script>console.log("secret was loaded")</script>');
    const foreign = await serve(t, {
      '/': `<script>location.href = 'file://${folder}/secret.html'; fetch('file://${folder}/secret.html').catch(() => {});
        document.write('<iframe src="file://${folder}/secret.html"></' + 'iframe>');</script>`,
    });
    fs.writeFileSync(path.join(folder, 'page.html'), `<iframe src="${foreign.url('/')}"></iframe>`);
    const page = await open(t, path.join(folder, 'page.html'));
    await eventually(() => page.problems.filter(({ text }) => /not from disk/.test(text)).length === 3);
    assert.deepEqual(page.log, []);
  });
});

test('a frame shows an empty document for about:blank, and nothing for other about: URLs', async (t) => {
  const page = await openHtml(t, '<body><iframe></iframe>');
  const shown = await page.evaluate(async () => {
    const element = document.querySelector('iframe');
    const shown = [];
    for (const url of ['about:blank?a#b', 'about:other', 'about:blank']) {
      const loaded = new Promise((resolve) => {
        element.onload = resolve;
      });
      element.src = url;
      await loaded;
      shown.push(element.contentDocument?.URL);
    }
    return shown;
  });
  assert.deepEqual(shown, ['about:blank?a#b', 'about:blank?a#b', 'about:blank']);
  assert.match(page.problems.map(({ text }) => text).join(), /about:other is no document/);
});
