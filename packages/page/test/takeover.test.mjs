// Attacks of a page that has taken over the DOM realm, or that has its frames, modules and images in its hands.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { suite, test } from 'node:test';
import { walk } from './reachable.mjs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { loadFrame } from '../src/host/frame-loader.cjs';
import { jsdomWithBackDoor } from './back-door.mjs';
import { eventually, host, jsdom, openHtml, openInThisProcess, serve } from './server.mjs';
import { takeOver } from './taken-over.mjs';

openInThisProcess();

suite('a frame that is poisoned before our code is loaded', () => {
  test('reads no file through the function that our modules are loaded by', async (t) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-'));
    t.after(() => fs.rmSync(folder, { recursive: true }));
    fs.writeFileSync(path.join(folder, 'package.json'), '{ "name": "victim", "secret": "hunter2" }');
    const page = await openHtml(t, '<body>', { routes: { '/frame': '<p>' } });
    const found = await page.evaluate(
      `(async (file) => {
        const { DomObject } = (${takeOver})();
        const given = [];
        let poisoned = false;
        const poison = (target) => {
          if (poisoned || Object(target) !== target || target === window || !Object.hasOwn(target, 'globalThis')) return;
          poisoned = true;
          for (const holder of [target.Object, target.Reflect]) {
            for (const name of Reflect.ownKeys(holder)) {
              const original = holder[name];
              if (typeof original !== 'function' || name === 'prototype') continue;
              holder[name] = (...parameters) => (given.push(...parameters), Reflect.apply(original, holder, parameters));
            }
          }
        };
        for (const name of ['defineProperty', 'defineProperties', 'setPrototypeOf']) {
          const original = DomObject[name];
          DomObject[name] = (target, ...rest) => (poison(target), original(target, ...rest));
        }
        const frame = Object.assign(document.createElement('iframe'), { src: '/frame' });
        await new Promise((resolve) => { frame.onload = resolve; document.body.append(frame); });
        const read = given.filter((value) => typeof value === 'function').map((call) => {
          try { return call(file); } catch {}
        });
        return { poisoned, secrets: read.map((value) => value?.secret).filter((secret) => secret !== undefined) };
      })(${JSON.stringify(path.join(folder, 'package.json'))})`,
    );
    assert.deepEqual(found, { poisoned: true, secrets: [] });
  });
});

suite('requests of a DOM realm that was taken over', () => {
  test('do not claim to be for documents or workers, and have no unsafe content type', async (t) => {
    const victim = await serve(t, { '*': '' });
    const page = await openHtml(t, '');
    await page.evaluate(
      `(async (url) => {
        let root = Headers.prototype;
        for (let next = root; next !== null; next = Object.getPrototypeOf(next)) root = next;
        let change;
        root.toJSON = function () { return this.url === undefined ? this : Object.assign(this, change); };
        for (const destination of ['document', 'worker', 'iframe', 'script', 'nonsense']) {
          change = { destination };
          await fetch(url + destination, { mode: 'no-cors' });
        }
        change = { headers: [['content-type', 'text/plain; x="{(<>"'], ['accept-language', 'de']] };
        await fetch(url + 'type', { mode: 'no-cors', method: 'POST', body: new Uint8Array(1) });
      })(${JSON.stringify(victim.url('/'))})`,
    );
    assert.deepEqual(
      victim.requests.slice(0, 5).map(({ headers }) => headers['sec-fetch-dest']),
      Array(5).fill('empty'),
    );
    assert.equal(victim.requests[5].headers['content-type'], undefined);
    assert.equal(victim.requests[5].headers['accept-language'], 'de');
  });
});

suite('a server that redirects', () => {
  test('does not make its request one of the page: Sec-Fetch-Site', async (t) => {
    const other = await serve(t, {
      '/back': ({ url }) => ({ status: 302, headers: { location: new URL(url, 'http://x').searchParams.get('to') } }),
    });
    const page = await openHtml(t, '', { routes: { '/action': '' } });
    await page.evaluate(
      (url) => fetch(url, { mode: 'no-cors' }),
      `${other.url('/back').replace('127.0.0.1', 'localhost')}?to=${page.server.url('/action')}`,
    );
    assert.equal(page.server.requests.at(-1).url, '/action');
    assert.equal(page.server.requests.at(-1).headers['sec-fetch-site'], 'cross-site');
  });
});

