// Attacks on the border between the realms. A page can reach the DOM realm and change its prototypes, so it can say anything in its name.
// What the main realm accepts and gives must not depend on that. The suites are named after what a page tries to get.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { suite, test } from 'node:test';

import { eventually, host, open, openHtml, serve } from './server.mjs';

/** In a page: `Object.prototype` of the DOM realm. */
const DOM_PROTOTYPE = `const domPrototype = (() => {
  let object = document.createElement;
  for (let next = object; next !== null; next = Object.getPrototypeOf(next)) object = next;
  return object;
})();`;

/** In a page: collects the objects of the DOM realm that promises are resolved with. */
const SPY_ON_PROMISES = `${DOM_PROTOTYPE}
  globalThis.seen = [];
  Object.defineProperty(domPrototype, 'then', { configurable: true, get() {
    try {
      const all = {};
      for (const key of Reflect.ownKeys(this)) {
        const value = this[key];
        all[String(key)] = ArrayBuffer.isView(value) ? new TextDecoder('latin1').decode(value) : typeof value === 'object' ? JSON.stringify(value) : String(value);
      }
      seen.push(all);
    } catch {}
    return undefined;
  } });`;

/** In a page: has the DOM realm say something else whenever it writes JSON of a request. @param {string} change of \`request\` */
function forge(change) {
  return `${DOM_PROTOTYPE}
    Object.defineProperty(domPrototype, 'toJSON', { configurable: true, value() {
      const request = { ...this };
      if (typeof request.url === 'string') { ${change} }
      return Object.setPrototypeOf(request, null);
    } });`;
}

const FRAME_OF_ATTACKER = (attack) => `<script>${attack}</script>`;

suite('cookies of another origin', () => {
  /** Reads and writes cookies of a victim through everything in the window that offers it. */
  const steal = (victim) => `(() => {
    const found = [];
    const attempt = (work) => { try { found.push(String(work())); } catch {} };
    const jars = [window._document?._cookieJar, document.defaultView._document?._cookieJar, window._globalObject?._document?._cookieJar];
    for (const jar of jars) {
      attempt(() => jar.setCookieSync('planted=1', '${victim}'));
      attempt(() => jar.setCookieSync('planted=1', '${victim}', { http: true }));
      attempt(() => jar.getCookieStringSync('${victim}'));
      attempt(() => jar.getCookieStringSync({ toString: () => '${victim}' }));
      attempt(() => JSON.stringify(jar.serializeSync()));
    }
    // The document says that it is somewhere else.
    const jsdomDocument = window._document;
    attempt(() => { Object.defineProperty(jsdomDocument, 'URL', { value: '${victim}', configurable: true }); return document.cookie; });
    attempt(() => { document.cookie = 'planted=1'; return ''; });
    return found.join();
  })()`;
  const victimOf = (t) => serve(t, { '*': { body: '', headers: { 'set-cookie': 'secret=1; Path=/' } } });
  /** What the victim would be sent. */
  async function cookiesOf(pages, victim) {
    const page = await pages.open(victim.url('/look'));
    await page.evaluate((url) => fetch(url), victim.url('/see'));
    return victim.requests.at(-1).headers.cookie;
  }

  test('cannot be read or written through the jar of a document', async (t) => {
    // Cookies do not distinguish ports, so the victim has another host.
    const victim = await victimOf(t);
    const url = `http://victim.test:${victim.port}/`;
    const pages = host(t, { hosts: { 'victim.test': '127.0.0.1' } });
    const page = await openHtml(t, '', { host: pages });
    await page.evaluate((target) => fetch(target, { mode: 'no-cors', credentials: 'include' }).then(() => {}), url);
    const found = await page.evaluate(steal(url));
    assert.doesNotMatch(found, /secret/);
    await page.evaluate((target) => fetch(target, { mode: 'no-cors', credentials: 'include' }).then(() => {}), url);
    assert.doesNotMatch(victim.requests.at(-1).headers.cookie ?? '', /planted/);
  });

  test('cannot be read or written from a frame of another origin, or a sandboxed one', async (t) => {
    const pages = host(t, { hosts: { 'frame.test': '127.0.0.1' } });
    for (const sandbox of ['', 'sandbox="allow-scripts"']) {
      const victim = await victimOf(t);
      const foreign = await serve(t, {
        '/': FRAME_OF_ATTACKER(`parent.postMessage(${steal(victim.url('/'))}, '*')`),
      });
      victim.routes['/embed'] = {
        body: `<script>onmessage = ({ data }) => { window.found = data; }</script>
          <iframe ${sandbox} src="http://frame.test:${foreign.port}/"></iframe>`,
        headers: { 'set-cookie': 'secret=1; Path=/' },
      };
      const page = await pages.open(victim.url('/embed'));
      await eventually(() => page.evaluate('window.found !== undefined'));
      assert.doesNotMatch(await page.evaluate('window.found'), /secret/, sandbox);
      assert.doesNotMatch((await cookiesOf(pages, victim)) ?? '', /planted/, sandbox);
    }
  });

  test('nor those of its own host by a sandboxed frame', async (t) => {
    const server = await serve(t, {
      '/frame': `<script>
        const attempt = (work) => { try { return String(work()); } catch (error) { return error.name; } };
        parent.postMessage([attempt(() => document.cookie), attempt(() => { document.cookie = 'planted=1'; }), attempt(() => document.cookie)], '*')
      </script>`,
      '/': {
        body: '<script>onmessage = ({ data }) => { window.found = data; }</script><iframe sandbox="allow-scripts" src="/frame"></iframe>',
        headers: { 'set-cookie': 'secret=1' },
      },
    });
    const page = await host(t).open(server.url('/'));
    await eventually(() => page.evaluate('window.found !== undefined'));
    assert.deepEqual(await page.evaluate('window.found'), ['SecurityError', 'SecurityError', 'SecurityError']);
    assert.equal(await page.evaluate('document.cookie'), 'secret=1');
  });
});

suite('responses of another origin', () => {
  /** A 1x1 image. */
  const GIF = Buffer.from('R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==', 'base64');
  const SECRET = { 'x-secret': 'header', 'set-cookie': 'secret=cookie', 'access-control-expose-headers': '*' };
  const ROUTES = {
    '/text': { body: 'secret text', headers: { 'content-type': 'text/plain', ...SECRET } },
    '/html.css': { body: 'secret text {}', headers: { 'content-type': 'text/html', ...SECRET } },
    '/style.css': { body: '#a { color: red }', headers: { 'content-type': 'text/css', ...SECRET } },
    '/image': {
      body: Buffer.concat([GIF, Buffer.from('secret text')]),
      headers: { 'content-type': 'image/gif', ...SECRET },
    },
    '/moved': { status: 302, headers: { location: '/image?secret-place' } },
    '/gone': { status: 418, body: GIF, headers: { 'content-type': 'image/gif', ...SECRET } },
  };
  const LOAD = `
    const settled = (element) => new Promise((resolve) => {
      element.onload = () => resolve('load');
      element.onerror = () => resolve('error');
      document.head.append(element);
    });
    const load = (tag, members) => settled(Object.assign(document.createElement(tag), members));`;

  for (const mode of ['no-cors', 'cors']) {
    test(`are not in what images and style sheets get (${mode})`, async (t) => {
      const victim = await serve(t, ROUTES);
      const page = await openHtml(t, `<script>${SPY_ON_PROMISES}${LOAD}</script><p id="a">`);
      const events = await page.evaluate(
        `(async () => {
          const url = '${victim.origin}';
          const image = (path) => load('img', { ${mode === 'cors' ? "crossOrigin: '', " : ''}src: url + path });
          const style = (path) => load('link', { rel: 'stylesheet', href: url + path });
          const events = [];
          for (const path of ['/text', '/image', '/moved', '/gone', '/none']) events.push(await image(path));
          for (const path of ['/text', '/html.css', '/style.css', '/gone']) events.push(await style(path));
          return events;
        })()`,
      );
      const seen = JSON.stringify(await page.evaluate('window.seen'));
      assert.doesNotMatch(seen, /secret|418|302/);
      const images = mode === 'cors' ? Array(5).fill('error') : ['error', 'load', 'load', 'load', 'error'];
      assert.deepEqual(events, [...images, 'error', 'error', 'load', 'error']);
      // What a page may have is there.
      assert.match(await page.evaluate("getComputedStyle(document.getElementById('a')).color"), /255, 0, 0/);
    });
  }

  test('are not in what it gets for requests that claim to be for an image, a style sheet or anything else', async (t) => {
    const victim = await serve(t, ROUTES);
    const page = await openHtml(
      t,
      `<script>${forge('Object.assign(request, globalThis.claimed)')}${SPY_ON_PROMISES.replace(DOM_PROTOTYPE, '')}</script>`,
    );
    for (const destination of ['image', 'style', 'font', 'script', 'document', '__proto__', '']) {
      for (const mode of ['no-cors', 'navigate', 'websocket', 'same-origin', ['cors']]) {
        const outcome = await page.evaluate(
          async (url, claimed) => {
            globalThis.claimed = claimed;
            const response = await fetch(url, { mode: 'no-cors' }).catch((error) => error);
            const text = response.text === undefined ? '' : await response.text();
            return [text, [...(response.headers ?? [])].join(), response.status, response.url];
          },
          victim.url('/text'),
          { destination, mode, credentials: 'include', type: 'basic' },
        );
        assert.doesNotMatch(JSON.stringify(outcome), /secret/, `${destination} ${mode}`);
        assert.doesNotMatch(JSON.stringify(await page.evaluate('window.seen')), /secret/, `${destination} ${mode}`);
      }
    }
  });

  test('nor are the sizes of images more than two numbers', async (t) => {
    const victim = await serve(t, ROUTES);
    const page = await openHtml(t, `<script>${LOAD}</script>`);
    assert.deepEqual(
      await page.evaluate(
        `(async () => { const image = new Image(); image.src = '${victim.url('/image')}'; await settled(image); return [image.naturalWidth, image.naturalHeight]; })()`,
      ),
      [1, 1],
    );
  });

  test('do not tell whether they are redirects', async (t) => {
    const other = await serve(t, { '/account': { status: 302, headers: { location: '/login' } }, '/login': '' });
    const page = await openHtml(t, '');
    const seen = await page.evaluate(async (origin) => {
      const seen = [];
      for (const redirect of ['manual', 'error'])
        for (const path of ['/account', '/login'])
          seen.push(await fetch(origin + path, { mode: 'no-cors', redirect }).then(String, String));
      return new Set(seen).size;
    }, other.origin);
    assert.equal(seen, 1);
    assert.deepEqual(other.requests, []);
  });
});

