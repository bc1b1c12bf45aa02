// Frames: each is a realm in the page's thread, or, if it has another origin, in a thread of its own.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { eventually, logged, open, openHtml, serve } from './server.mjs';

suite('a frame of the same origin', () => {
  test('has a realm of its own, which its page can reach', async (t) => {
    const page = await openHtml(
      t,
      '<iframe src="/child" id="f" onload="console.log(`load ${frames[0] === f.contentWindow}`)"></iframe>',
      {
        routes: {
          '/child':
            '<title>child</title><script>console.log(parent === top, parent.document !== document, frameElement.id); var global = [];</script>',
        },
      },
    );
    assert.deepEqual(page.log, ['true true f', 'load true']);
    assert.deepEqual(
      await page.evaluate(() => {
        const child = document.getElementById('f').contentWindow;
        return [
          child.document.title,
          child.global instanceof Array,
          child.global instanceof child.Array,
          child.origin === origin,
          length,
        ];
      }),
      ['child', false, true, true, 1],
    );
  });

  test('keeps its window when its first document replaces the initial empty one', async (t) => {
    const page = await openHtml(
      t,
      `<script>
        const f = document.createElement('iframe'); f.src = '/child'; document.documentElement.append(f);
        const w = f.contentWindow; w.before = 1; console.log(w.location.href, w.document.body !== null);
        f.onload = () => { console.log(w === f.contentWindow, w.before, w.location.pathname, f.contentDocument.body.textContent); };
      </script>`,
      { routes: { '/child': 'text<script>console.log("child sees", before)</script>' } },
    );
    assert.deepEqual(page.log, [
      'about:blank true',
      'child sees 1',
      'true 1 /child textconsole.log("child sees", before)',
    ]);
  });

  test('has an empty document without a source, and loads srcdoc, javascript: and new sources', async (t) => {
    const page = await openHtml(
      t,
      `<script>
        const add = (attributes) => { const f = Object.assign(document.createElement('iframe'), attributes); document.documentElement.append(f); return f; };
        console.log(add({}).contentDocument.readyState);
        const doc = add({ srcdoc: '<base><p>s</p><script>console.log("srcdoc", location.href, document.baseURI === parent.document.baseURI, origin === parent.origin)<\\/script>' });
        const js = add({ src: "javascript:'<p>from script</p>'" });
        const changing = add({ src: '/one' });
        changing.onload = () => { console.log(changing.contentDocument.title); if (changing.contentDocument.title === 'one') changing.src = '/two'; };
        add({ src: '/none' }).onload = (e) => console.log('none', e.target.contentDocument.body.textContent);
        setTimeout(() => console.log(js.contentDocument.body.textContent), 30);
      </script>`,
      { routes: { '/one': '<title>one</title>', '/two': '<title>two</title>' } },
    );
    await logged(page, 'from script', 'none not found', 'two');
    assert.deepEqual(page.log.sort(), [
      'complete',
      'from script',
      'none not found',
      'one',
      'srcdoc about:srcdoc true true',
      'two',
    ]);
  });

  test('can be navigated by itself and by its page, and removed', async (t) => {
    const page = await openHtml(t, '<iframe id="f" src="/one"></iframe>', {
      routes: {
        '/one': '<a id="a" href="/two">x</a>',
        '/two': '<title>two</title><script>console.log("two", document.referrer.endsWith("/"))</script>',
        '/three': '<script>console.log("three")</script>',
      },
    });
    await page.evaluate(() => void document.getElementById('f').contentDocument.getElementById('a').click());
    await logged(page, 'two true');
    await page.evaluate(() => {
      document.getElementById('f').contentWindow.location = '/three';
    });
    await logged(page, 'three');
    assert.deepEqual(page.log, ['two true', 'three']);
    assert.equal(
      await page.evaluate(() => {
        document.getElementById('f').remove();
        return length;
      }),
      0,
    );
  });

  test('cannot be nested without limit', async (t) => {
    const page = await openHtml(
      t,
      '<script>if (top === window || parent) { const f = document.createElement("iframe"); f.src = "/?" + Math.random(); document.documentElement.append(f); }</script>',
      {
        timeout: 60_000,
      },
    );
    const depth = await page.evaluate(() => {
      let w = window;
      let count = 0;
      while (w.length > 0) {
        w = w[0];
        count++;
      }
      return count;
    });
    assert.equal(depth, 16);
  });

  test("is accessible to the page's user", async (t) => {
    const page = await openHtml(t, '<iframe src="/child"></iframe>', {
      routes: { '/child': '<script>console.log("here")</script>' },
    });
    const frames = await page.frames();
    assert.deepEqual(
      frames.map(({ url, parent }) => [url, parent]),
      [
        [page.server.url('/'), undefined],
        [page.server.url('/child'), 0],
      ],
    );
    assert.equal(await page.evaluateIn({ frame: frames[1].frame }, () => location.pathname), '/child');
    await assert.rejects(page.evaluateIn({ frame: 99 }, '1'), /no frame 99/);
  });
});

