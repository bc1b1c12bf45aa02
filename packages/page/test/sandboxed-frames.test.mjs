// What sandboxed frames may do: their origin is opaque, and they run no scripts, unless their attribute allows it.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { eventually, logged, openHtml } from './server.mjs';

/** Tells the page around what the frame can reach. */
const REPORT = `
  const attempt = (work) => { try { return String(work()); } catch (error) { return error.name; } };
  parent.postMessage([origin, attempt(() => parent.document.title), attempt(() => { parent.reached = 1; return 'set'; }),
    attempt(() => document.cookie), attempt(() => localStorage.length), attempt(() => frameElement)], '*');`;
const FRAME = `<script>${REPORT}</script>`;
const PAGE = `<title>secret</title><script>
  document.cookie = 'secret=1';
  globalThis.messages = [];
  onmessage = ({ data, source }) => { messages.push([...data, [...document.querySelectorAll('iframe')].findIndex(({ contentWindow }) => contentWindow === source)]); };
  const add = (attributes) => {
    const frame = document.createElement('iframe');
    for (const [name, value] of Object.entries(attributes)) frame.setAttribute(name, value);
    document.body.append(frame);
    return frame;
  };
  const addAndLoad = (attributes) => new Promise((resolve) => { add(attributes).onload = () => resolve(); });
</script><body>`;

const openPage = (t, routes = {}) =>
  openHtml(t, PAGE, {
    routes: { '/frame': FRAME, '/none': '', '/moved': { status: 302, headers: { location: '/frame' } }, ...routes },
  });

/** Ways by which a frame gets its document. */
const SOURCES = {
  srcdoc: { srcdoc: FRAME },
  'a document': { src: '/frame' },
  'a data: URL': { src: `data:text/html,${encodeURIComponent(FRAME)}` },
  'a redirect': { src: '/moved' },
};

suite('a sandboxed frame with allow-scripts', () => {
  test('cannot reach its page, and its page not it, wherever its document is from', async (t) => {
    const page = await openPage(t);
    for (const [name, attributes] of Object.entries(SOURCES)) {
      await page.evaluate((all) => void add({ sandbox: 'allow-scripts', ...all }), attributes);
      await eventually(() => page.evaluate('messages.length > 0'));
      const [report] = await page.evaluate('messages.splice(0)');
      const error = 'SecurityError';
      // `frameElement` is null across origins.
      assert.deepEqual(report, ['null', error, error, report[3], error, 'null', 0], name);
      assert.doesNotMatch(report[3], /secret/, name);
      const reached = await page.evaluate(() => {
        const frame = document.querySelector('iframe');
        let outcome;
        try {
          outcome = frame.contentWindow.document;
        } catch ({ name }) {
          outcome = name;
        }
        frame.remove();
        return [frame.contentDocument, outcome, window.reached];
      });
      assert.deepEqual(reached, [null, 'SecurityError', undefined], name);
    }
  });

  test('has a base URL for its srcdoc, and exchanges messages', async (t) => {
    const page = await openPage(t, { '/a.js': { body: 'parent.postMessage([document.baseURI, location.href], "*")' } });
    await page.evaluate(() => void add({ sandbox: 'allow-scripts', srcdoc: '<script src="a.js"></script>' }));
    await eventually(() => page.evaluate('messages.length > 0'));
    assert.deepEqual(await page.evaluate('messages'), [[page.server.url('/'), 'about:srcdoc', 0]]);
  });

  test('passes its sandbox on to the frames in it', async (t) => {
    const nested = FRAME.replaceAll('parent.', 'top.');
    const page = await openPage(t, { '/nested': nested });
    const inner = `<script>
      const add = (members) => document.body.append(Object.assign(document.createElement('iframe'), members));
      onload = () => { add({ src: '${page.server.url('/nested')}' }); add({ srcdoc: ${JSON.stringify(nested).replaceAll('</', '<\\/')} }); };
    </script><body>`;
    await page.evaluate((srcdoc) => void add({ sandbox: 'allow-scripts', srcdoc }), inner);
    await eventually(() => page.evaluate('messages.length === 2'));
    for (const [origin, title, set, cookie] of await page.evaluate('messages')) {
      assert.deepEqual([origin, title, set], ['null', 'SecurityError', 'SecurityError']);
      assert.doesNotMatch(cookie, /secret/);
    }
  });

  test('can have its attribute from the property', async (t) => {
    const page = await openPage(t);
    const outcome = await page.evaluate((srcdoc) => {
      const frame = document.createElement('iframe');
      frame.sandbox = 'allow-forms';
      frame.sandbox.add('allow-scripts');
      frame.srcdoc = srcdoc;
      document.body.append(frame);
      const { sandbox } = frame;
      return [
        frame.getAttribute('sandbox'),
        sandbox.contains('allow-scripts'),
        sandbox === frame.sandbox,
        frame.contentDocument,
      ];
    }, FRAME);
    assert.deepEqual(outcome, ['allow-forms allow-scripts', true, true, null]);
    await eventually(() => page.evaluate('messages.length > 0'));
    assert.equal((await page.evaluate('messages'))[0][0], 'null');
  });

  test('is of the origin of its page with allow-same-origin, too', async (t) => {
    const page = await openPage(t);
    const attributes = { sandbox: 'allow-same-origin allow-scripts', srcdoc: FRAME };
    await page.evaluate((all) => addAndLoad(all), attributes);
    await eventually(() => page.evaluate('messages.length > 0'));
    assert.deepEqual((await page.evaluate('messages'))[0].slice(1, 4), ['secret', 'set', '']);
  });
});

