// Pages: opening, navigating, evaluating and closing them, and their console.

import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { suite, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { PageError, TimeoutError } from '@selfprof/page';

import { eventually, host, open, openHtml, serve, until } from './server.mjs';

suite('open', () => {
  test('loads a document over http and runs its scripts in order', async (t) => {
    const page = await openHtml(
      t,
      `<!doctype html><title>A page</title><script>console.log('inline')</script>
       <script src="/defer.js" defer></script><script src="/blocking.js"></script><script>console.log('after')</script>
       <script>addEventListener('load', () => console.log('load', document.readyState))</script>`,
      { routes: { '/defer.js': "console.log('defer')", '/blocking.js': "console.log('blocking')" } },
    );
    assert.deepEqual(page.log, ['inline', 'blocking', 'after', 'defer', 'load complete']);
    assert.equal(page.url, page.server.url('/'));
    assert.equal(await page.evaluate(() => document.title), 'A page');
  });

  test('resolves at the event that its caller waits for', async (t) => {
    let release;
    const slow = new Promise((resolve) => {
      release = resolve;
    });
    const server = await serve(t, {
      '/': '<script>document.onreadystatechange = () => console.log(document.readyState)</script><script async src="/slow.js"></script>',
      '/slow.js': () => slow.then(() => "console.log('slow')"),
    });
    const page = await open(t, server.url('/'), { waitUntil: 'domcontentloaded' });
    assert.deepEqual(page.log, ['interactive']);
    await page.evaluate(() => {
      globalThis.loaded = new Promise((resolve) => addEventListener('load', () => resolve()));
    });
    release();
    await page.evaluate('loaded');
    assert.deepEqual(page.log, ['interactive', 'slow', 'complete']);
  });

  test('loads documents of any status and follows redirects', async (t) => {
    const server = await serve(t, {
      '/': { status: 302, headers: { location: '/gone' } },
      '/gone': { status: 410, body: '<title>gone</title>' },
    });
    const page = await open(t, server.url('/'));
    assert.equal(page.url, server.url('/gone'));
    assert.deepEqual((await page.navigate(server.url('/'))).status, 410);
  });

  test('decodes by headers, byte order mark or the document itself', async (t) => {
    const check = async (body, type, expected) => {
      const page = await openHtml(t, Buffer.from(body, 'latin1'), { headers: { 'content-type': type } });
      assert.equal(await page.evaluate(() => document.title), expected, type);
    };
    await check('<title>\xe4</title>', 'text/html; charset=iso-8859-1', 'ä');
    await check('<meta charset=windows-1251><title>\xc4</title>', 'text/html', 'Д');
    await check('\xef\xbb\xbf<title>\xc3\xa4</title>', 'text/html; charset=iso-8859-1', 'ä');
    await check(
      '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>\xc3\xa4</title></head></html>',
      'application/xhtml+xml',
      'ä',
    );
  });

  test('loads a document from disk with the files beside it', async (t) => {
    const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'selfprof-page-'));
    t.after(() => fs.rm(folder, { recursive: true }));
    await fs.mkdir(path.join(folder, 'site'));
    await fs.writeFile(
      path.join(folder, 'site', 'index.html'),
      '<script src="app.js"></script><script src="../secret.js"></script>',
    );
    await fs.writeFile(path.join(folder, 'site', 'app.js'), "console.log('app', location.protocol, origin)");
    await fs.writeFile(path.join(folder, 'secret.js'), "console.log('secret')");
    await fs.symlink(path.join(folder, 'secret.js'), path.join(folder, 'site', 'link.js'));
    const index = path.join(folder, 'site', 'index.html');
    const page = await open(t, index);
    assert.deepEqual(page.log, ['app file: null']);
    assert.equal(page.url, pathToFileURL(index).href);
    assert.match(page.problems[0].text, /outside .*site/);
    const answers = await page.evaluate(() =>
      Promise.all(
        ['app.js', '../secret.js', 'link.js', 'file:///etc/hostname', 'http://127.0.0.1:1/'].map(
          (url) =>
            new Promise((resolve) => {
              const request = new XMLHttpRequest();
              request.open('GET', url);
              request.onload = () => resolve(request.status);
              request.onerror = () => resolve('error');
              request.send();
            }),
        ),
      ),
    );
    assert.deepEqual(answers, [200, 'error', 'error', 'error', 'error']);
    const wider = await open(t, index, { root: folder });
    assert.deepEqual(wider.log, ['app file: null', 'secret']);
  });

  test('takes headers for documents on disk only', async (t) => {
    const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'selfprof-'));
    t.after(() => fs.rm(folder, { recursive: true }));
    const index = path.join(folder, 'index.html');
    await fs.writeFile(index, '<title>On disk</title>');
    const isolation = {
      'Document-Policy': 'js-profiling',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Embedder-Policy': 'require-corp',
    };
    const attempt = () => {
      try {
        return [typeof new Profiler({ sampleInterval: 10, maxBufferSize: 1 }).stop(), crossOriginIsolated];
      } catch (error) {
        return [error.name, crossOriginIsolated];
      }
    };
    for (const [headers, expected] of [
      [undefined, ['NotAllowedError', false]],
      [{ 'document-policy': 'js-profiling' }, ['object', false]],
      [Object.entries(isolation), ['object', true]],
    ]) {
      const page = await open(t, index, { headers });
      assert.deepEqual(await page.evaluate(attempt), expected);
    }
    const blank = await open(t, 'about:blank', { headers: isolation });
    // A document with an opaque origin is not a secure context.
    assert.deepEqual(await blank.evaluate(attempt), ['object', false]);
    await assert.rejects(blank.navigate('http://127.0.0.1:1/', { headers: {} }), /come from its server/);
    await assert.rejects(blank.navigate('localhost:3000'), /hint: http:\/\/localhost:3000/);
  });

  test('fails for documents that do not exist', async (t) => {
    const pages = host(t);
    await assert.rejects(pages.open('http://127.0.0.1:1/'), { name: 'NetworkError' });
    await assert.rejects(pages.open('/no/such/file.html'), { name: 'NetworkError', message: /cannot be read/ });
    await assert.rejects(pages.open('ftp://example.test/'), { name: 'NetworkError' });
    assert.deepEqual(pages.pages, []);
  });

  test('fails when the document takes too long, and leaves no thread behind', async (t) => {
    const server = await serve(t, { '/': () => new Promise(() => {}) });
    const pages = host(t);
    await assert.rejects(pages.open(server.url('/'), { timeout: 100 }), TimeoutError);
    assert.deepEqual(pages.pages, []);
  });
});

