// Functions of V8 that it does not interrupt, and those where it gives up on a thread.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { suite, test } from 'node:test';
import { promisify } from 'node:util';
import { runProgram } from './programs.mjs';
import { jsdom, serve } from './server.mjs';

suite('a built-in function that V8 does not interrupt', () => {
  test('does not let a page have more threads than its limit, by ending them', { timeout: 180_000 }, async () => {
    const program = `
      import fs from 'node:fs';
      import { PageHost } from ${JSON.stringify(new URL('../index.mjs', import.meta.url))};
      const pages = new PageHost({ jsdom: ${JSON.stringify(jsdom)}, threadLimit: 2 });
      const page = await pages.open('about:blank');
      const count = () => fs.readdirSync('/proc/self/task').length;
      const before = count();
      await page.evaluate(async () => {
        const source = 'postMessage(1); Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)';
        for (let round = 0; round < 6; round++) {
          const worker = new Worker('data:text/javascript,' + encodeURIComponent(source));
          await new Promise((resolve) => { worker.onmessage = worker.onerror = resolve; });
          // Until it is in the built-in function.
          await new Promise((resolve) => setTimeout(resolve, 50));
          worker.terminate();
        }
      });
      console.log(count() - before);
      process.kill(process.pid, 'SIGKILL');`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]).catch(
      (error) => error,
    );
    assert.ok(Number(stdout) >= 1 && Number(stdout) <= 3, stdout);
  });

  test('does not let a page have more threads than its limit, by navigating', { timeout: 300_000 }, async (t) => {
    const script = `location.href = '/' + Math.random();
      setTimeout(() => Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1), 50)`;
    const server = await serve(t, { '*': `<body><script>setTimeout(() => { ${script} }, 20)</script>` });
    const program = `
      import fs from 'node:fs';
      import { PageHost } from ${JSON.stringify(new URL('../index.mjs', import.meta.url))};
      const pages = new PageHost({ jsdom: ${JSON.stringify(jsdom)}, threadLimit: 1, timeout: 60_000 });
      const page = await pages.open('about:blank');
      const count = () => fs.readdirSync('/proc/self/task').length;
      const before = count();
      setInterval(() => {}, 1_000);
      page.on('problem', ({ kind, text }) => {
        console.log(kind, text);
        console.log(count() - before);
        process.kill(process.pid, 'SIGKILL');
      });
      await page.navigate(${JSON.stringify(server.url('/'))}, { waitUntil: 'commit' });`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]).catch(
      (error) => error,
    );
    const [problem, threads] = stdout.split('\n');
    assert.equal(problem, 'navigation too many threads of the page have not ended yet');
    assert.ok(Number(threads) <= 2, stdout);
    assert.ok(server.requests.length <= 4, `${server.requests.length} documents`);
  });

  test('does not keep its timeout from being reported, nor other pages from going on', {
    timeout: 60_000,
  }, async () => {
    const program = `
      import { PageHost } from ${JSON.stringify(new URL('../index.mjs', import.meta.url))};
      const pages = new PageHost({ jsdom: ${JSON.stringify(jsdom)} });
      const [page, other] = [await pages.open('about:blank'), await pages.open('about:blank')];
      await page.evaluateIn({ timeout: 500 }, 'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)').catch(({ name }) => console.log(name));
      console.log(await other.evaluate('1 + 1'));
      await pages.close();
      console.log('closed');
      console.log('end');`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]).catch(
      (error) => error,
    );
    assert.equal(stdout, 'TimeoutError\n2\nclosed\nend\n');
  });
});