suite('objects that a page can reach', () => {
  // The creation context of an object, which its prototypes do not show.
  test('name no realm but its own and the DOM realm, in which a value could be read', async (t) => {
    const page = await openHtml(
      t,
      '<iframe src="/frame"></iframe><script type="module">import * as all from "/m.mjs"; window.all = [all, import.meta]</script>',
      {
        host: host(t, { jsdom: jsdomWithBackDoor(t) }),
        headers: { 'document-policy': 'js-profiling' },
        routes: {
          '/frame': '',
          '/m.mjs': 'export default 1',
          '/n.mjs': 'export default 1',
          '/x': '',
          '/w.js': 'postMessage([{}])',
        },
      },
    );
    const { found, count } = await page.evaluate(`(async () => {
      const { writeValue, readValue } = doors;
      const [bytes, tag] = writeValue({}, () => false, () => {}, () => {}, () => {}, []);
      const isOfMainRealm = (anchor) => readValue(bytes, tag, [], [], [], anchor) === undefined;
      const removed = document.body.appendChild(document.createElement('iframe')).contentWindow;
      removed.frameElement.remove();
      performance.mark('m', { detail: {} });
      const values = {
        removed,
        namespace: await import('/n.mjs'),
        failed: await import('/none.mjs').catch((error) => error),
        response: await fetch('/x'),
        buffer: await (await fetch('/x')).arrayBuffer(),
        trace: await new Profiler({ sampleInterval: 1, maxBufferSize: 10 }).stop(),
        entries: performance.getEntries(),
        worker: await new Promise((resolve) => { new Worker('/w.js').onmessage = resolve; }),
        clone: structuredClone([new Map(), new Error('x'), new Blob([])]),
        wasm: await WebAssembly.instantiate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])),
        wait: Atomics.waitAsync(new Int32Array(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer), 0, 0, 1),
      };
      return (${walk})(values, 400_000, isOfMainRealm);
    })()`);
    assert.deepEqual(
      found.filter((path) => path.endsWith('made in another realm')),
      [],
    );
    assert.ok(count > 5_000, `${count} objects`);
  });
});

suite('a page', () => {
  test('is not ended as if it were a worker', async (t) => {
    const page = await openHtml(t, '', { host: host(t, { jsdom: jsdomWithBackDoor(t) }) });
    assert.equal(await page.evaluate(() => typeof window.doors.closeWorker), 'function');
    await page.evaluate(() => window.doors.closeWorker());
    assert.equal(await page.evaluate(() => document.title), '');
    assert.equal((await page.frames()).length, 1);
  });
});

suite('what a page says of itself', () => {
  const saying = (messages) => `{
    const { post } = (${takeOver})();
    for (const message of ${JSON.stringify(messages)}) post(message);
  }`;

  test('gives no frames that are in each other', async (t) => {
    const page = await openHtml(t, '<body>');
    const window = (frame, parent) => ({ type: 'window', frame, parent, url: 'about:blank' });
    await page.evaluate(
      saying([
        ...[window(5, 5), window(6, 7), window(7, 6), window(8, 0), window(9, 8)],
        ...[{ type: 'window closed', frame: 8 }, window(8, 9), window(-1, 0), window(1.5, 0), window(10, 'x')],
      ]),
    );
    await eventually(async () => (await page.frames()).length === 7);
    const frames = new Map((await page.frames()).map((one) => [one.frame, one]));
    for (const { frame } of frames.values()) {
      let steps = 0;
      for (let at = frames.get(frame); at?.parent !== undefined && steps < frames.size; at = frames.get(at.parent))
        steps += 1;
      assert.ok(steps < frames.size, `${frame}`);
    }
  });

  test('has methods that a console has, and places that a script has', async (t) => {
    const page = await openHtml(t, '<body>');
    const messages = [];
    const errors = [];
    page.on('console', (message) => messages.push(message));
    page.on('pageerror', (error) => errors.push(error));
    const exception = { type: 'exception', message: 'no', stack: '', filename: '' };
    await page.evaluate(
      saying([
        ...['nope', '', '__proto__', 5, null].map((method) => ({ type: 'console', method, text: 'text' })),
        ...[-1.5, 1e308, -1, 'x'].map((lineno) => ({ ...exception, lineno, colno: lineno })),
      ]),
    );
    await eventually(() => messages.length === 5 && errors.length === 4);
    for (const { method } of messages) assert.equal(method, 'log');
    for (const { lineno, colno } of errors) assert.deepEqual([lineno, colno], [0, 0]);
  });
});

