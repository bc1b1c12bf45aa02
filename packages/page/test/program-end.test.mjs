// What keeps a program alive: what its user waits for, and nothing that a page does.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
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
  '/never': () => new Promise(() => {}),
  '/slow': () => new Promise((resolve) => setTimeout(() => resolve('slow'), 500)),
  '/w.js': () => new Promise((resolve) => setTimeout(() => resolve(''), 300)),
});

suite('a program whose work is done ends, though a page', () => {
  const frame = (attribute) =>
    `const frame = document.createElement('iframe'); frame.${attribute}; document.body.append(frame); setTimeout(() => frame.remove(), 1000);`;
  for (const [what, script] of Object.entries({
    'sends requests that outlive it': "fetch('/never', { keepalive: true }).catch(() => {})",
    'sends beacons': "navigator.sendBeacon('/slow', 'x')",
    'starts and ends workers': "const worker = new Worker('/w.js'); setTimeout(() => worker.terminate(), 900)",
    'shows frames that load for ever': frame("src = '/never'"),
    'shows and removes frames in threads of their own': frame("sandbox = 'allow-scripts'"),
    'navigates to a server that does not answer': "location.href = '/never'",
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

test('a program whose work is done ends, though there is always a connection over TLS to be read', {
  timeout: 60_000,
}, async () => {
  const { code, stdout } = await runProgram(
    `import { EventEmitter } from 'node:events';
    import fs from 'node:fs';
    import { createRequire } from 'node:module';
    const { readInTurns } = createRequire(${JSON.stringify(import.meta.url)})('../src/fetch/tls-reading.cjs');
    let turns = 0;
    const handle = {
      // Never empty.
      fd: fs.openSync('/dev/zero'),
      reading: true,
      readStart: () => { turns++; },
      readStop: () => 0,
      _parent: { get bytesRead() { return turns; } },
    };
    const socket = Object.assign(new EventEmitter(), { connecting: false, _handle: handle });
    readInTurns(socket, new EventEmitter(), {});
    setTimeout(() => {}, 200);
    process.on('exit', () => console.log(turns > 100));`,
    { timeout: 30_000 },
  );
  assert.deepEqual([code, stdout], [0, 'true\n']);
});

test('a program whose work is done ends, though the documents of frames are decoded without end', {
  timeout: 60_000,
}, async (t) => {
  // Blocks that are empty.
  const blocks = Buffer.from('000000ffff'.repeat(100_000), 'hex');
  const server = http.createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' });
    response.write(Buffer.from('1f8b0800000000000003', 'hex'));
    const send = () => {
      while (response.write(blocks) && !response.destroyed);
    };
    response.on('drain', send);
    send();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${server.address().port}`;
  const { code, stdout } = await run(`
    const page = await new PageHost({ jsdom, bodyLimit: Infinity }).open('about:blank');
    await page.evaluate((url) => {
      for (let at = 0; at < 8; at++) document.body.append(Object.assign(document.createElement('iframe'), { src: url + '/' + at }));
    }, ${JSON.stringify(url)});
    await sleep(1_500);
    process.on('exit', () => console.log('exit'));`);
  assert.deepEqual([code, stdout], [0, 'exit\n']);
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
        const page = await host.open('about:blank');
        page.on('crash', () => { throw new Error('of the listener'); });
        ${wait};
        await sleep(500);
        await host.close();
        console.log(host.pages.length);`);
      assert.equal(code, 0);
      const [pages, reason, listener] = stdout.trim().split('\n').sort();
      assert.match(reason, /^(TimeoutError|ERR_WORKER_OUT_OF_MEMORY)$/);
      assert.deepEqual([pages, listener], ['0', 'of the listener']);
    });
});
