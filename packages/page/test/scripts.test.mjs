// Classic scripts: how they are fetched, which of them are muted, and the locations in their errors.

import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { suite, test } from 'node:test';

import { eventually, logged, open, openHtml, serve } from './server.mjs';

/** A script that throws, and a page that logs what it learns about that. */
const THROWS = "globalThis.ran = (globalThis.ran ?? 0) + 1; function boom() { throw new Error('secret') } boom();";
const LISTENS = `<script>
  onerror = (message, url, line, column, error) => { console.log([message, url.replace(/^.*\\//, ''), line, column, error === null ? null : error.message].join(' | ')); return true; };
</script>`;
const MUTED = 'Script error. |  | 0 | 0 | ';

/** Opens a page with one script element and returns what it logged. */
async function check(t, element, other, own = {}) {
  const foreign = await serve(t, other);
  const html = `${LISTENS}<script ${element(foreign)} onerror="console.log('not loaded')"></script><script>console.log('ran', globalThis.ran)</script>`;
  const routes = typeof own === 'function' ? own(foreign) : own;
  const page = await openHtml(t, html, { routes });
  return { log: page.log, requests: foreign.requests, page };
}

suite('a script of another origin', () => {
  test('is muted when it is fetched without CORS', async (t) => {
    const { log, requests } = await check(t, ({ url }) => `src="${url('/a.js')}"`, { '/a.js': THROWS });
    assert.deepEqual(log, [MUTED, 'ran 1']);
    assert.equal(requests[0].headers.origin, undefined);
  });

  test("counts as the page's own when CORS allows it", async (t) => {
    const allow = { 'access-control-allow-origin': '*' };
    const { log, requests } = await check(t, ({ url }) => `crossorigin src="${url('/a.js')}"`, {
      '/a.js': { body: THROWS, headers: allow },
    });
    assert.deepEqual(log, ['Uncaught Error: secret | a.js | 1 | 69 | secret', 'ran 1']);
    assert.match(requests[0].headers.origin, /^http:\/\/127\.0\.0\.1:\d+$/);
  });

  test('does not run when CORS was requested and refused', async (t) => {
    for (const headers of [
      {},
      { 'access-control-allow-origin': 'http://other.test' },
      { 'access-control-allow-origin': 'null' },
    ]) {
      const { log, page } = await check(t, ({ url }) => `crossorigin src="${url('/a.js')}"`, {
        '/a.js': { body: THROWS, headers },
      });
      assert.deepEqual(log, ['not loaded', 'ran undefined']);
      assert.match(page.problems[0].text, /Access-Control-Allow-Origin/);
    }
  });

  test('with credentials needs more headers', async (t) => {
    const element = ({ url }) => `crossorigin="use-credentials" src="${url('/a.js')}"`;
    const answer = (extra) => ({
      '/a.js': ({ headers }) => ({
        body: THROWS,
        headers: { 'access-control-allow-origin': headers.origin, ...extra },
      }),
    });
    assert.deepEqual((await check(t, element, answer({}))).log, ['not loaded', 'ran undefined']);
    const { log } = await check(t, element, answer({ 'access-control-allow-credentials': 'true' }));
    assert.deepEqual(log, ['Uncaught Error: secret | a.js | 1 | 69 | secret', 'ran 1']);
    const any = {
      '/a.js': {
        body: THROWS,
        headers: { 'access-control-allow-origin': '*', 'access-control-allow-credentials': 'true' },
      },
    };
    assert.deepEqual((await check(t, element, any)).log, ['not loaded', 'ran undefined']);
  });

  test('is muted after a redirect to another origin, and after one back', async (t) => {
    const there = ({ url }) => ({ '/r.js': { status: 302, headers: { location: url('/a.js') } } });
    assert.deepEqual((await check(t, () => 'src="/r.js"', { '/a.js': THROWS }, there)).log, [MUTED, 'ran 1']);
    // To another origin, and from there back to the page's.
    let home;
    const foreign = await serve(t, { '/back.js': () => ({ status: 307, headers: { location: home } }) });
    const page = await serve(t, {
      '/': `${LISTENS}<script src="${foreign.url('/back.js')}"></script>`,
      '/own.js': THROWS,
    });
    home = page.url('/own.js');
    assert.deepEqual((await open(t, page.url('/'))).log, [MUTED]);
  });

  test('with CORS is checked at every redirect', async (t) => {
    const to = (url, headers) => ({ '/r.js': { status: 301, headers: { location: url('/a.js'), ...headers } } });
    const allowed = { body: THROWS, headers: { 'access-control-allow-origin': '*' } };
    const foreign = await serve(t, { '/a.js': allowed });
    const cases = [
      [{ 'access-control-allow-origin': '*' }, true],
      [{}, false],
    ];
    for (const [headers, isAllowed] of cases) {
      const { log } = await check(t, ({ url }) => `crossorigin src="${url('/r.js')}"`, to(foreign.url, headers));
      assert.equal(log.at(-1), isAllowed ? 'ran 1' : 'ran undefined');
    }
    // After a redirect between two other origins, the request's origin is `null`.
    assert.equal(foreign.requests.at(-1).headers.origin, 'null');
  });

  test("stays muted when its URL is that of a data: or blob: URL of the page, which are the page's own", async (t) => {
    const page = await openHtml(
      t,
      `${LISTENS}<script src="data:text/javascript,${encodeURIComponent(THROWS)}"></script>`,
    );
    assert.match(page.log[0], /^Uncaught Error: secret /);
  });

  test('is refused when its server forbids embedding', async (t) => {
    const refuse = { 'cross-origin-resource-policy': 'same-origin' };
    const { log } = await check(t, ({ url }) => `src="${url('/a.js')}"`, {
      '/a.js': { body: THROWS, headers: refuse },
    });
    assert.deepEqual(log, ['not loaded', 'ran undefined']);
  });

  test('cannot be read through XMLHttpRequest without CORS', async (t) => {
    const foreign = await serve(t, {
      '/a.txt': 'secret',
      '/open.txt': { body: 'open', headers: { 'access-control-allow-origin': '*', 'x-hidden': '1' } },
    });
    const page = await openHtml(t, '');
    const read = (url) =>
      page.evaluate(
        (target) =>
          new Promise((resolve) => {
            const request = new XMLHttpRequest();
            request.open('GET', target);
            request.onloadend = () =>
              resolve([request.status, request.responseText, request.getResponseHeader('x-hidden')]);
            request.send();
          }),
        url,
      );
    assert.deepEqual(await read(foreign.url('/a.txt')), [0, '', null]);
    assert.deepEqual(await read(foreign.url('/open.txt')), [200, 'open', null]);
  });
});

