// What a page that has taken over the DOM realm sends to other threads, and what it does with its ports.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { suite, test } from 'node:test';
import { walk } from './reachable.mjs';
import v8 from 'node:v8';
import vm from 'node:vm';
import { Cookies } from '../src/fetch/cookies.cjs';
import { useJsdom } from '../src/fetch/jsdom-packages.cjs';
import { CookieFeed } from '../src/host/cookie-feed.cjs';
import { jsdomWithBackDoor } from './back-door.mjs';
import { block, eventually, host, jsdom, openHtml, openInThisProcess, serve, watchMemory } from './server.mjs';
import { takeOver, uncaught } from './taken-over.mjs';

openInThisProcess();

const { DomMessages } = createRequire(import.meta.url)('../src/main-realm/dom-messages.cjs');

suite('ports of the DOM realm', () => {
  /** Ways to call what Node's own code never calls so. Each ended the process. */
  const calls = {
    'asyncReset of a number': '({ pipe }) => pipe.asyncReset(1)',
    'close with a callback, which is set on the port': `({ DomObject, pipe, prototype }) => {
      const { close } = Object.getPrototypeOf(prototype);
      DomObject.setPrototypeOf(pipe, new Proxy({}, { set() { throw 1; } }));
      close.call(pipe, () => {});
    }`,
    'close of an object without a port': `({ prototype }) => {
      const { constructor, close } = Object.getPrototypeOf(prototype);
      close.call(new constructor());
    }`,
    'getAsyncId of an object without a port': `({ prototype }) => {
      const { constructor, getAsyncId } = Object.getPrototypeOf(Object.getPrototypeOf(prototype));
      getAsyncId.call(new constructor());
    }`,
  };

  for (const [name, call] of Object.entries(calls)) {
    test(`do not end the process: ${name}`, async (t) => {
      const page = await openHtml(t, '<body>');
      await page.evaluate(`{ try { (${call})((${takeOver})()); } catch {} }`);
      assert.equal(await page.evaluate('1 + 1'), 2);
    });
  }

  /** Ways to have Node run code of the page with the main realm current: V8 makes the arguments of a proxy there. */
  const traps = {
    'the prototype of a port': `({ pipe, prototype }, trap) => {
      Object.setPrototypeOf(pipe, new Proxy(prototype, { has: trap('has'), get: trap('get') }));
      prototype.close.call(pipe);
    }`,
    'the prototype of all ports': `({ prototype }, trap) => {
      Object.setPrototypeOf(prototype, new Proxy({}, { has: trap('has'), get: trap('get') }));
    }`,
    'a listener': `({ channels: [a, b], prototype }, trap) => {
      a.pipe.onmessage = trap('listener');
      prototype.start.call(a.pipe);
      prototype.postMessage.call(b.pipe, 1);
    }`,
    'a listener of its own': `({ channels: [a, b], prototype, DomObject }, trap) => {
      DomObject.defineProperty(a.pipe, 'onmessage', { value: trap('listener') });
      prototype.start.call(a.pipe);
      prototype.postMessage.call(b.pipe, 1);
    }`,
    'what a listener throws': `({ channels: [a, b], prototype }, trap) => {
      a.pipe.onmessage = () => { throw { toString: trap('toString') }; };
      prototype.start.call(a.pipe);
      prototype.postMessage.call(b.pipe, 1);
    }`,
    'a port that arrives': `({ channels: [a, b], prototype }, trap) => {
      a.pipe.onmessage = ({ data }) => {
        globalThis.arrived = data;
        Object.setPrototypeOf(data, new Proxy(prototype, { has: trap('has'), get: trap('get') }));
        prototype.close.call(data);
      };
      prototype.start.call(a.pipe);
      globalThis.channel = new MessageChannel();
      prototype.postMessage.call(b.pipe, globalThis.spare, [globalThis.spare]);
    }`,
  };
  for (const [name, attack] of Object.entries(traps)) {
    test(`give a page no object of the main realm: ${name}`, async (t) => {
      const page = await openHtml(t, '<body>');
      await page.evaluate(`{
        globalThis.seen = [];
        const trap = (name) => new Proxy(function () {}, { apply(target, self, list) { seen.push(list); return name === 'has' ? false : undefined; } });
        const taken = (${takeOver})();
        globalThis.spare = (${takeOver})().pipe;
        try { (${attack})(taken, trap); } catch {}
      }`);
      // The main realm asks a port for its messages.
      assert.equal(await page.evaluate('new Promise((resolve) => setTimeout(() => resolve(1), 100))'), 1);
      const { found } = await page.evaluate(`(${walk})({ seen }, 50_000)`);
      assert.deepEqual(found, []);
    });
  }

  for (const way of ['from the inside out', 'from the outside in']) {
    test(`do not end the process: ports in messages that wait in ports, ${way}`, { timeout: 60_000 }, async (t) => {
      const page = await openHtml(t, '<body>');
      const outcome = await page.evaluate((isInside) => {
        const gone = new MessageChannel();
        gone.port2.close();
        const first = new MessageChannel();
        let last = first.port2;
        if (isInside) {
          for (let at = 0; at < 4_900; at++) {
            const { port1, port2 } = new MessageChannel();
            port1.postMessage(0, [last]);
            last = port2;
          }
        } else {
          // A port that waits in a message still gets messages.
          let { port1: sender } = first;
          for (let at = 0; at < 4_900; at++) {
            const { port1, port2 } = new MessageChannel();
            sender.postMessage(0, [port2]);
            sender = port1;
          }
        }
        // Where the stack is nearly full.
        let tries = 0;
        const fill = () => {
          try {
            fill();
          } catch {}
          if (tries++ > 300) return;
          try {
            gone.port1.postMessage(0, [last]);
          } catch {}
        };
        fill();
        return tries > 300;
      }, way === 'from the inside out');
      assert.equal(outcome, true);
      assert.equal(await page.evaluate('1 + 1'), 2);
    });
  }

  test('pass from port to port, any number of times', async (t) => {
    const page = await openHtml(t, '<body>');
    const passed = await page.evaluate(async () => {
      const { port1, port2 } = new MessageChannel();
      let { port2: passed } = new MessageChannel();
      let count = 0;
      for (; count < 300; count++) {
        const arrived = new Promise((resolve) => {
          port2.onmessage = ({ ports }) => resolve(ports[0]);
        });
        port1.postMessage(0, [passed]);
        passed = await arrived;
      }
      return count;
    });
    assert.equal(passed, 300);
  });

  test('have nothing of Node but three methods', async (t) => {
    const page = await openHtml(t, '<body>');
    const names = await page.evaluate(`(() => {
      const { DomObject, pipe } = (${takeOver})();
      const names = [];
      for (let object = pipe; object !== DomObject.prototype; object = Object.getPrototypeOf(object)) names.push(...Reflect.ownKeys(object));
      return names.map(String);
    })()`);
    assert.deepEqual(names.sort(), [
      'Symbol(nodejs.internal.kCurrentlyReceivingPorts)',
      'Symbol(nodejs.internal.kHybridDispatch)',
      'close',
      'onmessage',
      'postMessage',
      'start',
    ]);
  });
});

