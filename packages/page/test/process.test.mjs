// The process of the pages, and what the process of the user has of it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { suite, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';

import { runProgram } from './programs.mjs';
import { eventually, host, jsdom, open, serve } from './server.mjs';

/** The processes that a process has started, by their ids. */
function childrenOf(pid) {
  return fs
    .readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => fs.readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim().split(' '))
    .filter((id) => id !== '')
    .map(Number);
}

/** Whether a process runs. One that has ended, but that nobody has waited for, does not. */
function isRunning(pid) {
  try {
    return !/^\d+ \(.*\) Z/s.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** The process that was started since. */
async function startedSince(before, start) {
  await start();
  const [started, ...others] = childrenOf(process.pid).filter((pid) => !before.includes(pid));
  assert.deepEqual(others, []);
  return started;
}

const ENDLESS = '<script>for (;;);</script>';

suite('the process of the user', () => {
  test('has nothing of the pages but a channel', async () => {
    const { stdout, stderr } = await runProgram(`
      import fs from 'node:fs';
      import { createRequire } from 'node:module';
      const require = createRequire(import.meta.url);
      const listeners = () => process.eventNames().map((name) => [String(name), process.listenerCount(name)]);
      const flags = () => [process.execArgv, process.env.NODE_OPTIONS, Error.stackTraceLimit];
      const before = JSON.stringify([listeners(), flags()]);
      const host = new PageHost({ jsdom });
      const page = await host.open();
      await page.evaluate(() => [new Map([[1, new Date(0)]])]);
      const folder = require.resolve('@selfprof/page/package.json').replace(/package\\.json$/, '');
      const loaded = Object.keys(require.cache).map((file) => file.replace(folder, ''));
      console.log(JSON.stringify({
        isSame: JSON.stringify([listeners(), flags()]) === before,
        others: loaded.filter((file) => !/^(package\\.json|index\\.cjs|src\\/client\\/[^/]*\\.cjs)$/.test(file)),
        isClientLoaded: loaded.includes('src/client/host-child.cjs'),
        addons: fs.readFileSync('/proc/self/maps', 'utf8').match(/\\S+\\.node$/gm) ?? [],
      }));
      await host.close();`);
    assert.equal(stderr, '');
    const found = JSON.parse(stdout);
    assert.deepEqual([found.isSame, found.others, found.isClientLoaded, found.addons], [true, [], true, []]);
  });

  test('is free while a page loops, whatever the page does', async (t) => {
    const server = await serve(t, { '/': '<p>' });
    const page = await open(t, server.url('/'));
    let isPending = true;
    const script = page.evaluateIn({ timeout: 2_000 }, 'for (;;);').finally(() => {
      isPending = false;
    });
    script.catch(() => {});
    for (let turn = 0; turn < 100; turn++) await setImmediate();
    assert.equal(await (await fetch(server.url('/'))).text(), '<p>');
    assert.equal(isPending, true);
    await assert.rejects(script, { name: 'TimeoutError' });
  });

  test('keeps nothing of pages and processes that have gone', async (t) => {
    const pages = host(t);
    const server = await serve(t, { '/': '<p>' });
    const before = childrenOf(process.pid);
    const handles = () =>
      process
        .getActiveResourcesInfo()
        .filter((name) => name !== 'Timeout')
        .sort();
    const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)]);
    const state = () => [handles(), listeners(), fs.readdirSync('/proc/self/fd').length, childrenOf(process.pid)];
    // Connections of the first request stay for a moment.
    const first = await pages.open();
    await first.close();
    await pages.close();
    const expected = state();
    for (let round = 0; round < 2; round++) {
      const opened = await Promise.all(Array.from({ length: 3 }, () => pages.open()));
      assert.equal(childrenOf(process.pid).length, before.length + 1);
      assert.equal(pages.pages.length, 3);
      for (const page of opened) {
        await page.route('**', (route) => route.continue());
        await page.goto(server.url('/'));
        await page.close();
        assert.deepEqual([page.closed, page.eventNames()], [true, []]);
      }
      assert.equal(pages.pages.length, 0);
      await pages.close();
      assert.deepEqual(childrenOf(process.pid), before);
    }
    await eventually(() => JSON.stringify(state()) === JSON.stringify(expected));
  });

  test('gets what the other one prints to stderr', async (t) => {
    const server = await serve(t, { '/': '<p>' });
    const { stdout, stderr } = await runProgram(
      `const host = new PageHost({ jsdom });
      await host.open(${JSON.stringify(server.url('/'))});
      console.log(process.pid);
      await host.close();`,
      // Node then prints what its connections do.
      { env: { ...process.env, NODE_DEBUG: 'http' } },
    );
    const printed = new Set([...stderr.matchAll(/^HTTP (\d+):/gm)].map(([, pid]) => pid));
    printed.delete(stdout.trim());
    assert.equal(printed.size, 1);
  });

  test('passes on no preload and no inspector', async (t) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-'));
    t.after(() => fs.rmSync(folder, { recursive: true }));
    const preload = path.join(folder, 'preload.cjs');
    fs.writeFileSync(
      preload,
      `require('node:fs').appendFileSync(${JSON.stringify(path.join(folder, 'log'))}, process.pid + '\\n')`,
    );
    const { stdout } = await runProgram(
      `const host = new PageHost({ jsdom });
      const page = await host.open();
      console.log(process.pid, await page.evaluate('typeof process'));
      await host.close();`,
      { flags: ['--inspect=127.0.0.1:0'], env: { ...process.env, NODE_OPTIONS: `--require=${preload}` } },
    );
    const [pid, type] = stdout.trim().split(' ');
    assert.equal(type, 'undefined');
    assert.equal(fs.readFileSync(path.join(folder, 'log'), 'utf8'), `${pid}\n`);
  });
});