suite('a script', () => {
  test('is not run when it is served with another MIME type', async (t) => {
    const as = (type, extra = {}) => ({ '/a.js': { body: THROWS, headers: { 'content-type': type, ...extra } } });
    for (const [routes, runs] of [
      [as('text/plain'), true],
      [as('image/png'), false],
      [as('text/csv'), false],
      [as('text/plain', { 'x-content-type-options': 'nosniff' }), false],
      [as('text/javascript', { 'x-content-type-options': 'nosniff' }), true],
    ]) {
      const page = await openHtml(t, `${LISTENS}<script src="/a.js"></script>`, { routes });
      assert.equal(page.log.length, runs ? 1 : 0, JSON.stringify(routes['/a.js'].headers));
    }
  });

  test('is run only if it matches its integrity attribute', async (t) => {
    const body = "console.log('ran')";
    const sha = (algorithm, text = body) =>
      `${algorithm}-${crypto.createHash(algorithm).update(text).digest('base64')}`;
    const foreign = await serve(t, { '/a.js': body });
    const run = async (integrity, src = '/a.js', attributes = '') => {
      const page = await openHtml(t, `<script integrity="${integrity}" ${attributes} src="${src}"></script>`, {
        routes: { '/a.js': body },
      });
      return page.log.length === 1;
    };
    assert.equal(await run(sha('sha256')), true);
    assert.equal(await run(sha('sha384', 'other')), false);
    assert.equal(await run(`${sha('sha256')} ${sha('sha512', 'other')}`), false);
    assert.equal(await run('md5-nonsense'), true);
    assert.equal(await run(sha('sha256'), foreign.url('/a.js')), false);
  });

  test('is run, as a style sheet is applied, only if it matches its integrity attribute', async (t) => {
    const css = 'p { color: red }';
    const digest = `sha256-${crypto.createHash('sha256').update(css).digest('base64')}`;
    for (const [integrity, event] of [
      [digest, 'load'],
      [digest.replace(/.{6}$/, 'AAAAA='), 'error'],
    ]) {
      const page = await openHtml(
        t,
        `<link rel="stylesheet" href="/a.css" integrity="${integrity}" onload="console.log('load')" onerror="console.log('error')"><p>`,
        { routes: { '/a.css': { body: css, headers: { 'content-type': 'text/css' } } } },
      );
      await eventually(() => page.log.length > 0);
      assert.deepEqual(page.log, [event]);
      const color = await page.evaluate(() => getComputedStyle(document.querySelector('p')).color);
      assert.equal(color === 'rgb(255, 0, 0)', event === 'load', color);
    }
  });

  test('is decoded by its headers, its element or its page', async (t) => {
    const body = Buffer.from("console.log('\xe4')", 'latin1');
    const run = async (attributes, type) => {
      const routes = { '/a.js': { body, headers: { 'content-type': type } } };
      return (await openHtml(t, `<meta charset=utf-8><script ${attributes} src="/a.js"></script>`, { routes })).log[0];
    };
    assert.equal(await run('', 'text/javascript; charset=windows-1252'), 'ä');
    assert.equal(await run('charset="iso-8859-1"', 'text/javascript'), 'ä');
    assert.equal(await run('', 'text/javascript'), '\ufffd');
  });

  test('inserted by script runs when it is loaded, in order unless it is async', async (t) => {
    const page = await openHtml(
      t,
      `<script>
        const insert = (text, async) => { const s = document.createElement('script'); s.src = text; s.async = async; document.head.append(s); };
        insert('/slow.js', false); insert('/fast.js', false); insert('/fast.js?async', true);
        const inline = document.createElement('script'); inline.text = "console.log('inline')"; document.head.append(inline);
        const parsed = document.createElement('div'); parsed.innerHTML = '<script>console.log("never")<\\/script>'; document.head.append(parsed);
        document.head.append(inline.cloneNode(true));
      </script>`,
      {
        routes: {
          '/slow.js': () => new Promise((resolve) => setTimeout(() => resolve("console.log('slow')"), 50)),
          '/fast.js': "console.log('fast' + document.currentScript.src.includes('async'))",
        },
      },
    );
    assert.deepEqual(page.log, ['inline', 'fasttrue', 'slow', 'fastfalse']);
  });

  test('with nomodule, or of another type, is not run', async (t) => {
    const page = await openHtml(
      t,
      `<script nomodule>console.log('nomodule')</script><script type="text/template">console.log('template')</script>
       <script type=" text/JavaScript ">console.log('type')</script><script language="javascript">console.log('language')</script>
       <script for="window" event="onclick">console.log('for')</script>`,
    );
    assert.deepEqual(page.log, ['type', 'language']);
  });

  test('can write to its document', async (t) => {
    const page = await openHtml(
      t,
      `<script>document.write('<p id=a>written</p><script src="/w.js"><\\/script>'); console.log(document.getElementById('a').textContent)</script><script>console.log('after')</script>`,
      { routes: { '/w.js': "console.log('nested'); document.write('<p id=b>b</p>')" } },
    );
    assert.deepEqual(page.log, ['written', 'nested', 'after']);
    assert.equal(await page.evaluate(() => document.querySelectorAll('p').length), 2);
  });
});

