// What keeps a program alive: what its user waits for, and nothing that a page does.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { runProgram } from './programs.mjs';
import { serve } from './server.mjs';

/** Runs a program with a host, which is killed when it has not ended in time. */
const run = (program) =>
  runProgram(
    `const host = new PageHost({ jsdom });
    ${program}`,
    { timeout: 30_000 },
  );

/** Routes of which the first one has a page that does something again and again. */
const routes = (script) => ({
  '/': `<body><script>let n = 0; setInterval(() => { n++; ${script} }, 200)</script>`,
  '/never': () => new Promise(() => {}),
  '/slow': () => new Promise((resolve) => setTimeout(() => resolve('slow'), 500)),
  '/w.js': () => new Promise((resolve) => setTimeout(() => resolve(''), 300)),
});

test('a program whose work is done ends, whatever its pages do', { timeout: 60_000 }, async (t) => {
  const frame = (attribute) =>
    `const frame = document.createElement('iframe'); frame.${attribute}; document.body.append(frame); setTimeout(() => frame.remove(), 1000);`;
  const server = await serve(
    t,
    routes(`
      console.log('turn ' + n);
      fetch('/never', { keepalive: true }).catch(() => {});
      navigator.sendBeacon('/slow', 'x');
      { const worker = new Worker('/w.js'); setTimeout(() => worker.terminate(), 900); }
      { ${frame("src = '/never'")} }
      { ${frame("sandbox = 'allow-scripts'")} }
      if (n === 2) {
        const worker = new Worker('data:text/javascript,Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)');
        setTimeout(() => worker.terminate(), 500);
      }
      if (n === 4) location.href = '/never';`),
  );
  const { code, stdout } = await run(`
    const page = await host.open(${JSON.stringify(server.url('/'))});
    const work = setInterval(() => {}, 1_000);
    await new Promise((resolve) => page.on('console', ({ text }) => text === 'turn 6' && resolve()));
    clearInterval(work);
    process.on('exit', () => console.log('exit'));`);
  assert.deepEqual([code, stdout], [0, 'exit\n']);
});

test('a program ends when it says so, though its pages are in loops', { timeout: 60_000 }, async () => {
  const { code, stdout } = await run(`
    const loops = ['new Error().stack', 'Promise.reject(1)', 'import("/never").catch(() => {})', 'structuredClone({ a: [1] })'];
    const looping = loops.map(async (loop) => {
      const page = await host.open('about:blank');
      await page.evaluateIn({ timeout: 1_000 }, 'for (;;) ' + loop).catch(({ name }) => console.log(name));
    });
    await Promise.all(looping);
    setInterval(() => {}, 1_000);
    const again = await host.open('about:blank');
    again.on('console', () => process.exit(3));
    await again.evaluate('setTimeout(() => { console.log("loop"); for (;;) new Error().stack }); 0');`);
  assert.deepEqual([code, stdout], [3, 'TimeoutError\n'.repeat(4)]);
});

test('a program waits for the promises of its pages', { timeout: 60_000 }, async (t) => {
  const server = await serve(t, routes(''));
  const { code, stdout } = await run(`
    const slow = ${JSON.stringify(server.url('/slow'))};
    let page = await host.open(slow, { timeout: Infinity });
    console.log('a page is loaded');
    await page.evaluateIn({ timeout: Infinity }, 'new Promise((resolve) => setTimeout(resolve, 300))');
    console.log('a script has run');
    await page.navigate(slow, { waitUntil: 'idle', profile: {} });
    console.log('another document is loaded');
    await page.forceSample();
    await page.takeProfile();
    await page.setVisible(false);
    await page.setVisible(true);
    console.log('it is shown');
    page.on('close', () => console.log('the page is closed'));
    page.close();
    await page.close();
    page = await host.open(slow);
    page.on('close', () => console.log('another one is closed'));
    page.close();
    await host.close();
    console.log('the host is closed');
    await (await host.open(slow)).navigate(slow);
    await host.close();
    console.log('it is closed again');`);
  assert.equal(code, 0);
  assert.deepEqual(stdout.trim().split('\n'), [
    'a page is loaded',
    'a script has run',
    'another document is loaded',
    'it is shown',
    'the page is closed',
    'another one is closed',
    'the host is closed',
    'it is closed again',
  ]);
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

test('a listener of the user that throws is heard of, and keeps nothing from its end', {
  timeout: 60_000,
}, async () => {
  const { code, stdout } = await run(`
    let heard;
    const thrown = new Promise((resolve) => { heard = resolve; });
    process.on('uncaughtException', ({ message }) => { console.log(message); heard(); });
    const page = await host.open('about:blank');
    const crashed = page.waitForEvent('crash');
    page.on('crash', () => { throw new Error('of the listener'); });
    await page.evaluateIn({ timeout: 500 }, 'for (;;);').catch(({ name }) => console.log(name));
    await Promise.all([crashed, thrown]);
    await host.close();
    console.log(host.pages.length);`);
  assert.equal(code, 0);
  assert.deepEqual(stdout.trim().split('\n').sort(), ['0', 'TimeoutError', 'of the listener']);
});