suite('the process of the pages', () => {
  test('is started by the first page, and ended by `close`', async (t) => {
    const before = childrenOf(process.pid);
    const pages = host(t);
    assert.deepEqual(childrenOf(process.pid), before);
    const pid = await startedSince(before, () => pages.open());
    assert.equal(isRunning(pid), true);
    await pages.close();
    assert.equal(isRunning(pid), false);
    await pages.close();
    const next = await startedSince(before, () => pages.open());
    assert.notEqual(next, pid);
  });

  test('writes no file and starts no process', async (t) => {
    const before = childrenOf(process.pid);
    const pid = await startedSince(before, () => host(t).open());
    const command = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    assert.ok(command.includes('--permission'));
    assert.deepEqual(
      command.filter((flag) => /^--allow-(fs-write|child-process)/.test(flag)),
      [],
    );
  });

  for (const [what, signal, page] of [
    ['is killed', 'SIGKILL', '<p>'],
    ['is killed while a page loops', 'SIGKILL', ENDLESS],
    [
      'is asked to end while V8 cannot be interrupted',
      'SIGTERM',
      '<script>Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)</script>',
    ],
  ])
    test(`ends when the process of the user ${what}`, { timeout: 60_000 }, async (t) => {
      const server = await serve(t, { '/': page });
      const program = `
        import { PageHost } from ${JSON.stringify(new URL('../index.mjs', import.meta.url))};
        const host = new PageHost({ jsdom: ${JSON.stringify(jsdom)} });
        const page = await host.open(${JSON.stringify(server.url('/'))}, { waitUntil: 'commit' });
        console.log('open');
        setInterval(() => {}, 1000);`;
      const user = spawn(process.execPath, ['--input-type=module', '-e', program], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(readline.createInterface(user.stdout), 'line');
      const [pid, ...others] = childrenOf(user.pid);
      assert.deepEqual(others, []);
      assert.equal(isRunning(pid), true);
      user.kill(signal);
      await once(user, 'exit');
      await eventually(() => !isRunning(pid));
    });

  test('that is killed crashes its pages, and another one opens the next', async (t) => {
    const before = childrenOf(process.pid);
    const pages = host(t);
    const events = [];
    const on = (name) => ({
      crash: ({ message }) => events.push(`${name} crash: ${message}`),
      close: () => events.push(`${name} close`),
    });
    let page;
    const pid = await startedSince(before, async () => {
      page = await pages.open('about:blank', { on: on('one') });
      await pages.open('about:blank', { on: on('two') });
    });
    const pending = page.evaluate(() => new Promise(() => {}));
    const waiting = page.click('#missing');
    process.kill(pid, 'SIGKILL');
    const reason = 'the process of the pages was ended by SIGKILL';
    await assert.rejects(pending, { message: reason });
    await assert.rejects(waiting, { message: reason });
    assert.deepEqual(events, [`one crash: ${reason}`, 'one close', `two crash: ${reason}`, 'two close']);
    assert.deepEqual([page.closed, pages.pages], [true, []]);
    await assert.rejects(page.evaluate('1'), { message: 'the page is closed' });
    await page.close();
    const next = await pages.open();
    assert.equal(await next.evaluate('1 + 1'), 2);
  });

  test('ends when it takes more memory than it may', async (t) => {
    const pages = host(t, { processMemoryLimit: 400, memoryLimit: 2_000, timeout: 120_000 });
    const page = await pages.open();
    const crash = once(page, 'crash');
    const reason = 'the pages took more than 400 MB of memory';
    await assert.rejects(
      page.evaluate('keep = []; for (let i = 0; i < 1000; i++) keep.push(new Uint8Array(1e6).fill(1));'),
      { message: reason },
    );
    assert.equal((await crash)[0].message, reason);
    assert.equal(await (await pages.open()).evaluate('2'), 2);
  });
});

test('errors have the stack of the call', async (t) => {
  const page = await host(t).open();
  const called = async function theCaller() {
    await page.evaluate('null.x');
  };
  const error = await called().catch((error) => error);
  assert.match(error.stack, /^PageError: TypeError: [^\n]*\n {4}at (async )?theCaller \([^\n]*process\.test\.mjs/);
  assert.match(error.pageStack, /at evaluate:1/);
});

suite('values that cross', () => {
  const _VALUES = {
    undefined: undefined,
    NaN: Number.NaN,
    '-0': -0,
    'a bigint': 2n ** 70n,
    'a date': new Date(5),
    'a map': new Map([[{ a: 1 }, new Set([1, 'x'])]]),
    'typed arrays': [new Uint8Array([1, 2]), new Float64Array([0.5]), new Uint8Array([1, 2, 3]).buffer],
    'a regular expression': /a+/giu,
    holes: Object.assign([], { 0: 1, 2: 3 }),
    'an error': new RangeError('r', { cause: new TypeError('c') }),
    'text that is not well-formed': '\ud800',
  };
  test('are platform objects of Node, or plain data', async (t) => {
    const page = await host(t).open();
    const [blob, file, exception] = await page.evaluate(() => [
      new Blob(['abc'], { type: 'text/x' }),
      new File(['abcd'], 'f.txt', { lastModified: 7 }),
      new DOMException('m', 'AbortError'),
    ]);
    assert.deepEqual([blob.constructor, await blob.text(), blob.type], [Blob, 'abc', 'text/x']);
    assert.deepEqual([file.constructor, await file.text(), file.name, file.lastModified], [File, 'abcd', 'f.txt', 7]);
    assert.deepEqual([exception.constructor, exception.message, exception.name], [DOMException, 'm', 'AbortError']);
  });
});