suite('several pages', () => {
  test('do not block each other', async (t) => {
    const pages = host(t);
    const server = await serve(t, { '/': '' });
    const [busy, idle] = await Promise.all([pages.open(server.url('/')), pages.open(server.url('/'))]);
    const loop = assert.rejects(busy.evaluateIn({ timeout: 2_000 }, 'for (;;);'), TimeoutError);
    assert.equal(await idle.evaluate(() => 1 + 1), 2);
    await loop;
    assert.equal(await idle.evaluate(() => 1 + 1), 2);
  });

  test('share their cookies if their host says so, and nothing else', async (t) => {
    const server = await serve(t, {
      '/': { body: '', headers: { 'set-cookie': ['a=1', 'hidden=1; HttpOnly'] } },
      '/other': '',
    });
    const pages = host(t, { cookies: 'host' });
    const one = await pages.open(server.url('/'));
    assert.equal(await one.evaluate(() => document.cookie), 'a=1');
    await one.evaluate(() => {
      document.cookie = 'b=2';
      window.global = 1;
    });
    const two = await pages.open(server.url('/other'));
    assert.equal(server.requests.at(-1).headers.cookie, 'a=1; hidden=1; b=2');
    assert.equal(await two.evaluate(() => document.cookie), 'a=1; b=2');
    await two.evaluate(() => {
      document.cookie = 'b=3';
    });
    assert.equal(await two.evaluate(() => typeof window.global), 'undefined');
    await eventually(async () => (await one.evaluate(() => document.cookie)) === 'a=1; b=3');
  });

  test('keep their cookies from each other otherwise, also from navigation to navigation', async (t) => {
    const server = await serve(t, {
      '/': { body: '', headers: { 'set-cookie': 'a=1; SameSite=Strict' } },
      '/other': '',
    });
    const pages = host(t);
    const one = await pages.open(server.url('/'));
    const two = await pages.open(server.url('/other'));
    assert.equal(await two.evaluate(() => document.cookie), '');
    // The user may follow a link that is strict about cookies.
    await one.navigate(server.url('/other'));
    assert.equal(server.requests.at(-1).headers.cookie, 'a=1');
    assert.equal(server.requests.at(-1).headers['sec-fetch-site'], 'none');
    assert.equal(await one.evaluate(() => document.cookie), 'a=1');
  });

  test('share no connections, even if they share their cookies', async (t) => {
    const ports = new Set();
    const server = await serve(t, {
      '*': ({ socket }) => {
        ports.add(socket.remotePort);
        return '';
      },
    });
    const pages = host(t, { cookies: 'host' });
    for (let at = 0; at < 2; at++) {
      const page = await pages.open(server.url('/'));
      await page.navigate(server.url('/again'));
      await page.close();
    }
    assert.equal(ports.size, 2);
  });
});