suite("messages to the user's thread", () => {
  const object = '{ toString: 1, valueOf: 1 }';
  const other = "{ thread: 1, frame: 0 }, targetOrigin: '*'";
  const ANY_MESSAGES = {
    'a URL that is no text': `{ type: 'window at', frame: 0, url: ${object} }`,
    'a window that is no number': `{ type: 'window', frame: 9, parent: ${object}, url: '' }`,
    'a referrer that is no text': `{ type: 'navigate', url: 'http://127.0.0.1:9/', referrer: ${object} }`,
    'an address that is no number': `{ type: 'post', to: { thread: ${object}, frame: ${object} } }`,
    'no address': "{ type: 'post', to: null }",
    'no record': `{ type: 'post', to: ${other} }`,
    'no type': '[{}]',
    'no object': "'text'",
    'a weight that is no size': "{ type: 'console', method: 'log', text: 'x', weight: -1e9 }",
    'a frame that is no number': `{ type: 'close remote', frame: ${object} }`,
    'an outcome that is no text': `{ type: 'evaluated', id: 1, error: ${object} }`,
  };

  test('may be anything', { timeout: 60_000 }, async (t) => {
    const thrown = uncaught(t);
    const other = await serve(t, { '/': '<p>' });
    const page = await openHtml(t, `<iframe src="${other.url('/')}"></iframe>`);
    for (const [name, message] of Object.entries(ANY_MESSAGES)) {
      await page.evaluate(`{ const { post } = (${takeOver})(); post(${message}); post({ type: 'x', weight: 1 }); }`);
      assert.equal(await page.evaluate('1 + 1'), 2, name);
      assert.deepEqual(thrown, [], name);
    }
  });

  test('of the console are as short as those that no page has made up', async (t) => {
    const page = await openHtml(t, '<body>');
    const texts = [];
    page.on('console', ({ text }) => texts.push(text));
    page.on('pageerror', ({ message, stack }) => texts.push(message, stack));
    await page.evaluate(`{
      const { post } = (${takeOver})();
      const text = '\\ud800'.repeat(1e6);
      post({ type: 'console', method: 'log', text });
      post({ type: 'exception', message: text, stack: text, filename: text, lineno: 1, colno: 1 });
    }`);
    await eventually(() => texts.length >= 3);
    for (const text of texts) assert.ok(text.length < 20_100, `${text.length} characters`);
  });

  test('that cause events are limited in number, whoever makes them up', async (t) => {
    const page = await openHtml(t, '<body>');
    const counts = {};
    for (const name of ['console', 'pageerror', 'problem', 'load', 'domcontentloaded'])
      page.on(name, () => {
        counts[name] = (counts[name] ?? 0) + 1;
      });
    const sent = await page.evaluate(`{
      const { post } = (${takeOver})();
      const messages = [
        { type: 'console', method: 'log', text: 'a text' },
        { type: 'exception', message: 'a message', stack: '', filename: '', lineno: 1, colno: 1 },
        { type: 'problem', kind: 'host', text: 'a text', url: '' },
        { type: 'load', frame: 1 },
        { type: 'DOMContentLoaded', frame: 1 },
      ];
      let sent = 0;
      for (const end = performance.now() + 1_000; performance.now() < end; sent++) post(messages[sent % messages.length]);
      sent
    }`);
    await page.evaluate('"what was sent before has been read"');
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    assert.ok(sent > 6_000, `${sent} sent`);
    // 2,000 in each second that it was in.
    assert.ok(total <= 4_000, `${total} of ${sent}: ${JSON.stringify(counts)}`);
  });

  const ANY_RECORDS = {
    'a port that is listed twice': 'ports: [{ pipe }, { pipe }]',
    'a port that is none': 'ports: [{ pipe: new Set([1]) }]',
    'a port in place of memory': 'buffers: [pipe]',
    'bytes that are listed twice': 'buffers: [bytes]',
    'bytes that are gone': 'bytes: structuredClone(bytes, { transfer: [bytes] }) && bytes',
    'bytes that are a set': 'bytes: new Set([1])',
    'counters without memory':
      'ports: [{ pipe, out: new Int32Array(new WebAssembly.Memory({ initial: 0, maximum: 1, shared: true }).buffer) }]',
    'objects of no type': 'objects: [new Set([1])]',
    'objects that are long': 'objects: Object.assign([], { length: 2 ** 32 - 1 })',
    'objects with members that are objects':
      "objects: [{ type: 'File', name: new Set([1]), bytes: new Set([1]), lastModified: {} }]",
    'objects that throw': 'get objects() { throw 1; }',
    'a proxy': '...new Proxy({}, { ownKeys() { throw 1; } })',
  };

  test('may have any record', { timeout: 120_000 }, async (t) => {
    const thrown = uncaught(t);
    const other = await serve(t, {
      '/': '<script>onmessage = ({ data }) => console.log(data); onmessageerror = () => console.log("error");</script>',
    });
    const page = await openHtml(t, `<iframe src="${other.url('/')}"></iframe>`, {
      host: host(t, { jsdom: jsdomWithBackDoor(t) }),
    });
    for (const [name, change] of Object.entries(ANY_RECORDS)) {
      const sent = await page.evaluate(
        `(() => {
          const { pipe } = (${takeOver})();
          const address = [];
          const { DomObject } = (${takeOver})();
          DomObject.prototype.toJSON = function () {
            if (this.type === 'post') address.push(this);
            return this;
          };
          frames[0].postMessage('before', '*');
          delete DomObject.prototype.toJSON;
          const bytes = new ArrayBuffer(8);
          try {
            const { record: _, ...message } = address[0];
            return window.doors.postToHost(JSON.stringify(message), { bytes, tag: '', buffers: [], ports: [], objects: [], ${change} });
          } catch {
            return false;
          }
        })()`,
      );
      assert.equal(typeof sent, 'boolean', name);
      await page.evaluate("frames[0].postMessage('after', '*')");
      await eventually(() => page.log.includes('after'));
      // Bytes that nobody has written are not read.
      assert.deepEqual(page.log.splice(0), sent ? ['before', 'error', 'after'] : ['before', 'after'], name);
      assert.deepEqual(thrown, [], name);
    }
  });

  test('have no member but those that mean something', () => {
    const sent = [];
    const messages = new DomMessages({ tellLimited: (message) => sent.push(message) > 0 });
    const error = { name: 'Error', message: 'x'.repeat(20_000), toString: 1, [`e${'x'.repeat(20_000)}`]: 1 };
    const to = { thread: 1, frame: 2, [`t${'x'.repeat(20_000)}`]: 1, deep: {} };
    const given = { type: 'console', text: 'text', url: {}, weight: -5, size: 1, record: {}, to, error };
    messages.post(JSON.stringify({ ...given, ['x'.repeat(20_000)]: 1, __proto__: null, id: 7 }));
    messages.expect({ id: 7, maxShapeCost: 1_000 });
    messages.post(JSON.stringify({ ...given, type: 'evaluated', id: 7 }));
    messages.post(JSON.stringify({ ...given, type: 'evaluated', id: 7 }));
    const [first, second] = JSON.parse(JSON.stringify(sent));
    const shown = { name: 'Error', message: `${'x'.repeat(10_000)}...` };
    assert.deepEqual(first.message, {
      type: 'console',
      id: 7,
      text: 'text',
      to: { thread: 1, frame: 2 },
      error: shown,
      weight: 1 + Math.floor((512 + 2 * (7 + 4 + 5 + 10_003)) / 1_024),
    });
    assert.deepEqual(second.message, { type: 'evaluated', id: 7, text: 'text', error: shown });
    assert.equal(sent.length, 2);
  });

  test('may have ports that were closed while they waited', { timeout: 120_000 }, async (t) => {
    const thrown = uncaught(t);
    const other = await serve(t, { '/': '<script>onmessage = ({ data }) => console.log(data);</script>' });
    const page = await openHtml(t, `<iframe src="${other.url('/')}"></iframe>`);
    for (let round = 0; round < 5; round++) {
      const posted = page.evaluate(() => {
        const ports = [];
        for (let count = 0; count < 100; count++) {
          const { port1, port2 } = new MessageChannel();
          frames[0].postMessage('with a port', '*', [port1]);
          ports.push(port2);
        }
        for (const port of ports) port.close();
      });
      // The messages have been received and are not handled when the ports are closed.
      block(50);
      await posted;
    }
    await page.evaluate("frames[0].postMessage('after', '*')");
    await eventually(() => page.log.includes('after'));
    assert.deepEqual(thrown, []);
  });

  test('have no ports unless they are for a window', async (t) => {
    const page = await openHtml(t, '', { host: host(t, { jsdom: jsdomWithBackDoor(t) }) });
    // Those on which nobody listens, too.
    const countHandles = () => process.report.getReport().libuv.length;
    const before = countHandles();
    for (const type of ['console', 'load', 'storage', 'window', 'nonsense'])
      await page.evaluate((type) => {
        const ports = [];
        const keep = (pipe) => ports.push({ pipe, out: undefined, into: undefined });
        for (let count = 0; count < 100; count++)
          doors.newPipes((one, other) => {
            keep(one);
            keep(other);
          });
        const message = JSON.stringify({
          type,
          frame: 5,
          area: 'localStorage',
          name: 'a',
          value: 'b',
          text: 'x',
          url: 'about:blank',
        });
        doors.postToHost(message, { bytes: new ArrayBuffer(4), tag: 'tag', buffers: [], ports, objects: [] });
      }, type);
    const after = countHandles();
    assert.ok(after < before + 20, `${after} instead of ${before}`);
  });

  test('count as what a port takes, whatever its page says of the channel', () => {
    const sent = [];
    const messages = new DomMessages({ tellLimited: (_message, options) => sent.push(options) });
    const { port1, port2 } = new MessageChannel();
    const ports = [port1, port2].map((pipe) => ({ pipe, out: undefined, into: undefined }));
    messages.post('{"type":"post"}', { bytes: new ArrayBuffer(4), tag: '', buffers: [], ports, objects: [] });
    assert.deepEqual(sent[0].transferList.slice(1), [port1, port2]);
    assert.ok(sent[0].size > 8_000 && sent[0].limit === 128 << 20, `${sent[0].size} bytes`);
    port1.close();
  });

  test('come from no more windows than their sender has', async (t) => {
    const attacker = await serve(t, { '/': '' });
    const page = await openHtml(
      t,
      `<script>
        count = 0;
        sources = new Set();
        onmessage = ({ source, data }) => {
          count += 1;
          if (data === 'kept') sources.add(source);
        };
      </script><iframe src="${attacker.url('/')}"></iframe>`,
      { host: host(t, { jsdom: jsdomWithBackDoor(t), memoryLimit: 64 }) },
    );
    await eventually(async () => (await page.frames()).length === 2);
    const { frame } = (await page.frames())[1];
    const crashed = [];
    page.on('crash', (error) => crashed.push(error));
    let first = 1;
    /** Sends 500 messages, from as many windows. */
    const flood = async (isOpened, data) => {
      await page.evaluateIn(
        { frame },
        (isOpened, data, first) => {
          const { Object: DomObject } = domRealm;
          let from = first;
          DomObject.prototype.toJSON = function () {
            return this.type === 'post' ? { ...this, from } : this;
          };
          for (; from < first + 500; from++) {
            if (isOpened)
              doors.postToHost(JSON.stringify({ type: 'window', frame: from, parent: 0, url: location.href }));
            parent.postMessage(data, '*');
            if (isOpened) doors.postToHost(JSON.stringify({ type: 'window closed', frame: from }));
          }
          delete DomObject.prototype.toJSON;
        },
        isOpened,
        data,
        first,
      );
      first += 500;
      await eventually(async () => (await page.evaluate('count')) === first - 1);
    };
    await flood(false, 'kept');
    assert.equal(await page.evaluate('sources.size'), 1);
    // It can open and close windows, or say so, but what the page knows of each takes memory only while it has it.
    for (let round = 0; round < 20; round++) await flood(true, 'dropped');
    assert.deepEqual(crashed, []);
  });

  test('are counted, however many a page sends by itself', async (t) => {
    const page = await openHtml(t, '', { host: host(t, { jsdom: jsdomWithBackDoor(t) }) });
    const grown = watchMemory(t);
    const end = Date.now() + 4_000;
    const answer = page.evaluate((end) => {
      const message = JSON.stringify({ type: 'window at', frame: 0, url: 'x'.repeat(1e6) });
      let sent = 0;
      while (Date.now() < end) if (window.doors.postToHost(message)) sent++;
      return sent;
    }, end);
    block(end - Date.now());
    // A message takes 2 MB, and 128 MiB may wait. Some are handled before this thread is blocked, and after that.
    const sent = await answer;
    assert.ok(sent > 0 && sent < 150, `${sent} were sent`);
    assert.ok(grown() < 600 << 20, `${grown()} bytes`);
  });

  test('answer once, and only what was asked', async (t) => {
    const page = await openHtml(t, '', { host: host(t, { jsdom: jsdomWithBackDoor(t) }) });
    const forging = page.evaluate(() => {
      for (let id = 0; id < 1_000; id++)
        window.doors.postToHost(JSON.stringify({ type: 'evaluated', id, error: { name: 'Error', message: 'forged' } }));
    });
    await assert.rejects(forging, /forged/);
    assert.equal(await page.evaluate('1 + 1'), 2);
  });

  test('of a worker do not navigate the page', async (t) => {
    const attacker = await serve(t, {
      '/': "<script>new Worker('/worker.js')</script>",
      '/worker.js': `(${takeOver})().post({ type: 'navigate', frame: 0, url: location.origin + '/stolen', referrer: '' }); console.log('sent');`,
    });
    const page = await openHtml(
      t,
      `<iframe sandbox="allow-scripts allow-same-origin" src="${attacker.url('/')}"></iframe>`,
    );
    const before = page.url;
    await eventually(() => page.log.includes('sent'));
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 200))');
    assert.equal(page.url, before);
    assert.ok(!attacker.requests.some(({ url }) => url === '/stolen'));
  });
});