test('a document that may not profile does not get the permission of a frame, whatever window the frame is said to show', async (t) => {
  // `at`: which of the times that jsdom asks a document for its window gives that of the page.
  const attack = async (at) => {
    const wait = () => new Promise((resolve) => setTimeout(resolve, 200));
    const show = (parent) => parent.body.appendChild(parent.createElement('iframe'));
    const { constructor } = ((prototype) => {
      for (let next = prototype; next !== null; next = Object.getPrototypeOf(next)) prototype = next;
      return prototype;
    })(Headers.prototype);
    const DomArray = constructor.keys({}).constructor;
    const outer = show(document);
    show(outer.contentDocument);
    const { flatMap } = DomArray.prototype;
    let found;
    let top;
    DomArray.prototype.flatMap = function (...parameters) {
      found ??= this.find((value) => value?._globalObject);
      for (top ??= found; top?._parentDocument; ) top = top._parentDocument;
      return flatMap.apply(this, parameters);
    };
    outer.remove();
    DomArray.prototype.flatMap = flatMap;
    const window = top._globalObject;
    const windows = new WeakMap();
    let count = 0;
    let isArmed = false;
    Object.defineProperty(Object.getPrototypeOf(found), '_globalObject', {
      configurable: true,
      set(value) {
        windows.set(this, value);
      },
      get() {
        if (isArmed && windows.has(this) && ++count === at) return window;
        return windows.get(this);
      },
    });
    const frame = document.createElement('iframe');
    frame.src = '/profiled';
    document.body.append(frame);
    isArmed = true;
    await wait();
    isArmed = false;
    delete Object.getPrototypeOf(found)._globalObject;
    try {
      return [count, String(new Profiler({ sampleInterval: 1, maxBufferSize: 100 }))];
    } catch ({ name }) {
      return [count, name];
    }
  };
  const counts = [];
  for (let at = 1; at <= 8; at++) {
    const routes = { '/profiled': { body: '<p>', headers: { 'document-policy': 'js-profiling' } } };
    const page = await openHtml(t, '<body>', { routes });
    const [count, name] = await page.evaluate(attack, at);
    assert.equal(name, 'NotAllowedError');
    counts.push(count);
    await page.close();
  }
  assert.ok(
    counts.some((count) => count > 0),
    `${counts}`,
  );
});

suite('a worker', () => {
  test('has no frames, which would be in no sandbox', async () => {
    const worker = { owner: {} };
    const request = { url: 'http://page.test/' };
    await assert.rejects(loadFrame({}, {}, worker, request, AbortSignal.timeout(1_000)), /a worker has no frames/);
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
    const own = await openHtml(t, '');
    await own.navigate(victim.url('/'));
    assert.deepEqual(own.log, ['shown in true']);
    const page = await openHtml(t, `<iframe src="${victim.url('/')}"></iframe>`);
    await eventually(() => page.problems.length > 0);
    assert.match(page.problems[0].text, /forbids to be framed/);
    assert.deepEqual(page.log, []);
  });

  test('cannot be told from one that its page shows, or from a server that does not answer', async (t) => {
    const deny = { 'x-frame-options': 'DENY' };
    const other = await serve(t, { '/shown': '', '/refused': { body: '', headers: deny } });
    const closed = http.createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address();
    closed.close();
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
    for (const url of [other.url('/shown'), other.url('/refused'), `http://127.0.0.1:${port}/`, '/own'])
      assert.deepEqual(await look(url), expected, url);
    assert.match(page.problems.map(({ text }) => text).join('\n'), /refused forbids.*\n.*Could not.*\n.*own forbids/s);
  });
});