suite('navigate', () => {
  test('follows navigations of the page itself', async (t) => {
    const server = await serve(t, {
      '/': '<script>location.href = "/next?" + document.readyState</script>',
      '/next': '<title>next</title>',
    });
    const page = await open(t, server.url('/'), { waitUntil: 'commit' });
    await new Promise((resolve) => page.on('load', () => page.url.includes('next') && resolve()));
    assert.equal(page.url, server.url('/next?loading'));
    assert.equal(server.requests.at(-1).headers.referer, server.url('/'));
  });

  test('lets no page from the network navigate to a file', async (t) => {
    const page = await openHtml(t, '');
    await page.evaluate(() => {
      location.href = 'file:///etc/hostname';
    });
    await until(page, () => page.problems.length > 0);
    assert.equal(page.problems[0].kind, 'navigation');
    assert.equal(page.url, page.server.url('/'));
  });
});

suite('evaluate', () => {
  test('runs after what was asked for earlier, though that takes another way', async (t) => {
    const page = await openHtml(t, '');
    const busy = page.evaluate(() => {
      console.log('busy');
      const end = performance.now() + 500;
      while (performance.now() < end);
    });
    await new Promise((resolve) => page.once('console', resolve));
    const [, state] = await Promise.all([page.setVisible(false), page.evaluate(() => document.visibilityState), busy]);
    assert.equal(state, 'hidden');
  });

  test('takes expressions and functions with arguments, and awaits the result', async (t) => {
    const page = await openHtml(t, '<p>text</p>');
    assert.equal(await page.evaluate('let lexical = 4; lexical'), 4);
    assert.equal(await page.evaluate('lexical'), 4);
    assert.equal(await page.evaluate((a, b) => a + b, 'x', 'y'), 'xy');
    assert.equal(
      await page.evaluate(async () => (await Promise.resolve(document)).querySelector('p').textContent),
      'text',
    );
  });

  test('clones values both ways', async (t) => {
    const page = await openHtml(t, '');
    const circular = { name: 'circular' };
    circular.self = circular;
    const values = [
      undefined,
      null,
      true,
      -0,
      NaN,
      1n,
      '\ud800',
      new Date(0),
      /x/giu,
      new Map([[{ a: 1 }, new Set([1])]]),
      // biome-ignore lint/suspicious/noSparseArray: holes are cloned, too
      [1, , 3],
      { nested: { deep: [] } },
      new Uint8Array([1, 2, 3]),
      new Float64Array([0.5]),
      new DataView(new ArrayBuffer(2)),
      new ArrayBuffer(3),
      Object(1),
      Object('s'),
      new RangeError('broken'),
    ];
    const back = await page.evaluate((...given) => given, ...values);
    assert.deepEqual(back, values);
    const same = await page.evaluate((value) => [value.self === value, value], circular);
    assert.equal(same[0], true);
    assert.equal(same[1].self, same[1]);
    assert.ok(await page.evaluate((value) => value instanceof Map && value.constructor === Map, new Map()));
  });

  test('gives files and blobs with their bytes', async (t) => {
    const page = await openHtml(t, '');
    const blob = await page.evaluate("new Blob([new Uint8Array(20 << 20).fill(7), 'end'], { type: 'x/y' })");
    assert.deepEqual([blob.size, blob.type], [(20 << 20) + 3, 'x/y']);
    assert.equal(await blob.slice(-4).text(), '\x07end');
    const [file] = await page.evaluate("[new File(['text'], 'name')]");
    assert.deepEqual([file.name, await file.text()], ['name', 'text']);
  });

  test('reports values that cannot be cloned', async (t) => {
    const page = await openHtml(t, '<p>');
    const check = (script) =>
      assert.rejects(page.evaluate(script), {
        name: 'PageError',
        errorName: 'DataCloneError',
        message: /\n\nhint: return plain data, such as an element's text$/,
      });
    await check(() => () => {});
    await check(() => Symbol('s'));
    await check(() => document.querySelector('p'));
    await check(() => window);
    await check(() => new Proxy({}, {}));
    await check(() => new WeakMap());
    await assert.rejects(
      page.evaluate(
        () => {},
        () => {},
      ),
      { name: 'DataCloneError', message: /\n\nhint: pass plain data to the page$/ },
    );
  });

  test('rejects with what the script threw', async (t) => {
    const page = await openHtml(t, '');
    const failure = await page
      .evaluate(() => {
        throw new RangeError('too far');
      })
      .catch((error) => error);
    assert.ok(failure instanceof PageError);
    assert.equal(failure.message, 'RangeError: too far');
    assert.equal(failure.errorName, 'RangeError');
    assert.match(failure.pageStack, /^RangeError: too far\n {4}at evaluate:2:/);
    await assert.rejects(page.evaluate('syntax error'), { errorName: 'SyntaxError' });
    await assert.rejects(
      page.evaluate(() => Promise.reject(new Error('later'))),
      { message: 'later' },
    );
    await assert.rejects(page.evaluate('throw null'), { message: 'the page threw null' });
    await assert.rejects(page.evaluate('throw { toString() { throw 1 } }'), PageError);
    await assert.rejects(page.evaluate(42), TypeError);
  });

  test('ends a page in an endless loop', async (t) => {
    const page = await openHtml(t, '');
    const crashes = [];
    page.on('crash', ({ message }) => crashes.push(message));
    const warnings = [];
    const note = ({ message }) => warnings.push(message);
    process.on('warning', note);
    t.after(() => process.off('warning', note));
    const crashed = page.waitForEvent('crash');
    const late = Array.from({ length: 20 }, () => page.evaluateIn({ timeout: 100 }, 'for (;;);'));
    const click = page.click('p', { timeout: 100 });
    await Promise.all([...late, click].map((call) => assert.rejects(call, TimeoutError)));
    // The calls fail when they say. The page has a little longer to respond.
    assert.deepEqual(crashes, []);
    await crashed;
    assert.deepEqual([crashes, warnings], [['the page does not respond'], []]);
    await assert.rejects(page.evaluate('1'), /hint: navigate to continue/);
    // The page can be navigated again.
    await page.navigate(page.server.url('/'));
    assert.equal(await page.evaluate('1'), 1);
  });

  test('leaves a page alone that waits for a promise', async (t) => {
    const page = await openHtml(t, '');
    await page.evaluate('window.mark = 1');
    await assert.rejects(
      page.evaluateIn({ timeout: 50 }, () => new Promise(() => {})),
      TimeoutError,
    );
    assert.equal(await page.evaluate('window.mark'), 1);
  });
});