suite('a built-in function that V8 does not survive', () => {
  /** A function that reads a variable of scopes far outside, and is called until V8 optimizes it. */
  const hotInScopes = (depth) => `
    let made = new Function('return function (text) { let outer = 1; return eval(text); }')();
    const scopes = '(function () { eval(""); return '.repeat(500) + '(function (text) { return eval(text); })' + '; })()'.repeat(500);
    for (let count = 0; count < ${depth / 500}; count++) made = made(scopes);
    const hot = made('(function (n) { let sum = 0; for (let i = 0; i < n; i++) {' + 'sum += outer;'.repeat(8) + '} return sum; })');
    for (let count = 0; count < 400; count++) hot(200);`;
  /** Scripts for which V8 gives up, whatever memory there is. It takes the first one for a lack of memory. The last ones fill the stack. */
  const ENDERS = {
    'a list that is too long': 'Array.prototype.sort.call({ length: 2 ** 53 - 1 })',
    'regular expressions where the stack is full': `
      let count = 0;
      (function fill() {
        try { fill(); } catch {}
        count += 1;
        if (count < 400) try { new RegExp('a' + count + '(b|c)*[d-f]\\\\w+').test('abcccde'); } catch {}
      })();`,
    'a regular expression that is nested deeply':
      "try { new RegExp('(?='.repeat(5e4) + 'a' + ')'.repeat(5e4)).test('a') } catch {}",
    'a table that is too large': "'x'.repeat(2 ** 28).split('')",
    // The optimizing compiler makes a graph of more nodes than it can count.
    'a function in many scopes that is hot': hotInScopes(4_000),
    // The stack of an error says who has evaluated the code of whom.
    'code that code has evaluated that code has evaluated': `
      let made = new Function('text', 'return new Function("text", text)');
      for (let count = 0; count < 3e5; count++) made = made('return new Function("text", text) //' + count);
      made('return new Error().stack')('');`,
    'scopes in scopes': `
      let made = (text) => eval(text);
      for (let count = 0; count < 60; count++) made = made('with({})'.repeat(24_000) + '(function (text) { return eval(text); })');`,
  };

  /** The code of the error, where it does not depend on the version of V8. */
  const CODES = {
    'a list that is too long': 'ERR_WORKER_OUT_OF_MEMORY',
    'a table that is too large': 'ERR_PAGE_V8_FAILED',
    'scopes in scopes': 'ERR_PAGE_STACK_FULL',
  };

  /** Runs a program with a host, and a page that is ended meanwhile. */
  const run = (program) =>
    runProgram(`
      const host = new PageHost({ jsdom, memoryLimit: 1_024, timeout: 60_000 });
      const end = async (script) => {
        const page = await host.open('about:blank');
        await page.evaluate(script).catch(({ code }) => console.log(code));
        await page.close();
      };
      ${program}`);

  for (const [name, script] of Object.entries(ENDERS)) {
    test(`ends its page, and nothing else: ${name}`, { timeout: 300_000 }, async () => {
      const { code, stdout } = await run(`
        const other = await host.open('about:blank');
        await end(${JSON.stringify(script)});
        console.log(await other.evaluate('1 + 1'));
        await host.close();
        setTimeout(() => process.on('exit', () => console.log('exit')), 10);
        process.exitCode = 3;`);
      // Newer V8s throw errors for such expressions.
      const mayThrow = name.includes('regular') && parseInt(process.versions.node, 10) >= 24;
      const ended = `${CODES[name] ?? 'ERR_\\w+'}\n`;
      assert.match(stdout, new RegExp(`^${mayThrow || name.includes('nested') ? `(${ended})?` : ended}2\nexit\n$`));
      assert.equal(code, 3);
    });
  }

  test('ends its page when its compiler takes too much memory', { timeout: 300_000 }, async () => {
    const { code, stdout } = await run(`
      const small = new PageHost({ jsdom, memoryLimit: 64, timeout: 60_000 });
      const page = await small.open('about:blank');
      await page.evaluate(${JSON.stringify(hotInScopes(1_500))}).catch(({ code }) => console.log(code));
      console.log(process.resourceUsage().maxRSS < 2.5 * 2 ** 20);
      await small.close();
      await host.close();`);
    // Without a limit, it takes more than 8 GB.
    assert.equal(stdout, 'ERR_WORKER_OUT_OF_MEMORY\ntrue\n');
    assert.equal(code, 0);
  });

  test('ends a worker and a frame of another origin alone', { timeout: 180_000 }, async (t) => {
    const script = encodeURIComponent(`postMessage(1); ${ENDERS['a list that is too long']}`);
    const other = await serve(t, {
      '/': `<script>setTimeout(() => { ${ENDERS['a list that is too long']} }, 100)</script>`,
    });
    const page = await serve(t, { '/': `<iframe src="${other.url('/')}"></iframe>` });
    const { code, stdout } = await run(`
      const page = await host.open(${JSON.stringify(page.url('/'))});
      console.log(await page.evaluate(() => new Promise((resolve) => {
        new Worker('data:text/javascript,${script}').onerror = (event) => { event.preventDefault(); resolve(event.type); };
      })));
      while (page.frames().length > 1) await new Promise((resolve) => setTimeout(resolve, 20));
      console.log(await page.evaluate('1 + 1'));
      await host.close();`);
    assert.equal(stdout, 'error\n2\n');
    assert.equal(code, 0);
  });

  test('leaves the end of a program alone while a profiler runs in it', { timeout: 180_000 }, async (t) => {
    const profiling = await serve(t, { '/': { body: '', headers: { 'document-policy': 'js-profiling' } } });
    const script = JSON.stringify(
      `globalThis.profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1e6 }); ${ENDERS['a list that is too long']}`,
    );
    for (const ending of ['', 'process.exit(3)', "process.on('exit', () => { process.exitCode = 4; })"]) {
      const { code, signal } = await run(`
        for (let count = 0; count < 3; count++) {
          const page = await host.open(${JSON.stringify(profiling.url('/'))}, { profile: true });
          await page.evaluate(${script}).catch(() => {});
          await page.close();
        }
        ${ending}`);
      assert.deepEqual([signal ?? null, code], [null, Number(/\d/.exec(ending) ?? 0)]);
    }
  });

  test('does not keep a program from ending, when it does that', { timeout: 300_000 }, async () => {
    // V8 is busy for a while, and gives up then.
    const busy = 'Array.prototype.toSpliced.call({ length: 2 ** 32 - 1 }, 0, 0)';
    for (const [script, ending] of [
      [busy, 'await host.close();'],
      [busy, ''],
      // Without an end.
      ['Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)', 'await host.close();'],
      ['Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)', 'await host.close(); process.exit(3);'],
    ]) {
      const { code, signal, stdout } = await run(`
        const page = await host.open('about:blank');
        await page.evaluateIn({ timeout: 500 }, ${JSON.stringify(script)}).catch(({ name }) => console.log(name));
        ${ending}
        process.on('exit', () => console.log('exit'));`);
      assert.deepEqual([signal ?? null, code], [null, ending.includes('exit') ? 3 : 0], script);
      assert.match(stdout, /^TimeoutError\n/);
    }
  });

  const script = JSON.stringify(ENDERS['a list that is too long']);
  const fail = "setTimeout(() => { throw new Error('of the program') });";
  const throws = "throw new Error('of the listener')";
  for (const [name, listener, ending, expected] of [
    ['exits', 'process.exit(7)', '', 7],
    ['exits again', 'process.exit(7)', 'process.exit(3);', 7],
    ['exits after an error', 'process.exit(7)', fail, 7],
    ['sets the code after an error', 'process.exitCode = 7', fail, 7],
    ['throws', throws, '', 1],
    ['throws at an exit', throws, 'process.exit(3);', 3],
    ['throws what is handled', throws, "process.on('uncaughtException', () => {});", 0],
    ['throws what is captured', throws, 'process.setUncaughtExceptionCaptureCallback(() => {});', 0],
    ['waits', 'return Promise.resolve().then(() => { process.exitCode = 9; })', '', 9],
    ['rejects', "return Promise.reject(new Error('of the listener'))", '', 1],
    ['emits the event', "process.off('exit', listener); process.emit('exit', 3); process.exitCode = 4", '', 4],
    ['is the only one', 'process.exitCode = 7', "process.removeAllListeners('beforeExit');", 7],
  ])
    test(`leaves the end of a program as it is whose listener ${name}`, { timeout: 180_000 }, async () => {
      const { code, signal, stderr } = await run(
        `await end(${script}); process.on('exit', function listener() { ${listener} }); ${ending}`,
      );
      assert.deepEqual([signal ?? null, code], [null, expected]);
      if (expected === 1 || expected === 3) assert.match(stderr, /Error: of the listener/);
    });

  test('lets a program go on that has caught what a listener has thrown in process.exit()', {
    timeout: 60_000,
  }, async () => {
    const { code, stdout } = await run(`
      await end(${script});
      process.once('exit', () => { throw new Error('of the listener'); });
      process.on('exit', () => console.log('exit'));
      try { process.exit(3); } catch { setTimeout(() => console.log('later'), 10); }`);
    assert.equal(stdout, 'ERR_WORKER_OUT_OF_MEMORY\nlater\nexit\n');
    assert.equal(code, 3);
  });

  for (const ending of [
    '',
    'process.exit(3);',
    "process.on('exit', () => process.exit(3));",
    "throw new Error('of the program');",
  ])
    test(`does not keep a program from ending that has not noticed it: ${ending}`, { timeout: 180_000 }, async () => {
      const { code, signal } = await run(`
        const page = await host.open('about:blank');
        await page.evaluate('setTimeout(() => Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1), 10)');
        await new Promise((resolve) => setTimeout(resolve, 200));
        ${ending}`);
      const expected = ending.includes('exit') ? 3 : ending.includes('throw') ? 1 : 0;
      assert.deepEqual([signal ?? null, code], [null, expected]);
    });

  test('leaves the ways in which a program ends as they are', { timeout: 180_000 }, async () => {
    const exited = await run(`await end(${script}); process.exit(5);`);
    assert.equal(exited.code, 5);
    const thrown = await run(`await end(${script}); ${fail}`);
    assert.equal(thrown.code, 1);
    assert.match(thrown.stderr, /Error: of the program/);
    const busy = 'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)';
    const afterTimeout = await run(`
      const page = await host.open('about:blank', { profile: true });
      await page.evaluateIn({ timeout: 500 }, ${JSON.stringify(busy)}).catch(() => {});
      await end(${script});
      ${fail}`);
    assert.deepEqual([afterTimeout.signal ?? null, afterTimeout.code], [null, 1]);
    assert.match(afterTimeout.stderr, /Error: of the program/);
    // The page is closed when its thread has been lost and that was not noticed.
    const unnoticed = await run(`
      const page = await host.open('about:blank');
      page.evaluate(${script}).catch(() => {});
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
      await page.close();
      console.log('closed');`);
    assert.equal(unnoticed.stdout, 'closed\n');
    assert.equal(unnoticed.code, 0);
  });

  test('is no more often than its page may have threads', { timeout: 300_000 }, async () => {
    const { stdout } = await run(`
      const few = new PageHost({ jsdom, threadLimit: 2 });
      const page = await few.open('about:blank');
      page.on('problem', ({ text }) => console.log(text));
      console.log(await page.evaluate(async () => {
        let lost = 0;
        for (let round = 0; round < 6; round++) {
          const worker = new Worker('data:text/javascript,postMessage(1); Array.prototype.sort.call({ length: 2 ** 53 - 1 })');
          await new Promise((resolve) => {
            worker.onmessage = () => { lost += 1; };
            worker.onerror = (event) => { event.preventDefault(); resolve(); };
          });
        }
        return lost;
      }));
      await few.close();`);
    // With the page itself, twice as many as its limit.
    assert.match(stdout, /^3\n$/m);
  });
});
