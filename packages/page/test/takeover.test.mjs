// Attacks of a page that has taken over the DOM realm: it has that realm's ports, by which it can send anything to the user's thread.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { eventually, jsdom, openHtml, serve } from './server.mjs';

/**
 * Runs in a window or a worker. Gets its port to the user's thread, a channel of the DOM realm's, and the function that posts.
 *
 * @param {() => void} [logs] makes the DOM realm post to the user's thread
 */
function takeOver(logs = () => console.log('taken')) {
  let root = Headers.prototype;
  for (let next = root; next !== null; next = Object.getPrototypeOf(next)) root = next;
  const DomObject = root.constructor;
  const DomArray = DomObject.keys({}).constructor;
  const iterator = DomArray.prototype[Symbol.iterator];
  let channels;
  DomArray.prototype[Symbol.iterator] = function () {
    if (this[0]?.pipe !== undefined) channels = [this[0], this[1]];
    return iterator.call(this);
  };
  new MessageChannel();
  DomArray.prototype[Symbol.iterator] = iterator;
  const [{ pipe }] = channels;
  const prototype = Object.getPrototypeOf(pipe);
  const { postMessage } = prototype;
  let host;
  prototype.postMessage = function (...parameters) {
    if (parameters[0]?.type === 'console') host = this;
    return postMessage.apply(this, parameters);
  };
  logs();
  prototype.postMessage = postMessage;
  return { DomObject, channels, pipe, prototype, post: (...parameters) => postMessage.apply(host, parameters) };
}

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

  test('have nothing of Node but three methods', async (t) => {
    const page = await openHtml(t, '<body>');
    const names = await page.evaluate(`(() => {
      const { DomObject, pipe } = (${takeOver})();
      const names = [];
      for (let object = pipe; object !== DomObject.prototype; object = Object.getPrototypeOf(object)) names.push(...Reflect.ownKeys(object));
      return names.map(String);
    })()`);
    assert.deepEqual(names.sort(), ['close', 'postMessage', 'start']);
  });
});

suite("messages to the user's thread", () => {
  const object = '{ toString: 1, valueOf: 1 }';
  const other = "{ thread: 1, frame: 0 }, targetOrigin: '*'";
  for (const [name, message] of Object.entries({
    'a URL that is no text': `[{ type: 'window at', frame: 0, url: ${object} }]`,
    'a window that is no number': `[{ type: 'window', frame: 9, parent: ${object}, url: '' }]`,
    'a referrer that is no text': `[{ type: 'navigate', url: 'http://127.0.0.1:9/', referrer: ${object} }]`,
    'an address that is no number': `[{ type: 'post', to: { thread: ${object}, frame: ${object} } }]`,
    'no address': "[{ type: 'post', to: null }]",
    'a counter without memory':
      "[{ type: 'unread', unread: new Int32Array(new WebAssembly.Memory({ initial: 0, maximum: 1, shared: true }).buffer) }]",
    'a port that is listed twice': `[{ type: 'post', to: ${other}, record: { ports: [{ pipe }, { pipe }] } }, [pipe]]`,
    'a port that is not listed': `[{ type: 'post', to: ${other}, record: { pipe, ports: [] } }, [pipe]]`,
    'a frame that is no number': `[{ type: 'close remote', frame: ${object} }]`,
    'an outcome that is no text': `[{ type: 'evaluated', id: 1, error: ${object} }]`,
  })) {
    test(`may be anything: ${name}`, async (t) => {
      const thrown = [];
      const note = (error) => thrown.push(error);
      process.on('uncaughtException', note);
      t.after(() => process.off('uncaughtException', note));
      const other = await serve(t, { '/': '<p>' });
      const page = await openHtml(t, `<iframe src="${other.url('/')}"></iframe>`);
      await page.evaluate(
        `{ const { pipe, post } = (${takeOver})(); post(...${message}); post({ type: 'x', weight: 1 }); }`,
      );
      assert.equal(await page.evaluate('1 + 1'), 2);
      assert.deepEqual(thrown, []);
    });
  }

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
});