suite('images of other origins', () => {
  test('give away no number of text that is not an image', async (t) => {
    const body = '<body>Your balance: <svg data-width="48213" height="77"></svg>';
    const victim = await serve(t, {
      '/html': { body },
      '/json': { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
      '/svg': { body, headers: { 'content-type': 'image/svg+xml; charset=utf-8' } },
    });
    const page = await openHtml(t, '');
    const sizes = await page.evaluate(
      (url) =>
        Promise.all(
          ['html', 'json', 'svg'].map(
            (path) =>
              new Promise((resolve) => {
                const image = new Image();
                image.onload = () => resolve(image.naturalHeight);
                image.onerror = () => resolve('error');
                image.src = url + path;
              }),
          ),
        ),
      victim.url('/'),
    );
    assert.deepEqual(sizes, ['error', 'error', 'error']);
  });

  test('give away no number of an SVG image but its size', async (t) => {
    const images = {
      "<svg data-account-width=\"4711\" stroke-width='4713' aria-label=\"width='31337' height='1'\"/>": [300, 150],
      '<?xml version="1.0"?><!-- <svg width="4712" height="9"> -->\n<!DOCTYPE svg>\n<svg width=" 5px" height="6.9"></svg>':
        [5, 6],
      '<svg width="100%" height="1in"></svg>': [300, 96],
      '<svg-secret width="4714" height="1"></svg-secret>': 'error',
      '<!DOCTYPE svg [<!ENTITY e "<svg width=\'4715\'/>">]><x/>': 'error',
      '<x><svg width="4716" height="1"></svg></x>': 'error',
    };
    const bodies = Object.keys(images);
    const victim = await serve(t, {
      '*': ({ url }) => ({ body: bodies[Number(url.slice(1))], headers: { 'content-type': 'image/svg+xml' } }),
    });
    const page = await openHtml(t, '');
    const sizes = await page.evaluate(
      (url, count) =>
        Promise.all(
          Array.from({ length: count }, (_, index) => {
            return new Promise((resolve) => {
              const image = new Image();
              image.onload = () => resolve([image.naturalWidth, image.naturalHeight]);
              image.onerror = () => resolve('error');
              image.src = url + index;
            });
          }),
        ),
      victim.url('/'),
      bodies.length,
    );
    assert.deepEqual(sizes, Object.values(images));
  });

  const BEGINNINGS = [
    'BMW owners: pin=4821,9173;',
    '\x89PNG and more: pin=4821,9173;',
    'GIF8 pin=4821,9173;',
    'GIF89apin=4821,9173;',
    'RIFFaaaaWEBPVP8X,"pin":"482193"}, and so on',
    'RIFFaaaaWEBPVP8 ,"pin":"482193"}, and so on',
    'RIFFaaaaWEBPVP8L,"pin":"482193"}, and so on',
  ];
  // The last two are what those of other formats would be, if they were served as text.
  const IMAGES = [
    'GIF89a\x04\x00\x07\x00\x00\x00\x00;',
    'RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x06\x00\x00',
  ];

  for (const type of ['text/csv', 'application/json', 'image/webp', 'application/octet-stream'])
    test(`give away no number of text that begins as an image does: ${type}`, async (t) => {
      const texts = [...BEGINNINGS, ...IMAGES];
      const victim = await serve(t, {
        '*': ({ url }) => ({
          body: Buffer.from(texts[Number(url.slice(1))], 'latin1'),
          headers: { 'content-type': type },
        }),
      });
      const page = await openHtml(t, '');
      const sizes = await page.evaluate(
        (url, count) =>
          Promise.all(
            Array.from(
              { length: count },
              (_, index) =>
                new Promise((resolve) => {
                  const image = new Image();
                  image.onload = () => resolve(`${image.naturalWidth} x ${image.naturalHeight}`);
                  image.onerror = () => resolve('error');
                  image.src = url + index;
                }),
            ),
          ),
        victim.url('/'),
        texts.length,
      );
      const isShown = type === 'image/webp' || type === 'application/octet-stream';
      const shown = IMAGES.map(() => (isShown ? '4 x 7' : 'error'));
      assert.deepEqual(sizes, [...BEGINNINGS.map(() => 'error'), ...shown]);
    });
});

suite('the clocks of frames', () => {
  test('tick together, so that many of them tell no finer time than one', async (t) => {
    const page = await openHtml(t, '<iframe></iframe>'.repeat(20));
    const changes = await page.evaluate(() => {
      const clocks = [performance, ...Array.from(frames, (frame) => frame.performance)];
      const last = clocks.map(() => 0);
      let changes = 0;
      for (const end = performance.now() + 200; performance.now() < end; ) {
        let isChanged = false;
        for (let at = 0; at < clocks.length; at++) {
          const now = clocks[at].now();
          isChanged ||= now !== last[at];
          last[at] = now;
        }
        changes += isChanged;
      }
      return changes / 200;
    });
    // Ten ticks a millisecond, and again where one falls between the readings of two clocks.
    assert.ok(changes < 25, `${changes} changes a millisecond`);
  });
});

suite('the clock of Temporal', () => {
  test('is no finer than that of Date', async (t) => {
    const page = await openHtml(t, '<iframe></iframe>');
    const fine = await page.evaluate(`(() => {
      if (typeof Temporal === 'undefined') return [];
      const times = [];
      for (const { Now } of [Temporal, frames[0].Temporal]) {
        for (let at = 0; at < 20; at++) {
          for (const end = performance.now() + 0.3; performance.now() < end;);
          times.push(Now.instant().epochNanoseconds, Now.zonedDateTimeISO().epochNanoseconds, Now.zonedDateTimeISO('UTC').epochNanoseconds);
          for (const time of [Now.plainTimeISO(), Now.plainDateTimeISO('UTC')]) times.push(BigInt(time.microsecond * 1000 + time.nanosecond));
        }
      }
      return times.filter((time) => time % 1_000_000n !== 0n).map(String);
    })()`);
    assert.deepEqual(fine, []);
  });
});

suite('warnings of Node about code of a page', () => {
  test("are not printed to the user's terminal", async () => {
    const program = `
      import { PageHost } from ${JSON.stringify(new URL('../index.mjs', import.meta.url))};
      const pages = new PageHost({ jsdom: ${JSON.stringify(jsdom)} });
      const page = await pages.open('about:blank');
      await page.evaluate(() => {
        const script = document.createElement('script');
        script.textContent = "function f(x) { 'use asm'; function g() { return 1.5 + x; } return g; }\\nf(1);\\n//# sourceURL=\\u001b]0;forged\\u0007";
        document.head.append(script);
      });
      await new Promise((resolve) => setTimeout(resolve, 200));
      await pages.close();`;
    const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      cwd: path.dirname(fileURLToPath(import.meta.url)),
    });
    assert.equal(stderr, '');
  });

  test('do not show a line of its script when it has filled the stack', async () => {
    const program = `
      import { PageHost } from ${JSON.stringify(new URL('../index.mjs', import.meta.url))};
      const pages = new PageHost({ jsdom: ${JSON.stringify(jsdom)} });
      const page = await pages.open('about:blank');
      await page.evaluate(\`
        let count = 0;
        const fill = () => {
          try {
            fill();
          } catch {
            if (count++ < 5) /* \\u001b]0;forged\\u0007 */ Promise.reject(new Error('rejected'));
          }
        };
        fill();\`);
      const reported = page.evaluate('new Promise((resolve) => { onunhandledrejection = resolve; Promise.reject(1); }).then(() => 1)');
      if ((await reported) !== 1) throw new Error('other rejections are not reported');
      await pages.close();`;
    const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      cwd: path.dirname(fileURLToPath(import.meta.url)),
    });
    assert.equal(stderr, '');
  });
});

