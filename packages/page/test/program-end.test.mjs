// What keeps a program alive: what its user waits for, and nothing that a page does.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { runProgram } from './programs.mjs';
import { serve } from './server.mjs';

/** Runs a program with a host, which is killed when it has not ended in time. */
const run = (program) =>
  runProgram(
    `const host = new PageHost({ jsdom });
    const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
    ${program}`,
    { timeout: 30_000 },
  );

/** Routes of which the first one has a page that does something again and again. */
const routes = (script) => ({
  '/': `<body><script>let n = 0; setInterval(() => { n++; ${script} }, 200)</script>`,
  '/slow': () => new Promise((resolve) => setTimeout(() => resolve('slow'), 500)),
  '/w.js': () => new Promise((resolve) => setTimeout(() => resolve(''), 300)),
});

suite('a program whose work is done ends, though a page', () => {
  const frame = (attribute) =>
    `const frame = document.createElement('iframe'); frame.${attribute}; document.body.append(frame); setTimeout(() => frame.remove(), 1000);`;
  for (const [what, script] of Object.entries({
    'starts and ends workers': "const worker = new Worker('/w.js'); setTimeout(() => worker.terminate(), 900)",
    'shows and removes frames in threads of their own': frame("sandbox = 'allow-scripts'"),
    'ends workers that V8 does not interrupt': `
      const worker = new Worker('data:text/javascript,Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)');
      setTimeout(() => worker.terminate(), 500)`,
  }))
    test(what, { timeout: 60_000 }, async (t) => {
      const server = await serve(t, routes(script));
      const { code, stdout } = await run(`
        await host.open(${JSON.stringify(server.url('/'))});
        await sleep(1_500);
        process.on('exit', () => console.log('exit'));`);
      assert.deepEqual([code, stdout], [0, 'exit\n']);
    });
});

suite('a program waits', { concurrency: true }, () => {
  for (const [what, wait] of Object.entries({
    'for a page that is loaded, however long it may take': 'await host.open(slow, { timeout: Infinity })',
    'for scripts, however long they may take':
      "await page.evaluateIn({ timeout: Infinity }, 'new Promise((resolve) => setTimeout(resolve, 300))')",
    'for a document that is loaded': "await page.navigate(slow, { waitUntil: 'idle' })",
    'for a page that is closed': 'await page.close()',
    'for its host to be closed': 'await host.close()',
    'for a page of a host that was closed before': 'await host.close(); await (await host.open(slow)).navigate(slow)',
    'for a page that is being closed':
      "let isClosed = false; page.on('close', () => { isClosed = true; }); page.close(); await page.close(); if (!isClosed) throw new Error('it is open')",
    'for its host to be closed, and with it a page that is being closed':
      "let isClosed = false; page.on('close', () => { isClosed = true; }); page.close(); await host.close(); if (!isClosed) throw new Error('it is open')",
    'for profiles and samples':
      'const recorded = await host.open(slow, { profile: {} }); await recorded.forceSample(); await recorded.takeProfile()',
    'for pages that are shown': 'await page.setVisible(false); await page.setVisible(true)',
  }))
    test(what, { timeout: 60_000 }, async (t) => {
      const server = await serve(t, routes(''));
      const { code, stdout } = await run(`
        const slow = ${JSON.stringify(server.url('/slow'))};
        const page = await host.open(slow);
        ${wait};
        console.log('waited');`);
      assert.deepEqual([code, stdout], [0, 'waited\n']);
    });
});

test('a program whose tests stop time uses pages as ever', { timeout: 60_000 }, async (t) => {
  const server = await serve(t, routes("for (let i = 0; i < 1_000; i++) console.log('flood')"));
  const { code, stdout } = await run(`
    import { mock } from 'node:test';
    mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate', 'Date'] });
    performance.now = () => 0;
    const page = await host.open(${JSON.stringify(server.url('/'))});
    console.log(await page.evaluate('new Promise((resolve) => setTimeout(resolve, 500, 1))'));
    await page.navigate(${JSON.stringify(server.url('/slow'))}, { waitUntil: 'idle' });
    console.log(await page.evaluateIn({ timeout: 300 }, 'for (;;);').catch(({ name }) => name));
    await host.close();`);
  assert.deepEqual([code, stdout], [0, '1\nTimeoutError\n']);
});

suite('a listener of the user that throws', () => {
  for (const [what, wait] of Object.entries({
    'when a page does not respond':
      "await page.evaluateIn({ timeout: 500 }, 'for (;;);').catch(({ name }) => console.log(name))",
    'when the memory of a page is full':
      "await page.evaluate('keep = []; for (;;) keep.push(new Uint8Array(1e6).fill(1));').catch(({ code }) => console.log(code))",
    'when V8 gives up on a page':
      "await page.evaluate('Array.prototype.sort.call({ length: 2 ** 53 - 1 })').catch(({ code }) => console.log(code))",
  }))
    test(`is heard of ${what}, and keeps nothing from its end`, { timeout: 60_000 }, async () => {
      const { code, stdout } = await run(`
        process.on('uncaughtException', ({ message }) => console.log(message));
        const { contextOf } = await import(${JSON.stringify(new URL('../src/host/page-host.cjs', import.meta.url))});
        const page = await host.open('about:blank');
        page.on('crash', () => { throw new Error('of the listener'); });
        ${wait};
        await sleep(500);
        await host.close();
        console.log(contextOf(host).pages().length);`);
      assert.equal(code, 0);
      const [pages, reason, listener] = stdout.trim().split('\n').sort();
      assert.match(reason, /^(TimeoutError|ERR_WORKER_OUT_OF_MEMORY)$/);
      assert.deepEqual([pages, listener], ['0', 'of the listener']);
    });
});