suite('an event handler attribute', () => {
  test('sees its element, its form and its document, and is the function that HTML describes', async (t) => {
    const page = await openHtml(
      t,
      `<form id="f" name="formName" data-x="form"><button id="b" type="button" value="v" onclick="console.log(event.type, value, name, id, this === b, onclick.name)">x</button></form>
       <script>b.click(); console.log(b.onclick.toString())</script>`,
    );
    assert.deepEqual(page.log, [
      'click v  b true onclick',
      'function onclick(event) {\nconsole.log(event.type, value, name, id, this === b, onclick.name)\n}',
    ]);
  });

  test('cannot contain code that ends the function around it', async (t) => {
    const page = await openHtml(
      t,
      `<button id="b" onclick="}; console.log('escaped'); {">x</button><script>b.click(); console.log(b.onclick)</script>`,
    );
    assert.deepEqual(page.log, ['null']);
    assert.match(page.errors[0].message, /SyntaxError/);
  });

  test("on body is a listener of the window for the window's events", async (t) => {
    const page = await openHtml(
      t,
      `<body onload="console.log(this === window, event.type)" onerror="console.log(event, source.length > 0, lineno, colno, error.message); return true" onclick="console.log(this === document.body)">
<script>document.body.click(); throw new Error('e')</script>`,
    );
    assert.deepEqual(page.log, ['true', 'Uncaught Error: e true 2 38 e', 'true load']);
    assert.deepEqual(page.errors, []);
  });

  test('begins where the start tag of its element ends, as in Chromium', async (t) => {
    const page = await openHtml(
      t,
      `<p>\n  <b id="b"\n     onclick="window.profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 10 })">x</b>
<i id="i" onclick="
  throw new Error('here')">y</i>\n<script>b.click(); i.click();</script>`,
      { headers: { 'document-policy': 'js-profiling' } },
    );
    const { frames } = await page.evaluate('profiler.stop()');
    const { line, column } = frames.find(({ name }) => name === 'onclick');
    assert.deepEqual([line, column], [3, 90]);
    // The lines of the body follow.
    assert.equal(page.errors[0].lineno, 6);
  });
});

suite('the URL of a script', () => {
  test('has no fragment, so that a script is one resource', async (t) => {
    const page = await openHtml(
      t,
      `<script>location.hash = 'part';</script>
       <script>window.profilers = []; function start() { profilers.push(new Profiler({ sampleInterval: 10, maxBufferSize: 10 })); }</script>
       <script src="/a.js#one"></script><script src="/a.js#two"></script>`,
      { headers: { 'document-policy': 'js-profiling' }, routes: { '/a.js': 'start();' } },
    );
    const resources = await page.evaluate('Promise.all(profilers.map(async (p) => (await p.stop()).resources))');
    for (const list of resources) {
      const ofPage = list.filter((resource) => resource.startsWith('http')).sort();
      assert.deepEqual(ofPage, [page.server.url('/'), page.server.url('/a.js')]);
    }
  });
});

suite('javascript: URLs', () => {
  test('run in their document', async (t) => {
    const page = await openHtml(
      t,
      `<a id="a" href="javascript:console.log('clicked', this === window); void 0">x</a><script>a.click()</script>`,
    );
    await logged(page, 'clicked true');
    assert.deepEqual(page.log, ['clicked true']);
  });
});