suite('modules that import each other in a long row', () => {
  const COUNT = 6_000;
  /** All of them, the last first, so that V8 links one at a time. */
  const all = Array.from({ length: COUNT }, (_, at) => `import '/${COUNT - at}';`).join('');
  const headers = { 'content-type': 'text/javascript' };

  for (const [what, source] of Object.entries({
    'a namespace': "import * as all from '/1'; all;",
    'a name that none exports': "import { none } from '/1'; none;",
    'one import in another': '',
  }))
    test(`do not fill the stack of V8: ${what}`, { timeout: 120_000 }, async (t) => {
      const page = await openHtml(t, '', {
        routes: {
          '/root': { headers, body: `${what === 'one import in another' ? "import '/1';" : all}${source}` },
          '*': ({ url }) => {
            const next = Number(url.slice(1)) + 1;
            return { headers, body: next > COUNT ? 'export const last = 1;' : `export * from '/${next}';` };
          },
        },
      });
      const outcome = page.evaluateIn({ timeout: 110_000 }, () => import('/root').catch(({ message }) => message));
      assert.match(await outcome, /more than 5000 modules import each other in a row/);
      assert.equal(await page.evaluate('1 + 1'), 2);
    });
});

suite('cookies', () => {
  test('of any text do not keep requests from being sent', async (t) => {
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