suite('what threads of a page send each other', () => {
  /** How much the process grows while a thread is busy, in megabytes. */
  async function growth(t, page, routes, busy) {
    const attacker = await serve(t, routes);
    const start = await openHtml(t, '', { host: host(t, { memoryLimit: 256 }), routes: { '/w.js': routes['/'] } });
    await start.evaluate(page, attacker.url('/').replace('127.0.0.1', 'localhost'));
    await eventually(() => start.log.includes('begins'));
    const grown = watchMemory(t);
    // On a busy machine, the user's thread takes long for what it is sent.
    await start.evaluateIn({ timeout: 100_000 }, busy);
    return grown() / 2 ** 20;
  }
  const BUSY = 'for (const end = Date.now() + 5_000; Date.now() < end;);';

  test('is not sent to a thread that has ended: cookies', () => {
    const leases = [];
    let count = 0;
    const thread = {
      hasEnded: false,
      deliver(_message, lease) {
        count += 1;
        if (this.hasEnded) lease.release();
        else leases.push(lease);
      },
    };
    const feed = new CookieFeed(thread);
    for (let at = 0; at < 50_000; at++)
      feed.add({ url: 'http://victim.test/', cookie: `name${at}=value`, isHttp: false });
    assert.ok(count < 10_000, `${count}`);
    thread.hasEnded = true;
    count = 0;
    for (const lease of leases) lease.release();
    assert.equal(count, 0);
  });

  test('does not fill memory while one of them is busy: cookies', () => {
    const sent = [];
    const feed = new CookieFeed({ deliver: (message, lease) => sent.push({ ...message, lease }) });
    for (let at = 0; at < 200_000; at++)
      feed.add({ url: 'http://victim.test/', cookie: `name${at % 40}=${at}`.padEnd(4_000, 'x'), isHttp: false });
    assert.ok(sent.length < 300, `${sent.length} messages`);
    const before = sent.length;
    for (let at = 0; at < sent.length; at++) sent[at].lease.release();
    assert.equal(sent.length - before, 40);
    assert.ok(sent.at(-1).change.cookie.startsWith('name39=199999x'));
    for (let at = 0; at < 200_000; at++)
      feed.add({ url: `http://victim.test/${at}`, cookie: 'a=b'.padEnd(4_000, 'x'), isHttp: false });
    for (let at = 0; at < sent.length; at++) sent[at].lease.release();
    assert.ok(sent.length < 6_000, `${sent.length} messages`);
  });

  test('does not fill memory while one of them is busy: the URLs of cookies', () => {
    useJsdom({ folder: jsdom });
    const waiting = [];
    const cookies = new Cookies(undefined, (change) => waiting.push(change));
    const before = process.memoryUsage().heapUsed;
    for (let at = 0; at < 50; at++) {
      const url = new URL(`http://victim.test/long/enough/${at}?${'x'.repeat(4e6)}`);
      const request = { isTopLevel: true, method: 'GET', client: { origin: 'http://victim.test' } };
      cookies.store(url, [['set-cookie', `name${at}=1`]], request);
    }
    v8.setFlagsFromString('--expose-gc');
    vm.runInNewContext('gc')();
    const grown = (process.memoryUsage().heapUsed - before) / 2 ** 20;
    assert.equal(waiting.length, 50);
    assert.ok(grown < 50, `${grown} MB`);
  });

  test('does not fill memory while one of them is busy: exceptions of a worker', { timeout: 120_000 }, async (t) => {
    const worker = `
      console.log('begins');
      const target = new EventTarget();
      target.addEventListener('x', () => { throw new Error('x'.repeat(1e6) + Math.random()); });
      setTimeout(() => { for (const end = Date.now() + 5_000; Date.now() < end;) target.dispatchEvent(new Event('x')); }, 100);`;
    const grown = await growth(t, () => void new Worker('/w.js'), { '/': worker }, BUSY);
    // A queue of 256 MB, and the worker's heap.
    assert.ok(grown < 700, `${grown} MB`);
  });

  test('does not fill memory while one of them is busy: navigations of a frame', { timeout: 120_000 }, async (t) => {
    const frame = `<script>
      const { post } = (${takeOver})();
      const url = 'http://127.0.0.1:1/?' + 'x'.repeat(4e6);
      let count = 0;
      const next = () => { post({ type: 'navigate', frame: 0, url: url + count++, referrer: '' }); if (count < 400) setTimeout(next, 5); };
      setTimeout(next, 500);
      console.log('begins');
    </script>`;
    const embed = (src) => void document.body.append(Object.assign(document.createElement('iframe'), { src }));
    const grown = await growth(t, embed, { '/': frame }, BUSY);
    assert.ok(grown < 700, `${grown} MB`);
  });

  test("does not keep the user's thread from anything else", { timeout: 60_000 }, async (t) => {
    const page = await openHtml(t, '<body>');
    await page.evaluate(async () => {
      // Each change of a cookie is passed on to each of them.
      for (let count = 0; count < 6; count++) {
        const frame = document.createElement('iframe');
        Object.assign(frame, { sandbox: 'allow-scripts', srcdoc: 'x' });
        const loaded = new Promise((resolve) => {
          frame.onload = resolve;
        });
        document.body.append(frame);
        await loaded;
      }
    });
    page.evaluate(() => {
      setTimeout(() => {
        for (let at = 0, end = Date.now() + 5_000; Date.now() < end; at++) {
          document.cookie = `name${at % 50}=${at}`;
          if (at % 1_000 === 0) console.log('on');
        }
      });
    });
    let longest = 0;
    const start = performance.now();
    for (let last = start; last < start + 6_000; ) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    }
    assert.ok(longest < 2_500, `${longest} ms`);
  });

  test('arrives in the end: the last value of each cookie', async (t) => {
    const script =
      "for (let at = 0; at < 30_000; at++) document.cookie = 'name' + (at % 10) + '=' + at + 'x'.repeat(200); console.log('done');";
    // Of another origin on the same host, and so with the same cookies in another thread.
    const other = await serve(t, { '/': `<script>setTimeout(() => { ${script} }, 200)</script>` });
    const page = await openHtml(t, '<body>');
    await page.evaluate((src) => {
      document.body.append(Object.assign(document.createElement('iframe'), { src }));
      return new Promise((resolve) => setTimeout(resolve, 500));
    }, other.url('/'));
    await page.evaluate('for (const end = Date.now() + 2_000; Date.now() < end;);');
    await eventually(() => page.log.includes('done'));
    await eventually(async () => (await page.evaluate('document.cookie')).includes('name9=29999x'));
  });

  test('does not keep a page from posting: the counter of a port that it was given', async (t) => {
    const attacker = await serve(t, {
      '/': `<script>
        const { DomObject } = (${takeOver})();
        const given = [];
        for (const name of ['posted', 'isCounted']) {
          DomObject.defineProperty(DomObject.prototype, name, {
            configurable: true,
            get() { given.push(this); },
            set(value) { DomObject.defineProperty(this, name, { value, writable: true }); },
          });
        }
        const { port1, port2 } = new MessageChannel();
        parent.postMessage('a port', '*', [port2]);
        port1.onmessage = () => { port1.postMessage('answer'); for (const { into } of given) if (into) into[0] = 0x7fffffff; console.log('lies'); };
      </script>`,
    });
    const page = await openHtml(t, '');
    await page.evaluate((src) => {
      addEventListener('message', ({ ports: [port] }) => {
        port.postMessage('question');
        globalThis.kept = port;
      });
      document.body.append(Object.assign(document.createElement('iframe'), { src }));
    }, attacker.url('/'));
    await eventually(() => page.log.includes('lies'));
    const posted = await page.evaluate(async () => {
      const { port1, port2 } = new MessageChannel();
      let received = 0;
      port2.onmessage = () => received++;
      for (let at = 1; at <= 40; at++) {
        port1.postMessage(new Uint8Array(10e6));
        while (received < at) await new Promise((resolve) => setTimeout(resolve));
      }
      return received;
    });
    assert.equal(posted, 40);
  });
});

suite("questions to the user's thread", () => {
  test('do not fill its stack, however many wait', async (t) => {
    const page = await openHtml(t, '');
    const asked = page.evaluate(async () => {
      const all = Array.from({ length: 20_000 }, (_, at) =>
        fetch(`blob:http://none.test/${at}`).catch(({ name }) => name),
      );
      return new Set(await Promise.all(all)).size;
    });
    await new Promise((resolve) => setTimeout(resolve, 30));
    block(2_000);
    assert.equal(await asked, 1);
  });
});