suite('close', () => {
  test('ends a page, even in an endless loop, and rejects pending calls', async (t) => {
    const page = await openHtml(t, '');
    const waiting = assert.rejects(page.evaluate('for (;;);'), /closed/);
    await page.close();
    await waiting;
    assert.equal(page.closed, true);
    await assert.rejects(page.evaluate('1'), /closed/);
    await page.close();
  });

  test('closes all pages of a host', async (t) => {
    const pages = host(t);
    const server = await serve(t, { '/': '' });
    await Promise.all([pages.open(server.url('/')), pages.open(server.url('/'))]);
    assert.equal(pages.pages.length, 2);
    await pages.close();
    assert.equal(pages.pages.length, 0);
  });
});

suite('the console', () => {
  test('shows values as Node does, without running code of the page', async (t) => {
    const page = await openHtml(
      t,
      `<script>
        console.log('%s is %d %i %f %o %% %c!', 'x', 1.5, 2.5, 3.5, { a: 1 }, 'color: red');
        console.log([1, , 'two'], { get a() { throw 1 }, [Symbol('s')]: null }, new Map([[1, { b: [] }]]), new Set(['x']));
        console.log(null, undefined, -0, 1n, Symbol('s'), () => {}, class A {}, function f() {});
        const circle = {}; circle.self = circle; console.log(circle, new Proxy({}, { get() { throw 1 } }));
        console.log(new Date(0), /x/g, new Uint8Array(2), Promise.resolve(), document.body ?? 'none');
        console.warn('careful'); console.error('bad'); console.assert(false, 'why'); console.assert(true);
        console.group('group'); console.info('inside'); console.groupEnd(); console.count(); console.count();
        console.timeEnd('none');
      </script>`,
    );
    // Node 22 writes symbols that are keys with brackets, and Node 26 what is a proxy.
    const log = page.log.map((line) => line.replace('[Symbol(s)]', 'Symbol(s)').replace('Proxy({})', '{}'));
    assert.deepEqual(log, [
      'x is 1.5 2 3.5 { a: 1 } % !',
      "[ 1, <1 empty item>, 'two' ] { a: [Getter], Symbol(s): null } Map(1) { 1 => { b: [] } } Set(1) { 'x' }",
      'null undefined -0 1n Symbol(s) [Function (anonymous)] [class A] [Function: f]',
      '<ref *1> { self: [Circular *1] } {}',
      '1970-01-01T00:00:00.000Z /x/g Uint8Array(2) [ 0, 0 ] Promise { undefined } none',
      'warn: careful',
      'error: bad',
      'assert: Assertion failed: why',
      'group: group',
      'info:   inside',
      'count: default: 1',
      'count: default: 2',
      "warn: No such label 'none' for console.timeEnd()",
    ]);
  });
});

test('later pages, which use cached code, behave as the first', async (t) => {
  // The first page that is closed provides V8's cached code of the host's modules for later pages.
  const pages = host(t);
  const server = await serve(t, {
    '/': { body: '<p id="p">text</p>', headers: { 'document-policy': 'js-profiling' } },
  });
  const stacks = [];
  for (let i = 0; i < 3; i++) {
    const page = await open(t, server.url('/'), { host: pages });
    const trace = await page.evaluate(async () => {
      let profiler;
      p.addEventListener('x', function listener() {
        profiler = new Profiler({ sampleInterval: 2147483, maxBufferSize: 1 });
      });
      p.dispatchEvent(new Event('x'));
      return await profiler.stop();
    });
    stacks.push(trace.frames.map(({ name, line, column }) => [name, line, column].join(':')));
    await page.close();
  }
  assert.ok(stacks[0].includes('dispatchEvent::'), stacks[0].join());
  assert.deepEqual(stacks, Array(3).fill(stacks[0]));
});