suite('a sandboxed frame without allow-scripts', () => {
  test('runs no scripts, wherever its document is from', async (t) => {
    const page = await openPage(t);
    for (const sandbox of ['', 'allow-same-origin', 'ALLOW-SAME-ORIGIN allow-forms', 'nonsense'])
      for (const [name, attributes] of Object.entries(SOURCES)) {
        await page.evaluate((all) => addAndLoad(all), { sandbox, ...attributes });
        assert.deepEqual(await page.evaluate('[messages, window.reached]'), [[], undefined], `${name}: ${sandbox}`);
        await page.evaluate("document.querySelector('iframe').remove()");
      }
  });

  test('runs none of its handlers, links, modules and frames', async (t) => {
    const page = await openPage(t);
    const srcdoc = `<body onload="parent.reached = 1"><img src="/none" onerror="parent.reached = 2"><svg onload="parent.reached = 3"></svg>
      <script type="module">parent.reached = 4</script><script src="/frame"></script><noscript><p id="n">no scripts</p></noscript>
      <a id="a" href="javascript:parent.reached = 5" onclick="parent.reached = 6">x</a>
      <iframe srcdoc="<script>top.reached = 7</script>"></iframe><iframe src="/frame"></iframe><iframe src="javascript:top.reached = 8"></iframe>`;
    await page.evaluate((all) => addAndLoad(all), { sandbox: 'allow-same-origin', srcdoc });
    const [, { frame }] = await page.frames();
    // The page's user can still run scripts there.
    const text = await page.evaluateIn({ frame }, async () => {
      document.getElementById('a').click();
      document.body.insertAdjacentHTML('beforeend', '<img id="last" src="/missing.png" onerror="parent.reached = 9">');
      await new Promise((resolve) => document.getElementById('last').addEventListener('error', resolve));
      return document.getElementById('n')?.textContent;
    });
    assert.equal(text, 'no scripts');
    assert.deepEqual(await page.evaluate('[messages, window.reached]'), [[], undefined]);
  });

  test('does not navigate its page, nor run scripts there by links', async (t) => {
    const page = await openPage(t, { '/elsewhere': '' });
    const link = (target) =>
      `<a target=${target} href="javascript:void(top.reached = '${target}')">link</a><a target=${target} href="/elsewhere">link</a>`;
    const inner = link('_parent').replaceAll('"', '&quot;');
    const srcdoc = `${link('_top')}${link('_parent')}${link('_self')}<iframe srcdoc="${inner}"></iframe>`;
    const outcome = await page.evaluate(
      async (attributes) => {
        await addAndLoad(attributes);
        const frame = document.querySelector('iframe');
        const documents = [frame.contentDocument, frame.contentDocument.querySelector('iframe').contentDocument];
        for (const { links } of documents)
          for (const link of [...links]) if (!link.href.endsWith('/elsewhere') || link.target !== '_self') link.click();
        // Navigations are tasks, and this one comes after them.
        const loaded = new Promise((resolve) => {
          frame.onload = resolve;
        });
        frame.src = '/none';
        await loaded;
        return [location.pathname, window.reached];
      },
      { sandbox: 'allow-same-origin', srcdoc },
    );
    assert.deepEqual(outcome, ['/', undefined]);
    assert.ok(!page.server.requests.some(({ url }) => url === '/elsewhere'));
  });

  test('has an opaque origin, also without a document or with a javascript: URL', async (t) => {
    const page = await openPage(t);
    const outcome = await page.evaluate(async () => {
      const outcomes = [];
      for (const src of ['', 'about:blank', 'javascript:parent.reached = 1', 'about:srcdoc']) {
        for (const sandbox of ['', 'allow-scripts']) {
          const frame = add({ sandbox, src });
          let isReachable = frame.contentDocument !== null;
          try {
            frame.contentWindow.document.body;
            isReachable = true;
          } catch {}
          await new Promise((resolve) => {
            frame.onload = resolve;
          });
          outcomes.push([isReachable, frame.contentDocument]);
          frame.contentWindow.location = 'javascript:parent.reached = 2';
          frame.src = 'javascript:parent.reached = 3';
          frame.remove();
        }
      }
      return [outcomes, window.reached];
    });
    assert.deepEqual(outcome, [Array(8).fill([false, null]), undefined]);
  });

  test('runs none in the frames of its empty document, while its own loads', async (t) => {
    const page = await openPage(t, {
      '/never': () => new Promise(() => {}),
      '/logs': '<script>console.log("a frame ran")</script>',
    });
    await page.evaluate(() => {
      const append = (document, members) => {
        const frame = Object.assign(document.createElement('iframe'), members);
        document.body.append(frame);
        return frame;
      };
      const { contentDocument } = append(document, { sandbox: 'allow-same-origin', src: '/never' });
      append(contentDocument, { srcdoc: '<script>console.log("srcdoc ran")</script>' });
      append(contentDocument, { src: 'javascript:console.log("a URL ran")' });
      contentDocument.defaultView.setTimeout('console.log("a timer ran")');
      const last = append(contentDocument, { src: '/logs' });
      return new Promise((resolve) => {
        last.onload = () => setTimeout(() => resolve(console.log('loaded')));
      });
    });
    await logged(page, 'loaded');
    assert.deepEqual(page.log, ['loaded']);
  });
});
