// Errors in pages: how they are reported, their stacks, and promises that are rejected.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { suite, test } from 'node:test';

import { host, jsdom, openHtml, until } from './server.mjs';

suite('errors', () => {
  test('that are not caught are reported with their location', async (t) => {
    const page = await openHtml(
      t,
      `<script>
  setTimeout(() => { throw new TypeError('in a timer') });
  Promise.reject(new Error('in a promise'));
  document.addEventListener('x', () => { throw new Error('in a listener') });
  document.dispatchEvent(new Event('x'));
  queueMicrotask(() => { throw 'a string' });
  undefined.member;
</script><script>syntax error</script>`,
    );
    await until(page, () => page.errors.length === 6);
    assert.deepEqual(
      page.errors.map(({ message, lineno, colno }) => `${message} ${lineno}:${colno}`).sort(),
      [
        "Uncaught 'a string' 0:0",
        'Uncaught Error: in a listener 4:48',
        'Uncaught (in promise) Error: in a promise 3:18',
        "Uncaught SyntaxError: Unexpected identifier 'error' 8:25",
        'Uncaught TypeError: in a timer 2:28',
        "Uncaught TypeError: Cannot read properties of undefined (reading 'member') 7:13",
      ].sort(),
    );
    assert.ok(
      page.errors.every(({ filename }) => filename === page.url),
      JSON.stringify(page.errors),
    );
    assert.doesNotMatch(JSON.stringify(page.errors), /node_modules|node:|\.cjs/);
  });

  test('that the page handles are not reported', async (t) => {
    const page = await openHtml(
      t,
      `<script>
        onerror = (message, url, line, column, error) => { console.log(message, url === location.href, line, error.name); return true; };
        throw new RangeError('handled');
      </script>`,
    );
    assert.deepEqual(page.log, ['Uncaught RangeError: handled true 3 RangeError']);
    assert.deepEqual(page.errors, []);
  });

  test('of resources are reported', async (t) => {
    const page = await openHtml(t, '<script src="/none.js" onerror="console.log(`error ${event.type}`)"></script>');
    assert.deepEqual(page.log, ['error error']);
    assert.equal(page.problems[0].kind, 'resource-loading');
    assert.match(page.problems[0].text, /Could not load script: .*none\.js.* answered 404/);
  });
});

suite('the stack of an error', () => {
  test('shows a page its own frames and no path of the host', async (t) => {
    const page = await openHtml(
      t,
      `<body><script>
        function inner() { return new Error('x').stack; }
        document.body.addEventListener('x', function listener() { console.log(inner()); });
        document.body.dispatchEvent(new Event('x'));
        try { document.querySelector('>>'); } catch (error) { console.log(error.stack); }
        try { document.body.appendChild(1); } catch (error) { console.log(error.stack); }
        const code = "console.log(new Error('x').stack), eval('console.log(new Error().stack)')";
        document.body.addEventListener('y', eval.bind(null, code));
        document.body.dispatchEvent(new Event('y'));
        setTimeout(eval, 0, code);
        setTimeout(() => (0, eval)('console.log(new Error().stack)'));
      </script>`,
    );
    await until(page, () => page.log.length === 8);
    assert.match(
      page.log[0],
      /^Error: x\n {4}at inner \(http.*\n {4}at HTMLBodyElement\.listener \(http.*\n {4}at http[^\n]*$/,
    );
    for (const text of page.log) assert.doesNotMatch(text, /node:|node_modules|\.cjs|jsdom/);
    // What a page's own script evaluates stays.
    assert.match(page.log.at(-1), /at eval \(eval at/);
  });

  test('shows none where each package of jsdom is in a folder of its own', async (t) => {
    const store = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-'));
    t.after(() => fs.rmSync(store, { recursive: true }));
    const original = path.dirname(fs.realpathSync(jsdom));
    const placeOf = (name) => path.join(store, name.replace('/', '+'), 'node_modules', name);
    const installed = new Set(['jsdom']);
    for (const name of installed) {
      fs.cpSync(path.join(original, name), placeOf(name), { recursive: true });
      const { dependencies = {} } = JSON.parse(fs.readFileSync(path.join(placeOf(name), 'package.json'), 'utf8'));
      for (const dependency of Object.keys(dependencies)) {
        installed.add(dependency);
        const link = path.join(store, name.replace('/', '+'), 'node_modules', dependency);
        fs.mkdirSync(path.dirname(link), { recursive: true });
        fs.symlinkSync(placeOf(dependency), link);
      }
    }
    const page = await openHtml(t, '<script>try { new URL("x"); } catch ({ stack }) { console.log(stack); }</script>', {
      host: host(t, { jsdom: placeOf('jsdom') }),
    });
    assert.match(page.log[0], /^TypeError: Invalid URL: x\n {4}at http:\S+$/);
  });

  test('can be formatted by the page, as V8 allows', async (t) => {
    const page = await openHtml(t, '');
    const [isArray, name, count] = await page.evaluate(() => {
      Error.prepareStackTrace = (_error, sites) => [sites instanceof Array, sites[0].getFunctionName(), sites.length];
      return (function named() {
        return new Error('x').stack;
      })();
    });
    assert.deepEqual([isArray, name, count], [true, 'named', 2]);
  });
});

suite('a promise that is rejected', () => {
  test('is reported once the jobs of the turn have run, if it is not handled by then', async (t) => {
    const page = await openHtml(t, '<body>');
    const reasons = await page.evaluate(async () => {
      const reasons = [];
      addEventListener('unhandledrejection', (event) => {
        reasons.push(event.reason);
        // One that this handles is not reported any more.
        handledMeanwhile.catch(() => {});
        event.preventDefault();
      });
      const handledNow = Promise.reject('handled now');
      handledNow.catch(() => {});
      const handledSoon = Promise.reject('handled soon');
      Promise.resolve()
        .then(() => {})
        .then(() => handledSoon.catch(() => {}));
      Promise.reject('first');
      const handledMeanwhile = Promise.reject('handled meanwhile');
      await new Promise((resolve) => setTimeout(resolve));
      reasons.push('timer');
      Promise.resolve().then(() => {
        throw 'second';
      });
      await new Promise((resolve) => setTimeout(resolve));
      return reasons;
    });
    assert.deepEqual(reasons, ['first', 'timer', 'second']);
    assert.deepEqual(page.errors, []);
  });
});