suite('a frame of another origin', () => {
  async function embed(t, child, { script = '', foreign: routes = {}, ...options } = {}) {
    const foreign = await serve(t, { '/child': child, ...routes });
    const page = await openHtml(
      t,
      `<script>addEventListener('message', (e) => console.log('page got', e.data, e.origin, e.source === frames[0]));</script><iframe id="f" src="${foreign.url('/child')}"></iframe><script>${script}</script>`,
      options,
    );
    return { page, foreign };
  }

  test('and its page cannot reach each other', async (t) => {
    const { page, foreign } = await embed(
      t,
      `<script>
        const attempt = (work) => { try { return String(work()); } catch (e) { return e.name; } };
        console.log([attempt(() => parent.document), attempt(() => top.location.href), attempt(() => parent.foo), attempt(() => { parent.x = 1 }),
          attempt(() => Object.getPrototypeOf(parent)), attempt(() => frameElement),
          parent === top, parent === window, parent.parent === parent, attempt(() => Object.keys(parent).length > 0), 'document' in window].join());
      </script>`,
    );
    assert.deepEqual(page.log, [
      'SecurityError,SecurityError,SecurityError,SecurityError,null,null,true,false,true,false,true',
    ]);
    assert.deepEqual(
      await page.evaluate(() => {
        const attempt = (work) => {
          try {
            return String(work());
          } catch (error) {
            return error.name;
          }
        };
        const f = document.getElementById('f');
        const w = f.contentWindow;
        return [
          f.contentDocument,
          attempt(() => w.document),
          attempt(() => w.location.href),
          attempt(() => w.eval),
          w === frames[0],
          w.parent === window,
          w.closed,
          attempt(() => new Proxy(w, {}).document),
        ];
      }),
      [null, 'SecurityError', 'SecurityError', 'SecurityError', true, true, false, 'SecurityError'],
    );
    assert.equal(await page.evaluateIn({ frame: (await page.frames())[1].frame }, () => origin), foreign.origin);
  });

  test('is not changed by a response without a document, and nobody is told', async (t) => {
    const page = await openHtml(t, '<body>', {
      routes: {
        '/empty': { status: 204, body: '' },
        '/saved': { body: 'x', headers: { 'content-disposition': 'attachment' } },
        '/shown': '<title>shown</title>',
      },
    });
    await page.evaluate(() => {
      const frame = document.createElement('iframe');
      globalThis.seen = [];
      frame.onload = () => seen.push(frame.contentDocument.title);
      document.body.append(frame);
      globalThis.show = (url) => {
        frame.src = url;
      };
    });
    const entries = (url) =>
      page.evaluate((url) => performance.getEntriesByName(new URL(url, location).href).length, url);
    await page.evaluate("show('/shown')");
    await eventually(() => page.evaluate("seen.includes('shown')"));
    await page.evaluate("show('/empty')");
    await eventually(() => page.problems.length === 1);
    await page.evaluate("show('/saved')");
    await eventually(() => page.problems.length === 2);
    const counts = [await entries('/shown'), await entries('/empty'), await entries('/saved')];
    assert.deepEqual(
      [await page.evaluate('seen'), counts],
      [
        ['', 'shown'],
        [1, 0, 0],
      ],
    );
    assert.deepEqual(
      page.problems.map(({ text }) => /204|to be saved/.exec(text)?.[0]),
      ['204', 'to be saved'],
    );
  });

  test('with a document that cannot be parsed to its end loads all the same', async (t) => {
    const type = (type) => ({ headers: { 'content-type': type } });
    const page = await openHtml(t, '<body>', {
      routes: {
        '/whole': { body: '<a>x</a>', ...type('text/xml') },
        '/broken': { body: '<a>x</b>', ...type('text/xml') },
        '/more': { body: '<a/>more', ...type('application/xhtml+xml') },
        '/empty': { body: '', ...type('text/xml') },
      },
    });
    for (const url of ['/whole', '/broken', '/more', '/empty']) {
      const state = await page.evaluate(
        (src) =>
          new Promise((resolve) => {
            const frame = Object.assign(document.createElement('iframe'), { src });
            frame.onload = () => resolve(frame.contentDocument.readyState);
            document.body.append(frame);
          }),
        url,
      );
      assert.equal(state, 'complete', url);
    }
    assert.equal(page.problems.length, 3, page.problems.map(({ text }) => text).join());
  });

  test('has the referrer that its request had', async (t) => {
    const page = await openHtml(t, '<body>', { routes: { '/frame': (request) => `${request.headers.referer}` } });
    const seen = await page.evaluate(async () => {
      const seen = [];
      for (const referrerPolicy of ['', 'no-referrer', 'origin']) {
        const frame = Object.assign(document.createElement('iframe'), { src: '/frame?a', referrerPolicy });
        const loaded = new Promise((resolve) => {
          frame.onload = resolve;
        });
        document.body.append(frame);
        await loaded;
        seen.push([frame.contentDocument.body.textContent, frame.contentDocument.referrer]);
      }
      return seen;
    });
    const origin = page.server.url('/');
    assert.deepEqual(seen, [
      [origin, origin],
      ['undefined', ''],
      [origin, origin],
    ]);
  });

  test('exchanges messages with its page, with correct origins', async (t) => {
    const { page, foreign } = await embed(
      t,
      `<script>
        addEventListener('message', (e) => { console.log('child got', e.data.n, e.data.m instanceof Map, e.origin === new URL(document.referrer).origin, e.source === parent); e.source.postMessage('back', e.origin); });
        parent.postMessage('for others', 'http://other.test'); parent.postMessage('hello', '*');
      </script>`,
    );
    await page.evaluate((origin) => {
      frames[0].postMessage('for others', location.origin);
      frames[0].postMessage({ n: 1, m: new Map() }, origin);
      try {
        frames[0].postMessage(() => {}, '*');
      } catch (error) {
        console.log(error.name, error instanceof DOMException);
      }
      try {
        frames[0].postMessage('x', 'nonsense');
      } catch (error) {
        console.log(error.name);
      }
    }, foreign.origin);
    await logged(page, `page got back ${foreign.origin} true`);
    // The page and the frame run at the same time, so either may log first.
    const [ofChild, ofPage] = [true, false].map((isChild) =>
      page.log.filter((line) => line.startsWith('child') === isChild),
    );
    assert.deepEqual(ofChild, ['child got 1 true true true']);
    assert.deepEqual(ofPage, [
      `page got hello ${foreign.origin} true`,
      'DataCloneError true',
      'SyntaxError',
      `page got back ${foreign.origin} true`,
    ]);
  });

  test('delays the load event of its page, and fires its own', async (t) => {
    const { page } = await embed(t, '<script src="/slow.js"></script>', {
      script: "f.onload = () => console.log('frame'); onload = () => console.log('page')",
      foreign: { '/slow.js': () => new Promise((resolve) => setTimeout(() => resolve("console.log('slow')"), 100)) },
    });
    assert.deepEqual(page.log, ['slow', 'frame', 'page']);
  });

  test('may be in an endless loop without blocking its page', async (t) => {
    const foreign = await serve(t, {
      '/child': '<script>onmessage = () => { console.log("looping"); for (;;); };</script>',
    });
    const page = await openHtml(t, `<iframe id="f" src="${foreign.url('/child')}"></iframe>`);
    await page.evaluate(() => frames[0].postMessage('go', '*'));
    await logged(page, 'looping');
    assert.equal(await page.evaluate('1 + 1'), 2);
    await page.evaluate(() => document.getElementById('f').remove());
    assert.equal((await page.frames()).length, 1);
  });

  test("can be navigated, also back to its page's origin", async (t) => {
    const { page, foreign } = await embed(t, '<script>console.log("first")</script>', {
      routes: { '/own': '<script>console.log("own", parent.document !== undefined)</script>' },
      foreign: {
        '/second':
          '<script>console.log("second", parent === top); setTimeout(() => { location.href = "/third" })</script>',
        '/third': '<script>console.log("third")</script>',
      },
    });
    await page.evaluate((url) => {
      frames[0].location.href = url;
    }, foreign.url('/second'));
    await logged(page, 'third');
    await page.evaluate(() => {
      frames[0].location = '/own';
    });
    await logged(page, 'own true');
    assert.deepEqual(page.log, ['first', 'second true', 'third', 'own true']);
    assert.equal((await page.frames()).length, 2);
  });

  test("may hold frames of the page's origin, which are not in its realm group", async (t) => {
    const inner = { url: '' };
    const foreign = await serve(t, { '/child': () => `<iframe src="${inner.url}"></iframe>` });
    const server = await serve(t, {
      '/': `<iframe src="${foreign.url('/child')}"></iframe>`,
      '/inner':
        "<script>console.log('inner', origin, top === parent, top.parent === top, (() => { try { return top.document } catch (e) { return e.name } })()); top.postMessage('up', '*')</script>",
    });
    inner.url = server.url('/inner');
    const page = await open(t, server.url('/'));
    assert.deepEqual(page.log, [`inner ${server.origin} false true SecurityError`]);
    assert.equal((await page.frames()).length, 3);
  });

  test('also applies to data: URLs and sandboxed documents', async (t) => {
    const page = await openHtml(
      t,
      `<iframe src="data:text/html,<script>console.log('data', origin, (() => { try { return parent.document } catch (e) { return e.name } })())</script>"></iframe>
       <iframe sandbox="allow-scripts" src="/child"></iframe><iframe sandbox="allow-scripts allow-same-origin" src="/child"></iframe>`,
      {
        routes: {
          '/child':
            "<script>console.log('child', origin, (() => { try { return typeof parent.document } catch (e) { return e.name } })())</script>",
        },
      },
    );
    assert.deepEqual(
      page.log.sort(),
      [`child ${page.server.origin} object`, 'child null SecurityError', 'data null SecurityError'].sort(),
    );
  });

  test('is refused when its headers forbid framing or do not allow an isolated embedder', async (t) => {
    const refuse = (headers) => ({ body: '<script>console.log(location.pathname)</script>', headers });
    const embedder = (policy) => ({ 'cross-origin-embedder-policy': policy });
    const foreign = await serve(t, {
      '/deny': refuse({ 'x-frame-options': 'DENY' }),
      '/same': refuse({ 'x-frame-options': 'SAMEORIGIN' }),
      '/plain': refuse({}),
      '/coep': refuse(embedder('require-corp')),
      '/both': refuse({ ...embedder('require-corp'), 'cross-origin-resource-policy': 'cross-origin' }),
    });
    for (const [headers, paths, shown] of [
      [{}, ['/deny', '/same', '/plain'], ['/plain']],
      [
        { 'cross-origin-opener-policy': 'same-origin', ...embedder('require-corp') },
        ['/plain', '/coep', '/both'],
        ['/both'],
      ],
      // The document of a frame is requested with credentials.
      [{ 'cross-origin-opener-policy': 'same-origin', ...embedder('credentialless') }, ['/coep', '/both'], ['/both']],
    ]) {
      const html = paths.map((path) => `<iframe src="${foreign.url(path)}"></iframe>`).join('');
      const page = await openHtml(t, html, { headers });
      assert.deepEqual(page.log, shown, JSON.stringify(headers));
    }
  });

  test('shows nothing any more when it was removed, wherever its window is navigated to', async (t) => {
    const foreign = await serve(t, { '/': '<p>', '/later': '', '/last': '' });
    const page = await openHtml(t, `<iframe src="${foreign.url('/')}"></iframe>`);
    await page.evaluate(async (url) => {
      const frame = document.querySelector('iframe');
      const { contentWindow } = frame;
      frame.remove();
      contentWindow.location = url;
      // It is asked for after that.
      const last = Object.assign(document.createElement('iframe'), { src: new URL('/last', url).href });
      const loaded = new Promise((resolve) => {
        last.onload = resolve;
      });
      document.body.append(last);
      await loaded;
      last.remove();
    }, foreign.url('/later'));
    assert.equal((await page.frames()).length, 1);
    assert.deepEqual(
      foreign.requests.map(({ url }) => url),
      ['/', '/last'],
    );
  });

  test("has an embedder policy of its own, also when it is of its page's origin", async (t) => {
    const foreign = await serve(t, {
      '/plain.js': 'globalThis.ran = true;',
      '/plain': '<script>console.log("shown")</script>',
    });
    const policy = { 'cross-origin-embedder-policy': 'require-corp' };
    const probe = `<script src="${foreign.url('/plain.js')}"></script><iframe src="${foreign.url('/plain')}"></iframe>
      <script>console.log(location.pathname, globalThis.ran === true)</script>`;
    const routes = { '/with': { body: probe, headers: policy }, '/without': { body: probe, headers: {} } };
    const shown = async (frame, headers) => {
      const page = await openHtml(t, `<iframe src="${frame}"></iframe>`, { headers, routes });
      return page.log.sort();
    };
    // The frame has the policy, its page has not, and the other way around: then the frame is not shown at all.
    assert.deepEqual(await shown('/with', {}), ['/with false']);
    assert.deepEqual(await shown('/without', {}), ['/without true', 'shown']);
    assert.deepEqual(await shown('/with', policy), ['/with false']);
    assert.deepEqual(await shown('/without', policy), []);
  });

  test('has the embedder policy of the document around it if it is empty or a srcdoc', async (t) => {
    const foreign = await serve(t, { '/plain.js': 'globalThis.ran = true;' });
    const script = `<script src="${foreign.url('/plain.js')}"></script>`;
    const page = await openHtml(t, '<iframe src="/with"></iframe>', {
      routes: {
        '/with': {
          body: `<iframe srcdoc='${script}'></iframe><iframe></iframe>`,
          headers: { 'cross-origin-embedder-policy': 'require-corp' },
        },
      },
    });
    const seen = await page.evaluate(async (url) => {
      const [srcdoc, empty] = [frames[0].frames[0], frames[0].frames[1]];
      const fetched = await empty.fetch(url, { mode: 'no-cors' }).then(String, ({ name }) => name);
      const { fetch: kept } = frames[0];
      document.querySelector('iframe').remove();
      const later = await kept(url, { mode: 'no-cors' }).then(String, ({ name }) => name);
      return [srcdoc.ran, fetched, later, (await fetch(url, { mode: 'no-cors' })).type];
    }, foreign.url('/plain.js'));
    assert.deepEqual(seen, [undefined, 'TypeError', 'TypeError', 'opaque']);
  });
});
