// Which responses become documents, and what a frame shows when there is none.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { eventually, open, openHtml, serve } from './server.mjs';

const disposition = 'content-disposition';

suite('a response', () => {
  const type = (...values) => ({ 'content-type': values.length > 1 ? values : values[0] });
  /** Headers, whether scripts of the document run, and what is before its script. */
  const RESPONSES = {
    'with the disposition attachment': [{ [disposition]: 'attachment; filename="x.html"' }, false],
    'with an unknown disposition': [{ [disposition]: 'Save' }, false],
    'with the disposition inline': [{ [disposition]: 'inline; filename="x.html"' }, true],
    'with a name alone': [{ [disposition]: 'filename=x.html' }, true],
    'as text': [type('text/plain'), false],
    'as HTML and then as text': [type('text/html', 'text/plain'), false],
    'as text and then as HTML': [type('text/plain', 'text/html'), true],
    'as JSON': [type('application/json'), false],
    'of no type that may be sniffed': [{ ...type(''), 'x-content-type-options': 'nosniff' }, false],
    'of no type': [type(''), true],
    'as an image whose name has a type in it': [type('image/png; name="x,text/html,\\",text/html"'), false],
    'of no type, as text that does not begin as HTML': [type(''), false, 'notes: '],
    'of any type, as text that does not begin as HTML': [type('*/*'), false, 'notes: '],
    'of a type that is none, as text that does not begin as HTML': [type('text'), false, 'notes: '],
    'of no type but an encoding, as such text': [type(';charset=utf-8'), false, 'notes: '],
  };

  test('runs scripts only if its headers say that it is a document', async (t) => {
    const names = Object.keys(RESPONSES);
    const paths = names.map((_, index) => `/${index}`);
    const page = await openHtml(
      t,
      `<body><script>
        globalThis.ran = [];
        const loaded = [];
        for (const src of ${JSON.stringify(paths)})
          document.body.append(Object.assign(document.createElement('iframe'), { src, onload: () => loaded.push(src) }));
      </script>`,
      {
        routes: {
          '*': ({ url }) => {
            const [headers, , before = ''] = RESPONSES[names[Number(url.slice(1))]];
            return { body: `${before}<script>parent.ran.push(location.pathname)</script>`, headers };
          },
        },
      },
    );
    // A response that is to be saved is no document, so nothing loads.
    await eventually(async () => {
      const loaded = await page.evaluate('loaded');
      return paths.every((path) => loaded.includes(path) || page.problems.some(({ url }) => url.endsWith(path)));
    });
    const ran = await page.evaluate('ran');
    assert.deepEqual(
      names.filter((_, index) => ran.includes(`/${index}`)),
      names.filter((name) => RESPONSES[name][1]),
    );
  });

  test('with nothing to show is not navigated to', async (t) => {
    const page = await openHtml(t, '<p></p>', {
      routes: {
        '/204': { status: 204 },
        '/saved': { headers: { [disposition]: 'attachment' }, body: '<p></p>' },
      },
    });
    for (const path of ['/204', '/saved']) {
      await page.evaluate((path) => {
        location.href = path;
      }, path);
      await eventually(() => page.problems.some(({ url }) => url.endsWith(path)));
      assert.equal(page.url, page.server.url('/'));
      await assert.rejects(page.navigate(page.server.url(path)), /is not shown/);
      assert.equal(await page.evaluate('document.body.innerHTML'), '<p></p>');
    }
  });

  test('that comes late is not shown if its frame shows another document by then', async (t) => {
    let answer;
    const slow = await serve(t, {
      '/slow': ({ socket }) =>
        new Promise((resolve) => {
          answer = () => {
            resolve("<script>console.log('slow')</script>");
            return new Promise((closed) => socket.once('close', closed));
          };
        }),
    });
    const fast = await serve(t, { '*': '<p>fast</p>' });
    const page = await openHtml(t, '<iframe></iframe>');
    const go = (src) =>
      page.evaluate((src) => {
        document.querySelector('iframe').src = src;
      }, src);
    await go(slow.url('/slow'));
    await eventually(() => answer !== undefined);
    await go(fast.url('/'));
    await eventually(async () => (await page.frames()).some(({ url }) => url === fast.url('/')));
    answer();
    // A later document from the same server has arrived.
    slow.routes['/later'] = "<script>parent.postMessage('later', '*')</script>";
    await page.evaluate((src) => {
      const frame = Object.assign(document.createElement('iframe'), { src });
      const arrived = new Promise((resolve) => {
        onmessage = resolve;
      });
      document.body.append(frame);
      return arrived.then(() => frame.remove());
    }, slow.url('/later'));
    assert.deepEqual(page.log, []);
    assert.deepEqual(
      (await page.frames()).map(({ url }) => url),
      [page.server.url('/'), fast.url('/')],
    );
  });
});

suite('a document that only its own origin may frame', () => {
  test('is not shown where a page of another origin is around that', async (t) => {
    const victim = await serve(t, {
      '/': '<iframe src="/inner"></iframe>',
      '/inner': {
        body: "<script>console.log('shown in', top === parent)</script>",
        headers: { 'x-frame-options': 'SAMEORIGIN' },
      },
    });
    const page = await open(t, victim.url('/'));
    assert.deepEqual(page.log, ['shown in true']);
    const other = await serve(t, { '/': `<iframe src="${victim.url('/')}"></iframe>` });
    await page.navigate(other.url('/'));
    await eventually(() => page.problems.length > 0);
    assert.match(page.problems[0].text, /forbids to be framed/);
    assert.deepEqual(page.log, ['shown in true']);
  });

  test('cannot be told from one that its page shows, or from a server that does not answer', async (t) => {
    const deny = { 'x-frame-options': 'DENY' };
    const other = await serve(t, { '/shown': '', '/refused': { body: '', headers: deny } });
    const page = await openHtml(t, '<body>', { routes: { '/own': { body: '', headers: deny } } });
    const look = (url) =>
      page.evaluate(async (url) => {
        const frame = document.body.appendChild(document.createElement('iframe'));
        frame.src = url;
        await new Promise((resolve) => {
          frame.onload = resolve;
        });
        const read = (what) => {
          try {
            return String(what());
          } catch ({ name }) {
            return name;
          }
        };
        const { contentWindow } = frame;
        const seen = [
          frame.contentDocument,
          read(() => contentWindow.document),
          read(() => contentWindow.location.href),
        ];
        const timed = performance.getEntriesByName(new URL(url, location).href).length;
        frame.remove();
        return [...seen, contentWindow.length, timed];
      }, url);
    const expected = [null, 'SecurityError', 'SecurityError', 0, 1];
    // Nothing listens at port 9.
    for (const url of [other.url('/shown'), other.url('/refused'), 'http://127.0.0.1:9/', '/own'])
      assert.deepEqual(await look(url), expected, url);
    assert.match(page.problems.map(({ text }) => text).join('\n'), /refused forbids.*\n.*Could not.*\n.*own forbids/s);
  });
});