suite('a script of another origin', () => {
  test('tells nothing by what it throws or returns, even if it is no script', async (t) => {
    const text = { 'content-type': 'text/plain' };
    const other = await serve(t, {
      '/list': { body: 'secret1, other', headers: text },
      '/words': { body: 'some secret2', headers: text },
      '/throws.js': "throw Object.assign(new Error('secret3'), { name: 'secret3' })",
      '/object.js': "throw { name: 'secret4', stack: 'secret4', toString() { return 'secret4' } }",
      '/value': { body: "({ member: 'secret5' })", headers: text },
    });
    const page = await openHtml(t, '');
    const seen = await page.evaluate(
      `(async (origin) => {
        ${DOM_PROTOTYPE}
        const seen = [];
        const look = (value) => {
          for (const key of Reflect.ownKeys(Object(value))) seen.push(String(Object.getOwnPropertyDescriptor(value, key)?.value));
        };
        addEventListener('error', ({ message, error }) => seen.push(message, String(error)));
        for (const holder of [Object.prototype, Error.prototype, SyntaxError.prototype, ReferenceError.prototype, domPrototype]) {
          for (const key of ['name', 'stack', 'constructor', 'member', 'then']) {
            try {
              const { value } = Object.getOwnPropertyDescriptor(holder, key) ?? {};
              Object.defineProperty(holder, key, { configurable: true, get() { look(this); return value; }, set(own) {
                Object.defineProperty(this, key, { value: own, configurable: true, writable: true });
              } });
            } catch {}
          }
        }
        Error.prepareStackTrace = (error) => { look(error); return ''; };
        for (const path of ['/list', '/words', '/throws.js', '/object.js', '/value']) {
          const script = document.createElement('script');
          script.src = origin + path;
          await new Promise((resolve) => { script.onload = script.onerror = resolve; document.head.append(script); });
        }
        return seen.filter((text) => /secret|Script error/.test(text)).join();
      })(${JSON.stringify(other.origin)})`,
    );
    assert.equal(seen, Array(4).fill('Script error.').join());
    // The page's user learns it.
    const told = page.problems
      .filter(({ kind }) => kind === 'script')
      .map(({ text }) => /(secret\d|an object)/.exec(text)?.[0]);
    assert.deepEqual(told, ['secret1', 'secret2', 'secret3', 'an object']);
  });

  const LATER = `
    const own = document.createElement('p');
    const fail = () => { const secret = new TypeError('secret of a function'); throw secret; };
    setTimeout(fail);
    setTimeout(() => { throw 'secret text'; });
    setTimeout(() => { throw { secret: 1, stack: 'secret' }; });
    setTimeout(() => own.querySelector('secret!!'));
    setTimeout(() => eval('throw new Error("secret of eval")'));
    setTimeout(() => eval('secret? syntax'));
    setTimeout(() => eval('(function f(n) { if (n === 0) throw "secret below calls"; f(n - 1); })(100)'));
    setTimeout(() => eval('(function f(n) { if (n === 0) throw "secret below many calls"; f(n - 1); })(2000)'));
    setTimeout(new Function('(function f(n) { if (n === 0) throw "secret of a function made of text"; f(n - 1); })(1000)'));
    new IntersectionObserver(() => { throw 'secret intersection'; }).observe(document.documentElement);
    addEventListener('message', { get handleEvent() { throw 'secret getter'; } });
    const id = setInterval(() => { clearInterval(id); throw 'secret interval'; });
    requestAnimationFrame(() => { throw 'secret frame'; });
    requestIdleCallback(() => { throw 'secret idle'; });
    queueMicrotask(() => { throw 'secret microtask'; });
    addEventListener('message', () => { throw 'secret listener'; });
    addEventListener('message', { handleEvent() { throw 'secret object'; } });
    own.onclick = () => { throw 'secret handler'; };
    own.click();
    postMessage('');
    new MutationObserver(() => { throw 'secret mutation'; }).observe(own, { attributes: true });
    own.id = 'other';
    new PerformanceObserver(() => { throw 'secret entry'; }).observe({ type: 'mark' });
    performance.mark('any');
    reportError('secret report');`;
  const COUNT = LATER.match(/throw |!!|syntax|reportError/g).length;
  const REJECTED = `
    Promise.reject('secret rejection');
    Promise.reject(new Error('secret rejection'));
    new Promise((resolve, reject) => reject('secret executor'));
    Promise.resolve().then(() => { throw new Error('secret reaction'); });
    (async () => { throw 'secret async'; })();
    (async () => { await null; throw 'secret after await'; })();
    (async () => { await fetch('//secret:secret@['); })();`;
  /** Notes what a window or a worker learns of what fails in it. */
  const NOTE = `
    globalThis.seen = [];
    addEventListener('error', ({ message, filename, lineno, colno, error }) => seen.push([message, filename, lineno, colno, error === null]));
    addEventListener('unhandledrejection', ({ reason }) => seen.push([String(reason?.stack ?? reason)]));`;
  const MUTED = ['Script error.', '', 0, 0, true];

  test('tells nothing by what it throws later', async (t) => {
    const other = await serve(t, { '/later.js': `{ ${LATER} }` });
    const page = await openHtml(t, `<script>${NOTE}</script><script src="${other.url('/later.js')}"></script>`);
    await eventually(() => page.evaluate((count) => seen.length >= count, COUNT));
    assert.deepEqual(await page.evaluate('seen'), Array(COUNT).fill(MUTED));
    // The page's user learns it.
    await eventually(() => page.problems.length >= COUNT);
    const told = page.problems.map(({ text }) => text).join('\n');
    for (const [what] of LATER.matchAll(/(?<=[`'"])secret [a-z ]+(?=["'])/g))
      assert.ok(told.includes(what), `${what}: ${told}`);
    assert.match(told, /later\.js:3:\d+" threw: secret of a function/);
    assert.deepEqual([...new Set(page.errors.map(({ message }) => message))], ['Script error.']);
  });

  test('tells nothing by what it throws later, when a getter of the page catches something before that is reported', async (t) => {
    const other = await serve(t, { '/later.js': `{ ${LATER} }` });
    const attack = `
      const spy = (target, key) => {
        let { get, value } = Object.getOwnPropertyDescriptor(target, key);
        Object.defineProperty(target, key, {
          configurable: true,
          get() {
            try { structuredClone({ get own() { throw 0 } }); } catch {}
            return get === undefined ? value : get.call(this);
          },
          set(replaced) { value = replaced; },
        });
      };
      spy(window, '_document');
      spy(Object.getPrototypeOf(_document._location), 'href');
      spy(_document, '_defaultView');`;
    const page = await openHtml(
      t,
      `<script>${NOTE} ${attack}</script><script src="${other.url('/later.js')}"></script>`,
    );
    await eventually(() => page.evaluate((count) => seen.length >= count, COUNT));
    assert.deepEqual(await page.evaluate('seen'), Array(COUNT).fill(MUTED));
  });

  test('tells nothing by code that it has made, whoever makes that run', async (t) => {
    const other = await serve(t, {
      '/evaluated.js': `(function secretName() {
        const secret = 'secret';
        addEventListener('go', eval('(() => { throw new Error(secret); })'));
        addEventListener('go', eval('(() => eval("throw secret"))'));
        addEventListener('go', (0, eval)('(() => document.querySelector("secret!!")) //# sourceURL=node:secret'));
        addEventListener('go', new Function('throw "secret"'));
        addEventListener('go', new Function('Promise.reject("secret")'));
        addEventListener('go', JSON.parse.bind(JSON, 'secret', undefined));
        addEventListener('go', eval.bind(null, 'secretName'));
        addEventListener('go', eval.bind(null, 'secret syntax'));
        // A function without imports that ends in a trap.
        const module = [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 103, 0, 0, 10, 5, 1, 3, 0, 0, 11];
        addEventListener('go', new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(module))).exports.g);
        customElements.define('x-text', class extends HTMLElement { constructor() { super(); throw 'secret'; } });
        customElements.define('x-object', class extends HTMLElement { constructor() { throw { secret }; } });
      })();`,
    });
    const page = await openHtml(t, `<script>${NOTE}</script><script src="${other.url('/evaluated.js')}"></script>`);
    await page.evaluate("dispatchEvent(new Event('go'))");
    assert.deepEqual(await page.evaluate('seen'), Array(8).fill(MUTED));
    await page.evaluate(
      "seen.length = 0; document.createElement('x-text'); document.body.innerHTML = '<x-object></x-object>';",
    );
    assert.deepEqual(await page.evaluate('seen'), Array(2).fill(MUTED));
    await eventually(() => page.problems.length >= 11);
    // The page's own, called by a muted script too, is shown.
    await page.evaluate(
      `seen.length = 0; addEventListener('own', eval('() => { throw "own" }')); dispatchEvent(new Event('own'))`,
    );
    assert.equal((await page.evaluate('seen'))[0][0], "Uncaught 'own'");
  });

  test('tells nothing by what its getters throw, which functions of the platform call', async (t) => {
    const other = await serve(t, {
      '/getters.js': `{
        const getter = { get secret() { throw 'secret'; } };
        const evaluated = Object.defineProperty({}, 'secret', { enumerable: true, get: Function("throw 'secret'") });
        const { port1 } = new MessageChannel();
        for (const value of [getter, evaluated]) {
          addEventListener('go', structuredClone.bind(null, value));
          addEventListener('go', postMessage.bind(self, value));
          addEventListener('go', port1.postMessage.bind(port1, value));
          setTimeout(structuredClone, 0, value);
          queueMicrotask(structuredClone.bind(null, value));
          requestAnimationFrame(structuredClone.bind(null, value));
        }
        addEventListener('go', performance.mark.bind(performance, 'mark', { get detail() { throw 'secret'; } }));
        addEventListener('go', performance.mark.bind(performance, { toString() { throw 'secret'; } }));
      }`,
    });
    const page = await openHtml(t, `<script>${NOTE}</script><script src="${other.url('/getters.js')}"></script>`);
    await page.evaluate("setTimeout(() => dispatchEvent(new Event('go')))");
    await eventually(() => page.evaluate('seen.length >= 14'));
    assert.deepEqual(await page.evaluate('seen'), Array(14).fill(MUTED));
    // The page's own are shown, of the same value too.
    const own =
      "const own = { get x() { throw 'secret' } }; seen.length = 0; addEventListener('own', structuredClone.bind(null, own));";
    await page.evaluate(`${own} dispatchEvent(new Event('own'))`);
    assert.equal((await page.evaluate('seen'))[0][0], "Uncaught 'secret'");
  });

  test('tells nothing by what it throws when its frame is gone', async (t) => {
    const other = await serve(t, {
      '/frame.js': `
        parent.addEventListener('go', () => { throw new Error('secret'); });
        parent.addEventListener('go', () => { Promise.reject('secret'); });`,
    });
    const page = await openHtml(t, `<script>${NOTE}</script><iframe src="/frame"></iframe>`, {
      routes: { '/frame': `<script src="${other.url('/frame.js')}"></script>` },
    });
    await page.evaluate("document.querySelector('iframe').remove(); dispatchEvent(new Event('go'))");
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 20)));
    await page.evaluate("dispatchEvent(new Event('go'))");
    assert.deepEqual(await page.evaluate('seen'), Array(2).fill(MUTED));
  });

  test('tells nothing by promises that it rejects', async (t) => {
    const other = await serve(t, { '/rejected.js': `{ ${REJECTED} }` });
    const page = await openHtml(t, `<script>${NOTE}</script><script src="${other.url('/rejected.js')}"></script>`);
    const count = REJECTED.trim().split('\n').length;
    await eventually(() => page.problems.length >= count);
    assert.match(
      page.problems.map(({ text }) => text).join('\n'),
      /rejected\.js:2:\d+" rejected a promise: secret rejection/,
    );
    assert.deepEqual(await page.evaluate('seen'), []);
  });

  test('tells nothing of texts in which JSON.parse and eval find errors, as callbacks themselves', async (t) => {
    const other = await serve(t, {
      '/alone.js': `
        setTimeout(JSON.parse, 0, 'secret');
        setTimeout(eval, 0, 'secret syntax');
        queueMicrotask(JSON.parse.bind(null, 'secret'));
        new MutationObserver(JSON.parse.bind(null, 'secret')).observe(document.documentElement, { attributes: true });
        document.documentElement.id = 'any';
        Promise.resolve('secret').then(JSON.parse);`,
    });
    const page = await openHtml(
      t,
      `<script>${NOTE}</script><script src="${other.url('/alone.js')}"></script><script>
        setTimeout(() => JSON.parse('own'), 200);
        setTimeout(() => eval('own syntax'), 200);
        setTimeout('throw "own text"', 200);
        setTimeout('own text', 200);
        setTimeout(() => document.head.append(Object.assign(document.createElement('script'), { text: 'own script' })), 200);
        setTimeout(() => document.head.append(Object.assign(document.createElement('script'), { type: 'module', text: 'own module' })), 200);
        setTimeout(() => Promise.reject('own reason'), 200);
      </script>`,
    );
    await eventually(() => page.evaluate('seen.length >= 11'));
    const seen = (await page.evaluate('seen')).map(([text]) => text).sort();
    const syntax = (name) => `Uncaught SyntaxError: Unexpected identifier '${name}'`;
    assert.deepEqual(
      seen,
      [
        ...Array(4).fill('Script error.'),
        `Uncaught SyntaxError: Unexpected token 'o', "own" is not valid JSON`,
        syntax('syntax'),
        "Uncaught 'own text'",
        syntax('text'),
        syntax('script'),
        syntax('module'),
        'own reason',
      ].sort(),
    );
    // The page's user learns it.
    await eventually(() => page.problems.length >= 5);
    assert.equal(page.problems.filter(({ text }) => /secret|syntax/.test(text)).length, 5);
  });

  test('in a worker tells nothing by what it throws or rejects later', async (t) => {
    const other = await serve(t, {
      '/later.js': `
        setTimeout(() => { throw new Error('secret'); });
        setTimeout(() => { throw 'secret'; });
        queueMicrotask(() => { throw 'secret'; });
        addEventListener('message', () => { throw 'secret'; }, { once: true });
        ${REJECTED}`,
    });
    const page = await openHtml(t, '', {
      routes: {
        '/worker.js': `${NOTE} importScripts('${other.url('/later.js')}'); 
          addEventListener('message', ({ data }) => data === 'done' && setTimeout(() => postMessage(seen)));`,
      },
    });
    const [inWorker, outside] = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const worker = new Worker('/worker.js');
          const outside = [];
          worker.onerror = ({ message, filename, lineno, colno }) => outside.push([message, filename, lineno, colno]);
          worker.onmessage = ({ data }) => resolve([data, outside]);
          worker.postMessage('first');
          worker.postMessage('done');
        }),
    );
    assert.deepEqual(inWorker, Array(4).fill(MUTED));
    assert.deepEqual(outside, Array(4).fill(MUTED.slice(0, 4)));
  });

  test('does not hide what the scripts of its page throw and reject when it calls them', async (t) => {
    const other = await serve(t, {
      '/calls.js': `
        for (const callback of callbacks) setTimeout(() => callback());
        for (const callback of callbacks) setTimeout(callback);`,
    });
    const page = await openHtml(
      t,
      `<script>${NOTE}
        globalThis.callbacks = [() => { throw new Error('one'); }, () => { throw 'two'; }, () => void Promise.reject(new Error('three')), () => null.x];
      </script><script src="${other.url('/calls.js')}"></script><script>setTimeout(() => { throw 'own'; })</script>`,
    );
    await eventually(() => page.evaluate('seen.length >= 9'));
    const seen = (await page.evaluate('seen')).map(([text]) => text.split('\n')[0]).sort();
    const expected = [
      'Uncaught Error: one',
      "Uncaught 'two'",
      'Error: three',
      "Uncaught TypeError: Cannot read properties of null (reading 'x')",
    ];
    assert.deepEqual(seen, [...expected, ...expected, "Uncaught 'own'"].sort());
  });

  test('tells no names in it, whatever a page puts among the prototypes of its window', {
    timeout: 60_000,
  }, async (t) => {
    const other = await serve(t, {
      '/keys': {
        body: 'peek\nAPI_KEY = secret1\nuser, secret2\nline: secret3\n',
        headers: { 'content-type': 'text/plain' },
      },
    });
    const page = await openHtml(t, '<body><p id="known"></p><iframe id="frame"></iframe></body>');
    const [changed, seen, named] = await page.evaluate(
      `(async (url) => {
        ${DOM_PROTOTYPE}
        const DomObject = domPrototype.constructor;
        const frame = document.getElementById('frame').contentWindow;
        const seen = [];
        const changed = [];
        const spy = (target) => new Proxy(target, { has: (_, name) => seen.push(String(name)), get: () => undefined });
        const chain = [window];
        while (chain.at(-1) !== Object.prototype) chain.push(Object.getPrototypeOf(chain.at(-1)));
        const attack = () => {
          for (const { Object: { setPrototypeOf, prototype }, Reflect } of [window, frame, { Object: DomObject, Reflect: frame.Reflect }]) {
            const { set } = Object.getOwnPropertyDescriptor(prototype, '__proto__');
            for (const object of chain) {
              const proxy = new Proxy(object, {});
              const inner = (_, value) => Reflect.setPrototypeOf(proxy, value);
              const deep = (value) => { try { deep(value); } catch {} try { setPrototypeOf(proxy, value); } catch {} };
              const attempts = [
                (value) => setPrototypeOf(object, value),
                (value) => Reflect.setPrototypeOf(object, value),
                (value) => set.call(object, value),
                (value) => { object.__proto__ = value; },
                (value) => setPrototypeOf(proxy, value),
                (value) => Reflect.setPrototypeOf(new Proxy(proxy, {}), value),
                (value) => set.call(proxy, value),
                (value) => setPrototypeOf(new Proxy({}, { setPrototypeOf: inner }), value),
                ...(object === window ? [deep] : []),
              ];
              for (const attempt of attempts) {
                const before = Object.getPrototypeOf(object);
                try { attempt(spy(before)); } catch {}
                if (Object.getPrototypeOf(object) !== before) changed.push(String(attempt));
              }
            }
          }
        };
        attack();
        // In the middle of the text, too.
        Object.defineProperty(window, 'peek', { get: attack });
        // And the functions of the DOM realm that jsdom may use to look names up.
        for (const holder of [DomObject, domPrototype, ...['entries', 'keys'].map((key) => Object.getPrototypeOf(DomObject[key]({})))]) {
          for (const key of Reflect.ownKeys(holder)) {
            const property = Object.getOwnPropertyDescriptor(holder, key);
            if (typeof property.value !== 'function' || key === 'constructor') continue;
            const { value } = property;
            try {
              holder[key] = function (...parameters) {
                for (const parameter of [this, ...parameters]) if (typeof parameter === 'string') seen.push(parameter);
                return Reflect.apply(value, this, parameters);
              };
            } catch {}
          }
        }
        for (const trap of ['has', 'getOwnPropertyDescriptor', 'defineProperty'])
          domPrototype[trap] = function (_, name) { seen.push(String(name)); return Reflect[trap](...arguments); };
        const script = document.createElement('script');
        script.src = url;
        await new Promise((resolve) => { script.onload = script.onerror = resolve; document.head.append(script); });
        return [changed, seen.filter((name) => /secret|API/.test(name)), window.known?.localName];
      })(${JSON.stringify(other.url('/keys'))})`,
    );
    assert.deepEqual(changed, []);
    assert.deepEqual(seen, []);
    assert.equal(named, 'p');
  });

  test('does not tell where redirects have led, through another script of the same URL', async (t) => {
    const other = await serve(t, {
      '/login': { status: 302, headers: { location: '/callback?code=secret' } },
      '/callback': '<!doctype html>',
    });
    let served = 0;
    const page = await openHtml(t, '<body>', {
      routes: {
        '/script.js': () => {
          served += 1;
          if (served > 1) return { status: 302, headers: { location: other.url('/login') } };
          return 'globalThis.load = (specifier) => import(specifier);';
        },
      },
    });
    const seen = await page.evaluate(async () => {
      for (let count = 0; count < 2; count++) {
        const script = document.createElement('script');
        script.src = '/script.js';
        await new Promise((resolve) => {
          script.onload = script.onerror = resolve;
          document.body.append(script);
        });
      }
      return await Promise.all(['bare', './x'].map((specifier) => globalThis.load(specifier).catch(String)));
    });
    assert.deepEqual(
      other.requests.map(({ url }) => url),
      ['/login', '/callback?code=secret'],
    );
    assert.ok(!seen.join().includes('secret') && !seen.join().includes(other.origin), seen.join('\n'));
  });
});

suite('requests that a page must not make', () => {
  test('need a preflight when they are not simple, whatever the DOM realm says', async (t) => {
    const victim = await serve(t, { '*': 'x' });
    const page = await openHtml(
      t,
      `<script>${forge(`request.headers = [['Content-Type', 'application/json'], ['X-Own', '1'], ['Range', 'bytes=1-2'], ['Authorization', 'Basic eDp5'], ['accept', 'ok']];
        request.referrer = 'http://trusted.test/'; request.method = 'POST'; request.mode = 'no-cors';`)}</script>`,
    );
    await page.evaluate((url) => fetch(url, { mode: 'no-cors' }).then(() => {}), victim.url('/change'));
    const [request] = victim.requests;
    assert.equal(request.method, 'POST');
    const { headers } = request;
    assert.deepEqual(
      [headers['content-type'], headers['x-own'], headers.range, headers.authorization, headers.accept],
      [undefined, undefined, undefined, undefined, 'ok'],
    );
    assert.equal(headers.referer, `${page.server.origin}/`);
  });

  test('need a preflight if somebody listens to their upload, also when they are redirected', async (t) => {
    const victim = await serve(t, { '*': { body: 'x', headers: { 'access-control-allow-origin': '*' } } });
    const page = await openHtml(t, '', {
      routes: { '/away': { status: 307, body: '', headers: { location: victim.url('/change') } } },
    });
    const send = (listens) =>
      page.evaluate(
        (listens) =>
          new Promise((resolve) => {
            const request = new XMLHttpRequest();
            request.open('POST', '/away');
            if (listens) request.upload.addEventListener('progress', () => {});
            request.onloadend = () => resolve();
            request.send('x');
          }),
        listens,
      );
    await send(true);
    await send(false);
    assert.deepEqual(
      victim.requests.map(({ method }) => method),
      ['OPTIONS', 'POST', 'POST'],
    );
  });

  test('need a preflight whatever the case of the names of their headers', async (t) => {
    const victim = await serve(t, { '*': 'x' });
    const page = await openHtml(
      t,
      `<script>${forge(`request.headers = [['Content-Type', 'text/plain;'], ['content-type', 'application/json'], ['ACCEPT', 'a'], ['accept', '(']];
        request.method = 'POST'; request.mode = 'no-cors';`)}</script>`,
    );
    await page.evaluate((url) => fetch(url, { mode: 'no-cors' }).then(() => {}), victim.url('/change'));
    const [{ headers }] = victim.requests;
    assert.deepEqual([headers['content-type'], headers.accept], ['text/plain;', 'a']);
  });

  test('need a preflight if values of one header are simple by themselves and not as they are sent', async (t) => {
    const victim = await serve(t, { '*': '' });
    const headers = [
      [
        ['Range', 'bytes=0-1'],
        ['range', 'bytes=3-4'],
      ],
      [
        ['Content-Type', 'text/plain'],
        ['content-type', 'multipart/form-data; boundary=x'],
      ],
      Array.from({ length: 10 }, () => ['Accept', 'x'.repeat(90)]),
    ];
    for (const list of headers) {
      const page = await openHtml(
        t,
        `<script>${forge(`request.headers = ${JSON.stringify(list)}; request.mode = 'cors'; request.method = 'POST'`)}</script>`,
      );
      await page.evaluate((url) => fetch(url, { method: 'POST' }).catch(() => {}), victim.url('/change'));
    }
    assert.deepEqual(
      victim.requests.map(({ method, headers }) => [method, headers['access-control-request-headers']]),
      [
        ['OPTIONS', 'range'],
        ['OPTIONS', 'content-type'],
        ['OPTIONS', 'accept'],
      ],
    );
  });

  test('have no body if their method has none', async (t) => {
    const victim = await serve(t, { '*': 'x' });
    const page = await openHtml(t, `<script>${forge("request.method = 'GET';")}</script>`);
    const outcome = await page.evaluate(
      (url) =>
        fetch(url, { method: 'POST', mode: 'no-cors', body: 'POST /transfer HTTP/1.1\r\n\r\n' }).then(
          () => 'sent',
          ({ name }) => name,
        ),
      victim.url('/'),
    );
    assert.equal(outcome, 'TypeError');
    assert.deepEqual(victim.requests, []);
  });

  // Node sends a method in upper case.
  test('have no body if their method has none, also in lower case', async (t) => {
    for (const method of ['GET', 'get', 'Head']) {
      const page = await openHtml(t, `<script>${forge(`request.method = '${method}';`)}</script>`, {
        routes: { '/own': 'x' },
      });
      const outcome = await page.evaluate(() =>
        fetch('/own', { method: 'POST', body: 'POST /transfer HTTP/1.1\r\n\r\n' }).then(
          () => 'sent',
          ({ name }) => name,
        ),
      );
      assert.equal(outcome, 'TypeError', method);
      assert.ok(!page.server.requests.some(({ url }) => url === '/own'), method);
    }
  });

  test('carry no forged referrer, by elements, scripts, modules, frames or navigations', async (t) => {
    const victim = await serve(t, { '*': '' });
    const page = await openHtml(
      t,
      `<script>${forge(`request.referrer = 'http://trusted.test/';`)}
        Object.defineProperty(window._document, 'URL', { value: 'http://trusted.test/', configurable: true });</script>`,
    );
    await page.evaluate(
      `((url) => {
        const add = (tag, members) => document.head.append(Object.assign(document.createElement(tag), members));
        add('img', { src: url + '/img' });
        add('link', { rel: 'stylesheet', href: url + '/link' });
        add('script', { src: url + '/script' });
        add('script', { type: 'module', src: url + '/module' });
        document.body.append(Object.assign(document.createElement('iframe'), { src: url + '/frame' }));
        const request = new XMLHttpRequest(); request.open('GET', url + '/xhr'); request.send();
        fetch(url + '/fetch').catch(() => {});
        import(url + '/import').catch(() => {});
      })('${victim.origin}')`,
    );
    const paths = ['/img', '/link', '/script', '/module', '/frame', '/xhr', '/fetch', '/import'];
    await eventually(() => paths.every((path) => victim.requests.some(({ url }) => url === path)));
    await page.evaluate(`location.href = '${victim.url('/navigate')}'`).catch(() => {});
    await eventually(() => victim.requests.some(({ url }) => url === '/navigate'));
    for (const { url, headers } of victim.requests) {
      assert.doesNotMatch(headers.referer ?? '', /trusted/, url);
      assert.equal(headers.referer ?? `${page.server.origin}/`, `${page.server.origin}/`, url);
    }
  });

  test('can name any page of their own origin as the referrer, as in browsers', async (t) => {
    const page = await openHtml(t, '', { routes: { '/x': '' } });
    await page.evaluate("history.pushState(null, '', '/elsewhere?y#z'); fetch('/x').then(() => {})");
    assert.equal(page.server.requests.at(-1).headers.referer, page.server.url('/elsewhere?y'));
  });
});

suite('a document of another origin', () => {
  const attack = '<script>parent.postMessage(`it runs in ${origin}`, "*")</script>';
  const disposition = 'content-disposition';
  for (const [what, headers, runs, before = ''] of [
    ['with the disposition attachment', { [disposition]: 'attachment; filename="x.html"' }, false],
    ['with an unknown disposition', { [disposition]: 'Save' }, false],
    ['with the disposition inline', { [disposition]: 'inline; filename="x.html"' }, true],
    ['with a name alone', { [disposition]: 'filename=x.html' }, true],
    ['as text', { 'content-type': 'text/plain' }, false],
    ['as text, with a long parameter', { 'content-type': `text/plain; x=${'y'.repeat(2_000)}` }, false],
    ['as HTML and then as text', { 'content-type': ['text/html', 'text/plain'] }, false],
    ['as text and then as HTML', { 'content-type': ['text/plain', 'text/html'] }, true],
    ['as JSON', { 'content-type': 'application/json' }, false],
    ['of no type that may be sniffed', { 'content-type': '', 'x-content-type-options': 'nosniff' }, false],
    ['of no type', { 'content-type': '' }, true],
    [
      'as an image whose name has a type in it',
      { 'content-type': 'image/png; name="x,text/html,\\",text/html"' },
      false,
    ],
    ['of no type, as text that does not begin as HTML', { 'content-type': '' }, false, 'notes: '],
    ['of any type, as text that does not begin as HTML', { 'content-type': '*/*' }, false, 'notes: '],
    ['of a type that is none, as text that does not begin as HTML', { 'content-type': 'text' }, false, 'notes: '],
    ['of no type but an encoding, as such text', { 'content-type': ';charset=utf-8' }, false, 'notes: '],
  ])
    test(`${runs ? 'runs' : 'does not run'} if its server serves it ${what}`, async (t) => {
      const victim = await serve(t, { '*': { body: before + attack, headers } });
      const page = await openHtml(t, '<script>seen = []; onmessage = ({ data }) => seen.push(data);</script>');
      const src = victim.url('/uploads/1');
      await page.evaluate((src) => {
        const onload = () => {
          globalThis.hasLoaded = true;
        };
        document.body.append(Object.assign(document.createElement('iframe'), { src, onload }));
      }, src);
      // A response that is to be saved is no document, so nothing loads.
      await eventually(async () => page.problems.length > 0 || (await page.evaluate('globalThis.hasLoaded === true')));
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
      assert.deepEqual(await page.evaluate('seen'), runs ? [`it runs in ${victim.origin}`] : []);
    });

  test('is not navigated to if there is nothing to show', async (t) => {
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

  test('does not come back when the frame shows another one by then', async (t) => {
    let answer;
    const slow = await serve(t, {
      '/slow': () =>
        new Promise((resolve) => {
          answer = () => resolve('<p>slow</p>');
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
    await eventually(() => page.frames().some(({ url }) => url === fast.url('/')));
    answer();
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
    assert.deepEqual(
      page.frames().map(({ url }) => url),
      [page.server.url('/'), fast.url('/')],
    );
  });
});

suite('the origin of a page, from a sandboxed frame', () => {
  /** Tells the page around what the frame can reach. */
  const REPORT = `
    const attempt = (work) => { try { return String(work()); } catch (error) { return error.name; } };
    parent.postMessage([origin, attempt(() => parent.document.title), attempt(() => { parent.stolen = 1; return 'set'; }),
      attempt(() => document.cookie), attempt(() => localStorage.length), attempt(() => frameElement)], '*');`;
  const PAGE = `<title>secret</title><script>
    document.cookie = 'secret=1';
    window.messages = [];
    onmessage = ({ data, source }) => { messages.push([...data, frames[0] === source ? 0 : -1]); };
    const add = (attributes) => {
      const frame = document.createElement('iframe');
      for (const [name, value] of Object.entries(attributes)) frame.setAttribute(name, value);
      document.body.append(frame);
      return frame;
    };
  </script><body>`;
  const ROUTES = { '/frame': `<script>${REPORT}</script>`, '/none': '' };
  const kinds = {
    srcdoc: { srcdoc: ROUTES['/frame'] },
    'a document': { src: '/frame' },
    'a data: URL': { src: `data:text/html,${encodeURIComponent(ROUTES['/frame'])}` },
    'a redirect': { src: '/moved' },
  };
  const openPage = (t, html = '') =>
    openHtml(t, PAGE + html, { routes: { ...ROUTES, '/moved': { status: 302, headers: { location: '/frame' } } } });

  for (const [name, attributes] of Object.entries(kinds)) {
    test(`cannot be reached by scripts of ${name}`, async (t) => {
      const page = await openPage(t);
      await page.evaluate((all) => void add({ sandbox: 'allow-scripts', ...all }), attributes);
      await eventually(() => page.evaluate('messages.length > 0'));
      const [[origin, title, set, cookie, storage, element, index]] = await page.evaluate('messages');
      assert.deepEqual([origin, title, set], ['null', 'SecurityError', 'SecurityError']);
      assert.doesNotMatch(cookie, /secret/);
      assert.equal(storage, 'SecurityError');
      assert.equal(element, 'null');
      assert.equal(index, 0);
      assert.deepEqual(
        await page.evaluate(() => {
          const [frame] = document.getElementsByTagName('iframe');
          const attempt = (work) => {
            try {
              return String(work());
            } catch (error) {
              return error.name;
            }
          };
          return [frame.contentDocument, attempt(() => frames[0].document), window.stolen];
        }),
        [null, 'SecurityError', undefined],
      );
    });

    test(`runs no scripts of ${name} without allow-scripts`, async (t) => {
      for (const sandbox of ['', 'allow-same-origin', 'ALLOW-SAME-ORIGIN allow-forms', 'nonsense']) {
        const page = await openPage(t);
        await page.evaluate(
          (all) =>
            new Promise((resolve) => {
              add(all).onload = () => resolve();
            }),
          { sandbox, ...attributes },
        );
        // Messages that were posted arrive before the answer.
        await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)));
        assert.deepEqual(await page.evaluate('[messages, window.stolen]'), [[], undefined], sandbox);
        await page.close();
      }
    });
  }

  test('is not that of the links of a sandboxed frame without allow-scripts', async (t) => {
    const page = await openPage(t);
    const link = (target) =>
      `<a target=${target} href="javascript:void(top.stolen = '${target}')">link</a><a target=${target} href="/elsewhere">link</a>`;
    const inner = link('_parent').replaceAll('"', '&quot;');
    const srcdoc = `${link('_top')}${link('_parent')}${link('_self')}<iframe srcdoc="${inner}"></iframe>`;
    const outcome = await page.evaluate(
      async (attributes) => {
        await new Promise((resolve) => (add(attributes).onload = resolve));
        const { contentDocument } = document.querySelector('iframe');
        const documents = [contentDocument, contentDocument.querySelector('iframe').contentDocument];
        for (const { links } of documents)
          for (const link of [...links]) if (!link.href.endsWith('/elsewhere') || link.target !== '_self') link.click();
        await new Promise((resolve) => setTimeout(resolve, 100));
        return [document.location.pathname, window.stolen];
      },
      { sandbox: 'allow-same-origin', srcdoc },
    );
    assert.deepEqual(outcome, ['/', undefined]);
  });

  test('is not that of a sandboxed frame without a document, or with a javascript: URL', async (t) => {
    const page = await openPage(t);
    const outcome = await page.evaluate(async () => {
      const outcomes = [];
      for (const src of ['', 'about:blank', 'javascript:parent.stolen = 1', 'about:srcdoc']) {
        for (const sandbox of ['', 'allow-scripts']) {
          const frame = add({ sandbox, src });
          let isReachable = frame.contentDocument !== null;
          try {
            frame.contentWindow.document.body;
            isReachable = true;
          } catch {}
          const loaded = await new Promise((resolve) => {
            frame.onload = () => resolve('load');
            setTimeout(resolve, 5_000);
          });
          outcomes.push([isReachable, loaded, frame.contentDocument]);
          frame.contentWindow.location = 'javascript:parent.stolen = 2';
          frame.src = 'javascript:parent.stolen = 3';
          frame.remove();
        }
      }
      return [outcomes, window.stolen];
    });
    assert.deepEqual(outcome, [Array(8).fill([false, 'load', null]), undefined]);
  });

  test('is not reached through handlers, links and modules of a document that may not run scripts', async (t) => {
    const page = await openPage(t);
    const inside = `<body onload="parent.stolen = 1"><img src="/none" onerror="parent.stolen = 2"><svg onload="parent.stolen = 3"></svg>
      <script type="module">parent.stolen = 4</script><script src="/frame"></script><noscript><p id="n">no scripts</p></noscript>
      <a id="a" href="javascript:parent.stolen = 5" onclick="parent.stolen = 6">x</a>
      <iframe srcdoc="<script>top.stolen = 7</script>"></iframe><iframe src="/frame"></iframe><iframe src="javascript:top.stolen = 8"></iframe>`;
    await page.evaluate(
      (srcdoc) =>
        new Promise((resolve) => {
          add({ sandbox: 'allow-same-origin', srcdoc }).onload = () => resolve();
        }),
      inside,
    );
    const [top, frame] = page.frames();
    assert.equal(top.frame, 0);
    // The page's user can still run scripts there.
    assert.equal(
      await page.evaluateIn({ frame: frame.frame }, () => {
        document.getElementById('a').click();
        document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="parent.stolen = 9">');
        return document.getElementById('n')?.textContent;
      }),
      'no scripts',
    );
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
    assert.deepEqual(await page.evaluate('[messages, window.stolen]'), [[], undefined]);
  });

  test('is not that of frames in a sandboxed frame, however they are opened', async (t) => {
    const nested = ROUTES['/frame'].replaceAll('parent.', 'top.');
    const page = await openHtml(t, PAGE, { routes: { '/nested': nested } });
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

  test('is not that of frames in the empty document of a sandboxed frame that has not loaded', async (t) => {
    const page = await openHtml(t, '', {
      routes: { '/never': () => new Promise(() => {}), '/frame': '<script>console.log("a frame ran")</script>' },
    });
    await page.evaluate(() => {
      const add = (document, members) => {
        const frame = Object.assign(document.createElement('iframe'), members);
        document.body.append(frame);
        return frame;
      };
      const { contentDocument } = add(document, { sandbox: 'allow-same-origin', src: '/never' });
      add(contentDocument, { src: '/frame' });
      add(contentDocument, { srcdoc: '<script>console.log("srcdoc ran")</script>' });
      add(contentDocument, { src: 'javascript:console.log("a URL ran")' });
      contentDocument.defaultView.setTimeout('console.log("a timer ran")');
    });
    await eventually(() => page.server.requests.some(({ url }) => url === '/frame'));
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 300)));
    assert.deepEqual(page.log, []);
  });

  test('is that of frames with allow-same-origin and allow-scripts, as in browsers', async (t) => {
    const page = await openPage(t);
    await page.evaluate((srcdoc) => void add({ sandbox: 'allow-same-origin allow-scripts', srcdoc }), ROUTES['/frame']);
    await eventually(() => page.evaluate('messages.length > 0'));
    assert.deepEqual((await page.evaluate('messages'))[0].slice(1, 4), ['secret', 'set', '']);
  });

  test('is protected by the property `sandbox` as by the attribute', async (t) => {
    const page = await openPage(t);
    const outcome = await page.evaluate((srcdoc) => {
      const frame = document.createElement('iframe');
      frame.sandbox = 'allow-forms';
      frame.sandbox.add('allow-scripts');
      frame.srcdoc = srcdoc;
      document.body.append(frame);
      return [
        frame.getAttribute('sandbox'),
        frame.sandbox.contains('allow-scripts'),
        Object.is(frame.sandbox, frame.sandbox),
        frame.contentDocument,
      ];
    }, ROUTES['/frame']);
    assert.deepEqual(outcome, ['allow-forms allow-scripts', true, true, null]);
    await eventually(() => page.evaluate('messages.length > 0'));
    assert.equal((await page.evaluate('messages'))[0][0], 'null');
  });

  test('resolves relative URLs of srcdoc as in browsers, and exchanges messages', async (t) => {
    const page = await openHtml(t, PAGE, {
      routes: { '/a.js': { body: 'parent.postMessage([document.baseURI, location.href], "*")' } },
    });
    await page.evaluate(() => void add({ sandbox: 'allow-scripts', srcdoc: '<script src="a.js"></script>' }));
    await eventually(() => page.evaluate('messages.length > 0'));
    assert.deepEqual(await page.evaluate('messages'), [[page.server.url('/'), 'about:srcdoc', 0]]);
  });
});

suite('navigations in the name of another page', () => {
  test('of a frame by itself are its own requests, without the cookies of the page around', async (t) => {
    const pages = host(t, { hosts: { 'frame.test': '127.0.0.1' } });
    const server = await serve(t, {
      '/': (request) => ({
        body: `<iframe src="http://frame.test:${server.port}/attack"></iframe>`,
        headers: { 'set-cookie': ['strict=1; SameSite=Strict', 'lax=1; SameSite=Lax'] },
      }),
      '/attack': () => `<script>location.href = '${server.url('/delete')}'</script>`,
      '/delete': '',
    });
    await pages.open(server.url('/'));
    await eventually(() => server.requests.some(({ url }) => url === '/delete'));
    const { headers } = server.requests.find(({ url }) => url === '/delete');
    assert.equal(headers.cookie, undefined);
    assert.equal(headers['sec-fetch-site'], 'cross-site');
    assert.equal(headers.referer, `http://frame.test:${server.port}/`);
  });

  test('are not made in the name of the page that comes next, when they had to wait', async (t) => {
    const pages = host(t, { hosts: { 'attack.test': '127.0.0.1' } });
    const server = await serve(t, {
      '/': { body: '', headers: { 'set-cookie': 'strict=1; SameSite=Strict' } },
      '/delete': '',
      '/attack': '<body>',
      // The latest navigation wins. While four are ending, it waits.
      '/slow': () => new Promise(() => {}),
    });
    const page = await pages.open(`http://attack.test:${server.port}/attack`);
    await page.evaluate((url) => {
      for (const target of ['/slow?1', '/slow?2', '/slow?3', `${url}/`, `${url}/delete`]) location.href = target;
      return 0;
    }, server.origin);
    await eventually(() => page.url === server.url('/') || page.url === server.url('/delete'));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const cookies = server.requests.filter(({ url }) => url === '/delete').map(({ headers }) => headers.cookie);
    assert.ok(
      cookies.every((cookie) => cookie === undefined),
      cookies.join(),
    );
  });

  test('of a frame by itself do not tell their URLs to the page around', async (t) => {
    const frame = await serve(t, {
      '/': "<script>onmessage = () => { location.href = '/callback?token=secret'; }</script>",
      '/callback': "<script>parent.postMessage('loaded', '*')</script>",
    });
    const page = await openHtml(t, `<body><iframe src="${frame.url('/')}"></iframe>`);
    const seen = await page.evaluate(async () => {
      let root = Headers.prototype;
      for (let next = root; next !== null; next = Object.getPrototypeOf(next)) root = next;
      const requests = [];
      root.toJSON = function () {
        requests.push({ ...this });
        return this;
      };
      frames[0].postMessage('go', '*');
      await new Promise((resolve) => addEventListener('message', resolve));
      delete root.toJSON;
      return JSON.stringify([requests, performance.getEntries()]);
    });
    assert.match(seen, /ticket/);
    assert.doesNotMatch(seen, /secret|callback/);
  });

  for (const url of [
    'about:blank?token=secret#secret',
    'about:blank',
    'about:srcdoc',
    'about:srcdoc?secret',
    'about:secret',
  ])
    test(`of a frame by itself to ${url} give no document to the page around`, async (t) => {
      const frame = await serve(t, {
        '/': "<script>onmessage = ({ data }) => { name = 'secret name'; location.href = data; }</script>",
      });
      const page = await openHtml(t, `<body><iframe src="${frame.url('/')}"></iframe>`);
      const known = /^about:blank/.test(url);
      const reached = await page.evaluate(
        async (url, known) => {
          const [element] = document.getElementsByTagName('iframe');
          const loaded = new Promise((resolve) => {
            element.onload = resolve;
          });
          frames[0].postMessage(url, '*');
          if (known) await loaded;
          else await new Promise((resolve) => setTimeout(resolve, 500));
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
            read(() => frames[0].name),
          ];
        },
        url,
        known,
      );
      assert.deepEqual(reached, [true, 'SecurityError', 'SecurityError']);
      if (known) assert.deepEqual(page.problems, []);
      else await eventually(() => page.problems.some(({ text }) => text.includes('is no document')));
    });

  test('to about:blank have no text of the page around, whatever its DOM realm says', async (t) => {
    const victim = await serve(t, {
      '/': {
        body: `<script>
          onmessage = () => { location.href = 'about:blank'; };
          parent.postMessage('ready', '*');
        </script>`,
        headers: { 'set-cookie': 'secret=cookie' },
      },
    });
    const page = await openHtml(t, '<body>');
    const seen = await page.evaluate(
      `(async (url) => {
        ${DOM_PROTOTYPE}
        const seen = [];
        const text = "<script>parent.postMessage('stolen ' + document.cookie, '*')</" + 'script>';
        Object.defineProperty(domPrototype, 'toJSON', { configurable: true, value() {
          if (this.ticket === undefined) return this;
          seen.push('ticket');
          return { ...this, text, base: url, toJSON: undefined };
        } });
        const frame = document.body.appendChild(document.createElement('iframe'));
        await new Promise((resolve) => {
          onmessage = ({ data }) => { seen.push(data); resolve(); };
          frame.src = url;
        });
        const loaded = new Promise((resolve) => { frame.onload = resolve; });
        frame.contentWindow.postMessage('go', '*');
        await loaded;
        await new Promise((resolve) => setTimeout(resolve, 300));
        return seen;
      })(${JSON.stringify(victim.url('/'))})`,
    );
    assert.deepEqual(seen, ['ready', 'ticket']);
  });

  test('lead to threads whose numbers do not tell how many there are', async (t) => {
    const other = await serve(t, { '/': '' });
    const page = await openHtml(t, '<body>');
    const numbers = await page.evaluate(
      `(async (url) => {
        ${DOM_PROTOTYPE}
        const numbers = [];
        Object.defineProperty(domPrototype, 'error', { configurable: true, get() {
          if (this.remote !== undefined) numbers.push(this.remote.thread);
        } });
        for (let count = 0; count < 3; count++) {
          const frame = document.createElement('iframe');
          frame.src = url;
          const loaded = new Promise((resolve) => { frame.onload = resolve; });
          document.body.append(frame);
          await loaded;
        }
        return numbers;
      })(${JSON.stringify(other.url('/'))})`,
    );
    assert.equal(numbers.length, 3);
    for (const index of [1, 2]) assert.ok(Math.abs(numbers[index] - numbers[index - 1]) > 1_000, numbers.join());
  });

  test('of a page in its frame to about:blank are its own, and to other about: URLs fail', async (t) => {
    const page = await openHtml(t, '<body><iframe></iframe>');
    const shown = await page.evaluate(async () => {
      const [element] = document.getElementsByTagName('iframe');
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

  test('do not tell the page around to which origin a redirect leads', async (t) => {
    const last = await serve(t, { '/': "<script>parent.postMessage('loaded', '*')</script>" });
    const first = await serve(t, { '/': { status: 302, headers: { location: last.url('/') } } });
    const page = await openHtml(t, '<body>');
    const seen = await page.evaluate(async (src) => {
      let root = Headers.prototype;
      for (let next = root; next !== null; next = Object.getPrototypeOf(next)) root = next;
      const answers = [];
      root.constructor.defineProperty(root, 'error', {
        configurable: true,
        get() {
          answers.push({ ...this });
          return undefined;
        },
        set(value) {
          root.constructor.defineProperty(this, 'error', { value, writable: true, configurable: true });
        },
      });
      const frame = Object.assign(document.createElement('iframe'), { src });
      const loaded = new Promise((resolve) => {
        frame.onload = resolve;
      });
      document.body.append(frame);
      await loaded;
      delete root.error;
      return JSON.stringify(answers.filter(({ remote }) => remote !== undefined));
    }, first.url('/'));
    assert.match(seen, /thread/);
    assert.ok(!seen.includes(last.origin), seen);
  });

  test('tell the page that they lead to no more of the one before than its origin', async (t) => {
    const attacker = await serve(t, { '/': '<script>console.log(document.referrer)</script>' });
    const victim = await serve(t, {
      '/': `<script>if (location.search === '') location.href = '/?secret'; else setTimeout(() => { location.href = '${attacker.url('/')}' })</script>`,
      '/embedding': `<iframe src="${attacker.url('/')}"></iframe>`,
    });
    for (const path of ['/', '/embedding?secret']) {
      const page = await open(t, victim.url(path));
      await eventually(() => page.log.length > 0);
      assert.deepEqual(page.log, [victim.url('/')]);
    }
  });
});

suite('documents that a page makes', () => {
  test('and that are not of its origin know no more of its URL than that', async (t) => {
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

suite('files', () => {
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

  // `selfprof page` and its like look for names in the scripts that a trace names, if these are local.
  test('are not where the scripts of a page from the network are, whatever it says of its URL', async (t) => {
    const page = await openHtml(
      t,
      `<body><script>
        window.spin = (until = performance.now() + 50) => { while (performance.now() < until); };
        const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 10_000 });
        history.pushState(null, '', '/moved');
        const inline = (type, id) => {
          const script = document.createElement('script');
          script.type = type;
          script.textContent = '(function ' + id + '() { spin(); })(); ran("' + id + '")';
          document.body.append(script);
        };
        const ran = (id) => {
          names.push(id);
          if (names.length === 6) profiler.stop().then((trace) => { window.trace = trace; });
        };
        const names = [];
        inline('', 'moved');
        window._document._URL = { ...window._document._URL, scheme: 'file', host: '', port: null, path: ['etc', 'passwd'] };
        console.log(document.URL);
        inline('', 'classic');
        inline('module', 'modular');
        const button = document.createElement('button');
        button.setAttribute('onclick', '(function handler() { spin(); })(); ran("handler")');
        button.click();
        setTimeout('(function timer() { spin(); })(); ran("timer")');
        const link = document.createElement('a');
        link.href = 'javascript:(function linked() { spin(); })(); ran("linked"); undefined';
        document.body.append(link);
        link.click();
      </script>`,
      { headers: { 'document-policy': 'js-profiling' } },
    );
    await eventually(() => page.evaluate('window.trace !== undefined'));
    const { frames, resources } = await page.evaluate('trace');
    const urls = new Map(frames.map(({ name, resourceId }) => [name, resources[resourceId]]));
    assert.deepEqual(page.log, ['file:///etc/passwd']);
    assert.equal(urls.get('moved'), page.server.url('/moved'));
    for (const name of ['classic', 'modular', 'handler', 'timer', 'linked'])
      assert.equal(urls.get(name), page.server.url('/'), name);
    assert.deepEqual(
      resources.filter((url) => !url.startsWith(page.server.origin)),
      [],
    );
  });
});

suite('why a request failed', () => {
  test('is told to the user and not to the page', async (t) => {
    const page = await openHtml(t, '', { routes: { '/broken.mjs': "import 'http://127.0.0.1:1/x.mjs'" } });
    const told = await page.evaluate(
      `(async () => {
        ${DOM_PROTOTYPE}
        const told = [];
        const parsed = JSON.parse;
        const note = (value) => { try { told.push(String(value?.message ?? value), JSON.stringify(value)); } catch {} };
        Object.defineProperty(domPrototype, 'error', { configurable: true, get() {}, set(value) { note(value); } });
        const url = 'http://127.0.0.1:2/secret-path';
        const add = (tag, members) => new Promise((resolve) => {
          const element = Object.assign(document.createElement(tag), members);
          element.onload = element.onerror = (event) => { note(event); note(event.message); resolve(); };
          document.documentElement.append(element);
        });
        for (const target of [url, 'file:///etc/passwd', 'http://nowhere.invalid/']) {
          await fetch(target).catch(note);
          await import(target).catch(note);
          await new Promise((resolve) => {
            const request = new XMLHttpRequest();
            request.onerror = (event) => { note(event); note(request.statusText); note(request._error); resolve(); };
            request.open('GET', target);
            request.send();
          });
          await add('script', { src: target });
          await add('script', { src: target, type: 'module' });
          await add('img', { src: target });
          await add('iframe', { src: target });
          await new Promise((resolve) => { const worker = new Worker('/none'); worker.onerror = (event) => { note(event.message); resolve(); }; });
        }
        await import('/broken.mjs').catch(note);
        return told;
      })()`,
    );
    assert.doesNotMatch(told.join('\n'), /ECONN|ENOTFOUND|EAI|refused|blocked|not from disk|port|passwd.*cannot/i);
    assert.ok(page.problems.length >= 20, `${page.problems.length}`);
    assert.ok(
      page.problems.some(({ text }) => /failed: .*ECONNREFUSED|port 2 is blocked|ENOTFOUND|EAI_AGAIN/.test(text)),
    );
  });
});

suite('a finer clock', () => {
  test('is not in the times that animation frames, events and loading get', async (t) => {
    const page = await openHtml(t, '', { routes: { '/frame': '<p>' } });
    const [times, epochs] = await page.evaluate(
      `(async () => {
        ${DOM_PROTOTYPE}
        const times = [];
        const epochs = [];
        for (let i = 0; i < 20; i++) {
          const before = performance.now();
          const time = await new Promise((resolve) => requestAnimationFrame(resolve));
          times.push(time);
          if (time < before - 1 || time > performance.now()) times.push('not on the clock of the window');
        }
        // Whatever is assigned to objects of a new window.
        const names = ['domLoading', 'domInteractive', 'domComplete', 'loadEventStart', 'navigationStart', 'fetchStart', 'domContentLoadedEventStart'];
        for (let i = 0; i < 5; i++) {
          const frame = Object.assign(document.createElement('iframe'), { src: '/frame' });
          document.documentElement.append(frame);
          for (const prototype of [frame.contentWindow.Object.prototype, Object.prototype, domPrototype])
            for (const name of names) Object.defineProperty(prototype, name, { configurable: true, set(value) {
              if (typeof value === 'number') epochs.push(value);
              Object.defineProperty(this, name, { value, writable: true, configurable: true, enumerable: true });
            } });
          await new Promise((resolve) => { frame.onload = resolve; });
        }
        return [times, epochs];
      })()`,
    );
    assert.equal(times.length, 20);
    for (const time of times) assert.ok(Math.abs(time * 10 - Math.round(time * 10)) < 1e-6, `${time}`);
    assert.ok(epochs.length > 20);
    // Numbers of this size are exact to 0.0003 ms.
    for (const time of epochs) assert.ok(Math.abs(time * 10 - Math.round(time * 10)) < 0.01, `${time}`);
  });
});

suite('the promises of a profiler', () => {
  test('are not seen or broken by a page that replaces what promises are made of', async (t) => {
    const page = await openHtml(t, '', { headers: { 'document-policy': 'js-profiling' } });
    const [seen, names, chunk] = await page.evaluate(() => {
      const options = { sampleInterval: 1, maxBufferSize: 1_000 };
      const spin = (ms) => {
        for (const end = performance.now() + ms; performance.now() < end; );
      };
      const profiler = new Profiler(options);
      const chunked = new Profiler({ ...options, bufferPolicy: 'chunks', maxBufferSize: 5 });
      const chunks = chunked.chunks();
      spin(60);
      const seen = [];
      const saved = {};
      const { prototype } = Promise;
      for (const name of ['then', 'catch', 'finally', 'constructor']) {
        saved[name] = Object.getOwnPropertyDescriptor(prototype, name);
        Object.defineProperty(prototype, name, {
          configurable: true,
          get() {
            seen.push(name);
            throw new Error('broken');
          },
        });
      }
      const species = Object.getOwnPropertyDescriptor(Promise, Symbol.species);
      Object.defineProperty(Promise, Symbol.species, {
        configurable: true,
        get() {
          seen.push('species');
          throw new Error('broken');
        },
      });
      Object.defineProperty(Object.prototype, 'then', {
        configurable: true,
        get() {
          // The trace itself is what the page gets, and so is the result of an iterator.
          if (!('samples' in this) && !('done' in this)) seen.push(Object.keys(this).join());
          return undefined;
        },
      });
      const stopping = profiler.stop();
      const next = chunks.next();
      const rest = chunked.stop();
      const end = chunks.return();
      // Until the promises are settled.
      const settled = [];
      const then = saved.then.value;
      for (const promise of [stopping, next, rest, end]) {
        Object.defineProperty(promise, 'constructor', { value: undefined, configurable: true });
        Reflect.apply(then, promise, [
          (value) => settled.push([promise, value]),
          (reason) => settled.push([promise, reason]),
        ]);
      }
      return new saved.constructor.value((resolve) => {
        const timer = setInterval(() => {
          if (settled.length < 4) return;
          clearInterval(timer);
          delete Object.prototype.then;
          Object.defineProperty(Promise, Symbol.species, species);
          for (const [name, property] of Object.entries(saved)) Object.defineProperty(prototype, name, property);
          const valueOf = (promise) => settled.find(([of]) => of === promise)[1];
          resolve([
            seen,
            Object.keys(valueOf(stopping)),
            valueOf(next).value?.samples?.length ?? String(valueOf(next)),
          ]);
        }, 5);
      });
    });
    assert.deepEqual(seen, []);
    assert.ok(names.includes('samples'), names.join());
    assert.ok(chunk > 0, `${chunk}`);
  });
});
