// The preload of `selfprof run`: journals, and a program that does not notice.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { suite, test } from 'node:test';

import { PACKAGE, runNode } from './program.mjs';
import { PRELOAD, record } from './recorded.mjs';

const EXIT = { reason: 'exit', full: false };

/**
 * For programs: works until the journal of the main thread holds so many samples or entries, then ends without exit
 * hooks.
 */
const workUntilWritten = (kind, count) => `
  const fs = require('node:fs');
  const journal = () => fs.readdirSync(__dirname + '/journals').find((name) => name.endsWith('.main.journal'));
  const countWritten = () =>
    fs
      .readFileSync(__dirname + '/journals/' + journal(), 'utf8')
      .split('\\n')
      // After the header, and before what may be half a record.
      .slice(1, -1)
      .reduce((sum, line) => sum + (JSON.parse(line).${kind}?.length ?? 0), 0);
  const clock = new Int32Array(new SharedArrayBuffer(4));
  // The thread sleeps most of the time, but gives no turn to its event loop.
  do {
    spin(10);
    Atomics.wait(clock, 0, 0, 40);
  } while (countWritten() < ${count});
  fs.writeSync(1, 'written');
  // Node's own process.kill() would run the exit hooks first.
  require('node:child_process').execFileSync('kill', ['-KILL', String(process.pid)]);
`;

suite('source maps', () => {
  const compile = `
    const Module = require('node:module');
    const compile = (name, url, code = 'spin(80);') =>
      new Module(name)._compile('(function work() {' + code + '})();\\n//# sourceMappingURL=' + url, '/virtual/' + name);
    globalThis.spin = spin;
  `;
  const data = (text) => `data:application/json;base64,${Buffer.from(text).toString('base64')}`;

  test('of scripts in samples are recorded, each once', async (t) => {
    const url = data('{"a":1}');
    const program = `${compile}
      compile('a.ts', '${url}');
      compile('a.ts', '${url}');
      compile('b.ts', 'b.js.map');
      compile('ü.ts', 'ü→.map');
      compile('unsampled.ts', '${url}', '');
      new Function('spin(80);\\n//# sourceURL=/virtual/evaluated.ts\\n//# sourceMappingURL=${url}')();
    `;
    const { code, stderr, journals } = await record(t, program);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const { sourceMaps, leftOut } = journals.main;
    assert.deepEqual(
      new Map(sourceMaps),
      new Map([
        ['/virtual/a.ts', url],
        ['/virtual/b.ts', 'b.js.map'],
        ['/virtual/ü.ts', 'ü→.map'],
        ['/virtual/evaluated.ts', url],
      ]),
    );
    assert.deepEqual([sourceMaps.length, leftOut], [4, 0]);
  });

  test('of modules and of workers are recorded', async (t) => {
    const url = data('{"b":2}');
    const { code, journals } = await record(
      t,
      `import { Worker } from 'node:worker_threads';
      const code = 'for (const end = Date.now() + 80; Date.now() < end; ) ;\\n//# sourceMappingURL=${url}';
      const base64 = 'data:text/javascript;base64,' + Buffer.from(code).toString('base64');
      await import(base64);
      await new Promise((ended) => new Worker(new URL(base64)).once('exit', ended));`,
      { file: 'main.mjs' },
    );
    assert.equal(code, 0);
    for (const journal of ['main', 'worker-1'])
      assert.deepEqual(
        journals[journal].sourceMaps.map(([, map]) => map),
        [url],
      );
  });

  test('that are long are copied while the program runs', async (t) => {
    const program = `${compile}
      compile('long.ts', 'data:' + 'x'.repeat(3_000_000), 'spin(20);');
      compile('wide.ts', 'data:' + '→'.repeat(1_000_000), 'spin(20);');
      ${workUntilWritten('sourceMaps', 2)}
    `;
    const { signal, journals } = await record(t, program);
    assert.equal(signal, 'SIGKILL');
    const { sourceMaps } = journals.main;
    assert.deepEqual(sourceMaps.map(([script, url]) => [script, url.length, new Set(url.slice(5)).size]).sort(), [
      ['/virtual/long.ts', 3_000_005, 1],
      ['/virtual/wide.ts', 1_000_005, 1],
    ]);
  });

  test('that are too long are counted', async (t) => {
    const program = `${compile} compile('a.ts', 'data:' + 'x'.repeat(2 ** 24));`;
    const { code, journals } = await record(t, program);
    assert.deepEqual([code, journals.main.sourceMaps, journals.main.leftOut], [0, [], 1]);
  });
});

suite('the journal', () => {
  test('has a header, samples and an end', async (t) => {
    const { code, stderr, script, journals } = await record(t, 'function work() { spin(150); } work();');
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.deepEqual(Object.keys(journals), ['main']);
    const { header, names, resources, samples, end } = journals.main;
    const { pid, timeOrigin, origin, ...rest } = header;
    assert.deepEqual(rest, {
      selfprofJournal: 6,
      threadId: 0,
      interval: 1000,
      mode: 'eager',
      node: process.version,
      entries: false,
      threadName: 'main-thread',
      command: `node ${script}`,
    });
    // The monotonic clock of the system.
    const started = Number(process.hrtime.bigint() / 1000n) - origin;
    assert.ok(started > 0 && started < 120e6, String(started));
    assert.ok(Number.isInteger(pid) && pid > 0 && pid !== process.pid);
    assert.ok(Math.abs(timeOrigin - Date.now()) < 120_000);
    assert.ok(names.includes('work') && names.includes('spin'));
    assert.ok(resources.includes(script));
    assert.ok(!resources.some((resource) => resource.startsWith('node:') || resource === PRELOAD), String(resources));
    assert.ok(samples.length > 10);
    assert.deepEqual(end, EXIT);
  });

  test('says the interval and the mode that it really has', async (t) => {
    const { journals } = await record(t, 'spin(80);', { settings: { interval: 3.2, mode: 'lazy' } });
    assert.equal(journals.main.header.interval, 4000);
    assert.equal(journals.main.header.mode, 'lazy');
    const wins = await record(t, 'spin(80);', { env: { SELFPROF_PROFILING_MODE: 'lazy' } });
    assert.equal(wins.journals.main.header.mode, 'lazy');
  });

  test('tells the scripts of eval and of new Function apart', async (t) => {
    const program = `globalThis.spin = spin;
      // V8 may reuse the script of an equal text.
      const made = [new Function('spin(60)'), new Function('spin(61)'), (0, eval)('() => spin(60)')];
      for (const work of made) work();`;
    const { code, journals } = await record(t, program);
    assert.equal(code, 0);
    const evaluated = journals.main.resources.filter((resource) => resource.startsWith('('));
    assert.equal(evaluated.length, 3, String(evaluated));
    for (const resource of evaluated) assert.match(resource, /^\(eval [1-9]\d*\)$/);
  });

  test('ends at its limit and says so', async (t) => {
    const { code, journals } = await record(t, 'spin(150); setTimeout(() => {}, 100);', { settings: { limit: 20 } });
    assert.equal(code, 0);
    assert.equal(journals.main.samples.length, 20);
    assert.deepEqual(journals.main.end, { reason: 'exit', full: true });
  });

  test("shows Node's frames when requested", async (t) => {
    const source = `for (const end = performance.now() + 150; performance.now() < end; ) require('node:fs').readdirSync('/proc/self');`;
    const { journals } = await record(t, source, { settings: { nodeFrames: 'full' } });
    assert.ok(journals.main.resources.includes('node:fs'));
  });

  test('grows while the program runs', async (t) => {
    const { journals, signal, stdout } = await record(t, workUntilWritten('samples', 101));
    assert.deepEqual([stdout, signal], ['written', 'SIGKILL']);
    assert.equal(journals.main.end, null);
    assert.ok(journals.main.samples.length > 100);
    assert.ok(journals.main.names.includes('spin'));
  });

  test('goes along with profilers of the program', async (t) => {
    const { stdout, stderr, journals } = await record(
      t,
      `
      const { Profiler } = require(${JSON.stringify(PACKAGE)});
      const profiler = new Profiler({ sampleInterval: 2, maxBufferSize: 1000 });
      spin(60);
      profiler.stop().then(({ samples }) => { spin(60); console.log(samples.length > 1); });
    `,
    );
    assert.equal(stdout, 'true\n', stderr);
    assert.ok(journals.main.samples.length > 5);
    assert.deepEqual(journals.main.end, EXIT);
  });
});

suite('marks and measures', () => {
  const MAX = { settings: { maxEntries: 1000 } };
  const spell = ([type, name]) => `${type} ${name}`;

  test('are recorded only when requested', async (t) => {
    const source = `performance.mark('a'); spin(20); performance.measure('b', 'a');`;
    const { header, entries, dropped } = (await record(t, source, MAX)).journals.main;
    assert.equal(header.entries, true);
    assert.deepEqual([entries.map(spell), dropped], [['mark a', 'measure b'], 0]);
    const [[, , markTime, markDuration], [, , measureTime, measureDuration]] = entries;
    assert.equal(markDuration, 0);
    assert.equal(measureTime, markTime);
    assert.ok(measureDuration >= 20);
    const without = (await record(t, source)).journals.main;
    assert.deepEqual([without.header.entries, without.entries], [false, []]);
  });

  test('come out as they went in', async (t) => {
    const source = String.raw`
      performance.mark('', { startTime: 1.23456789 });
      performance.mark('"\\\n\0\u00fc\ud83d\ude00', { startTime: 1e300, detail: { any: 1 } });
      performance.mark('\ud83d', { startTime: 5e-324 });
      performance.measure('back', { start: 5, end: 2.5 });
      performance.measure('early', { duration: 50, end: 0.1 });
      performance.mark('never', { startTime: Infinity });
      performance.mark('never', { startTime: NaN });
    `;
    const { entries } = (await record(t, source, MAX)).journals.main;
    assert.deepEqual(entries, [
      ['mark', '', 1.23456789, 0],
      ['mark', '"\\\n\0\u00fc\ud83d\ude00', 1e300, 0],
      ['mark', '\ufffd', 5e-324, 0],
      ['measure', 'back', 5, -2.5],
      ['measure', 'early', 0.1 - 50, 50],
    ]);
  });

  test('that do not fit are counted', async (t) => {
    const source = `for (let i = 0; i < 5000; i++) performance.mark('m' + i, { startTime: i });`;
    for (const maxEntries of [0, 1, 3000]) {
      const { header, entries, dropped } = (await record(t, source, { settings: { maxEntries } })).journals.main;
      assert.ok(header.entries);
      assert.deepEqual(
        entries.map(([, name]) => name),
        Array.from({ length: maxEntries }, (_, i) => `m${i}`),
      );
      assert.equal(dropped, 5000 - maxEntries);
    }
  });

  test('leave the program as it would have been', async (t) => {
    const source = `
      performance.mark('a');
      const { PerformanceObserver, performance: built } = require('node:perf_hooks');
      const observer = new PerformanceObserver((list) => {
        console.log(list.getEntries().map(({ name }) => name).join());
      });
      observer.observe({ entryTypes: ['mark'] });
      performance.mark('b');
      performance.mark('c');
      console.log(JSON.stringify({
        same: built === performance,
        mark: [performance.mark.name, performance.mark.length, String(performance.mark)],
        entries: performance.getEntries().map(({ name }) => name),
        listeners: ['exit', 'beforeExit', 'SIGTERM'].map((event) => process.listenerCount(event)),
        symbols: Object.getOwnPropertySymbols(observer).length,
      }));
      try { performance.mark('x', { startTime: -1 }); } catch (error) { console.log(error.stack); }
      setTimeout(() => { observer.disconnect(); throw new Error('mine'); }, 20);
    `;
    const { stdout, stderr, code, script } = await record(t, source, MAX);
    const alone = await runNode([script]);
    assert.deepEqual({ stdout, stderr, code }, { stdout: alone.stdout, stderr: alone.stderr, code: alone.code });
    assert.match(stdout, /^b,c$/m);
  });

  const LATE = `performance.mark('late');`;
  for (const [what, source, signal] of [
    ['returns', ''],
    ['returns from a timer', `setTimeout(() => { ${LATE} }, 20);`],
    ['exits', `process.exit(7);`],
    ['throws', `throw new Error('mine');`],
    ['marks in its exit handler', `process.on('exit', () => { ${LATE} });`],
    ['sends itself a signal', `process.kill(process.pid, 'SIGTERM'); spin(5000);`],
    ['goes on after what looked like its end', `process.kill(process.pid, 'SIGWINCH'); spin(200); ${LATE}`],
    ['is ended by a signal', `require('node:fs').writeSync(1, 'ready'); spin(20_000);`, 'SIGTERM'],
  ]) {
    test(`are written when the program ${what}`, async (t) => {
      const { journals, stderr } = await record(
        t,
        `performance.mark('early'); spin(30); performance.measure('work', 'early'); ${source}`,
        {
          ...MAX,
          onStart: (child) => child.stdout.once('data', () => setTimeout(() => child.kill(signal), 50)),
        },
      );
      const { entries, end } = journals.main;
      const late = source.includes(LATE) ? ['mark late'] : [];
      assert.deepEqual(entries.map(spell), ['mark early', 'measure work', ...late], stderr);
      assert.notEqual(end, null);
    });
  }

  test('are written while the program runs', async (t) => {
    const source = `
      for (let i = 0; i < 3000; i++) performance.mark('m');
      ${workUntilWritten('entries', 3000)}
    `;
    const { journals, signal, stdout } = await record(t, source, { settings: { maxEntries: 10_000 } });
    assert.deepEqual([stdout, signal], ['written', 'SIGKILL']);
    assert.equal(journals.main.entries.filter(([, name]) => name === 'm').length, 3000);
  });

  test("are recorded from this package's performance too, though the program loads it later", async (t) => {
    const source = `
      const { performance: ours } = require(${JSON.stringify(PACKAGE)});
      performance.mark('a');
      ours.mark('b');
      ours.measure('c', 'b');
      spin(60);
      process.exit(3);
    `;
    const { entries } = (await record(t, source, MAX)).journals.main;
    assert.deepEqual(entries.map(spell), ['mark a', 'mark b', 'measure c']);
  });

  test('of workers are in the journals of workers', async (t) => {
    const source = `
      const { isMainThread, parentPort, Worker, workerData } = require('node:worker_threads');
      if (isMainThread) {
        performance.mark('main');
        new Worker(__filename, { workerData: 'returns' });
        const endless = new Worker(__filename, { workerData: 'endless' });
        endless.on('message', () => endless.terminate());
      } else {
        performance.mark(workerData);
        spin(50);
        parentPort.postMessage('busy');
        if (workerData === 'endless') for (;;);
      }
    `;
    const { journals } = await record(t, source, MAX);
    const names = Object.values(journals).map(({ entries }) => entries.map(([, name]) => name).join());
    assert.deepEqual(names.sort(), ['endless', 'main', 'returns']);
  });
});

suite('the program', () => {
  test('sees the process that it would have been', async (t) => {
    const source = `
      const { execFileSync } = require('node:child_process');
      const { Worker } = require('node:worker_threads');
      console.log(JSON.stringify({
        argv: process.argv.slice(2),
        execArgv: process.execArgv,
        env: Object.keys(process.env).filter((name) => name.startsWith('SELFPROF')),
        main: require.main === module,
        globals: typeof Profiler,
        title: process.title,
        child: execFileSync(process.execPath, ['-p', '[process.env.SELFPROF_RUN, process.execArgv.length].join()'], { encoding: 'utf8' }),
        listeners: ['exit', 'SIGTERM', 'SIGINT', 'uncaughtException'].map((event) => process.listenerCount(event)),
        handles: process.getActiveResourcesInfo(),
      }));
      new Worker("console.log(JSON.stringify([process.execArgv, process.env.SELFPROF_RUN]))", { eval: true });
    `;
    const args = ['--flag', '-r', 'value'];
    const { stdout, stderr, code, script } = await record(t, source, { args });
    const alone = await runNode([script, ...args]);
    assert.deepEqual({ stdout, stderr, code }, { stdout: alone.stdout, stderr: alone.stderr, code: alone.code });
    assert.match(stdout, /"main":true/);
  });

  test('keeps other options of the command line', async (t) => {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-'));
    t.after(() => fs.rmSync(directory, { recursive: true }));
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--expose-gc', '--require', PRELOAD, '--no-warnings', '-p', 'JSON.stringify(process.execArgv)'],
      {
        encoding: 'utf8',
        env: {
          ...process.env,
          SELFPROF_RUN: JSON.stringify({ dir: directory, interval: 1, limit: null, mode: 'eager', nodeFrames: 'fold' }),
        },
      },
    );
    assert.deepEqual(
      JSON.parse(stdout),
      ['--expose-gc', '--no-warnings', '-p', 'JSON.stringify(process.execArgv)'],
      stderr,
    );
  });

  for (const [what, file, source, expected] of [
    [
      'returns',
      'main.cjs',
      `console.log('out'); console.error('err'); spin(60);`,
      { code: 0, stdout: 'out\n', stderr: 'err\n' },
    ],
    ['is a module', 'main.mjs', `console.log('out'); spin(60);`, { code: 0, stdout: 'out\n', stderr: '' }],
    [
      'awaits at its top',
      'main.mjs',
      `await new Promise((resolve) => setTimeout(resolve, 20)); spin(60);`,
      { code: 0, stdout: '', stderr: '' },
    ],
    ['sets its exit code', 'main.cjs', `process.exitCode = 9; spin(60);`, { code: 9, stdout: '', stderr: '' }],
    ['exits', 'main.cjs', `spin(60); process.exit(7);`, { code: 7, stdout: '', stderr: '' }],
    [
      'exits in a timer',
      'main.cjs',
      `spin(60); setTimeout(() => process.exit(7), 30);`,
      { code: 7, stdout: '', stderr: '' },
    ],
    [
      'exits in its exit handler',
      'main.cjs',
      `process.on('exit', () => { spin(60); process.exit(8); });`,
      { code: 8, stdout: '', stderr: '' },
    ],
    [
      'never resolves its top-level await',
      'main.mjs',
      `spin(60); await new Promise(() => {});`,
      { code: 13, stdout: '', stderr: null },
    ],
    ['throws', 'main.cjs', `spin(60); throw new Error('mine');`, { code: 1, stdout: '', stderr: /Error: mine/ }],
    [
      'throws in a timer',
      'main.cjs',
      `setTimeout(() => { spin(60); throw new Error('mine'); }, 10);`,
      { code: 1, stdout: '', stderr: /Error: mine/ },
    ],
    ['rejects', 'main.mjs', `spin(60); throw new Error('mine');`, { code: 1, stdout: '', stderr: /Error: mine/ }],
  ]) {
    test(`${what}, and the journal has its end`, async (t) => {
      const { code, signal, stdout, stderr, journals } = await record(t, source, { file });
      assert.deepEqual(
        { code, signal, stdout },
        { code: expected.code, signal: null, stdout: expected.stdout },
        stderr,
      );
      if (typeof expected.stderr === 'string') assert.equal(stderr, expected.stderr);
      else if (expected.stderr) assert.match(stderr, expected.stderr);
      assert.ok(journals.main.names.includes('spin'));
      assert.deepEqual(journals.main.end, EXIT);
    });
  }

  test('does not start when it is not recorded by anybody', async () => {
    const { code, stderr } = await runNode(['--require', PRELOAD, '-e', '0']);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  });
});

suite('a signal', () => {
  /** Sends `signal` when the program says that it is ready. */
  const whenReady = (signal) => (child) => child.stdout.once('data', () => setTimeout(() => child.kill(signal), 100));
  const READY = `require('node:fs').writeSync(1, 'ready\\n');`;
  const LOADS = {
    busy: `spin(80); ${READY} spin(20_000);`,
    idle: `spin(80); ${READY} setTimeout(() => {}, 20_000);`,
    'blocked in native code': `spin(80); ${READY} Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20_000);`,
  };

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
    for (const load of ['busy', 'idle']) {
      test(`${signal} ends a program that is ${load}, and its journal`, async (t) => {
        const ended = await record(t, LOADS[load], { onStart: whenReady(signal) });
        assert.deepEqual(
          { code: ended.code, signal: ended.signal, stderr: ended.stderr },
          { code: null, signal, stderr: '' },
        );
        assert.ok(ended.journals.main.names.includes('spin'));
        assert.deepEqual(ended.journals.main.end, { reason: 'signal', full: false });
      });
    }
  }

  test('SIGTERM ends a program that is blocked in native code', async (t) => {
    const ended = await record(t, LOADS['blocked in native code'], { onStart: whenReady('SIGTERM') });
    assert.deepEqual({ code: ended.code, signal: ended.signal }, { code: null, signal: 'SIGTERM' });
  });

  // Node takes a signal that a program sends itself for its end, whatever the signal.
  test('that the program sends itself, and that does not end it, does not end its journal', async (t) => {
    const ended = await record(
      t,
      `spin(60); process.kill(process.pid, 'SIGWINCH'); (function later() { spin(400); })();`,
    );
    assert.deepEqual(
      { code: ended.code, signal: ended.signal, stderr: ended.stderr },
      { code: 0, signal: null, stderr: '' },
    );
    assert.ok(ended.journals.main.names.includes('later'));
    assert.deepEqual(ended.journals.main.end, { reason: 'exit', full: false });
  });

  test('that the program sends itself ends it, and its journal', async (t) => {
    const ended = await record(t, `spin(60); process.kill(process.pid, 'SIGTERM');`);
    assert.deepEqual({ code: ended.code, signal: ended.signal }, { code: null, signal: 'SIGTERM' });
    assert.ok(ended.journals.main.end !== null);
  });

  test('SIGKILL leaves whole lines', async (t) => {
    const ended = await record(t, LOADS.busy, { onStart: whenReady('SIGKILL') });
    assert.equal(ended.signal, 'SIGKILL');
    assert.equal(ended.journals.main.end, null);
  });

  test("that the program handles is the program's own", async (t) => {
    const ended = await record(
      t,
      `process.on('SIGTERM', () => { spin(60); console.log('handled'); process.exit(5); }); ${READY} setTimeout(() => {}, 20_000);`,
      { onStart: whenReady('SIGTERM') },
    );
    assert.deepEqual({ code: ended.code, stdout: ended.stdout }, { code: 5, stdout: 'ready\nhandled\n' });
    assert.deepEqual(ended.journals.main.end, EXIT);
  });

  test('ends the journals of workers too', async (t) => {
    const ended = await record(
      t,
      `
      const { isMainThread, parentPort, Worker } = require('node:worker_threads');
      if (isMainThread) {
        new Worker(__filename).once('message', () => { ${READY} });
        setTimeout(() => {}, 20_000);
      } else {
        spin(80);
        parentPort.postMessage('ready');
        spin(20_000);
      }
    `,
      { onStart: whenReady('SIGTERM') },
    );
    assert.equal(ended.signal, 'SIGTERM');
    assert.deepEqual(Object.keys(ended.journals).sort(), ['main', 'worker-1']);
    for (const { end } of Object.values(ended.journals)) assert.deepEqual(end, { reason: 'signal', full: false });
  });
});

test('the recorder is not in the journal', async (t) => {
  const { journals } = await record(t, 'spin(20);', { settings: { nodeFrames: 'full' } });
  const { names } = journals.main;
  assert.ok(!names.some((name) => ['recordThread', 'beginRecording', '(native addon)'].includes(name)), names.join());
});

suite('a program that ends suddenly', () => {
  /** Fills the heap, and says before each allocation what time it is. */
  const GROW = `
    const { writeSync } = require('node:fs');
    const kept = [];
    function grow() {
      for (;;) {
        writeSync(1, performance.now() + '\\n');
        kept.push(new Array(10_000).fill(1.1));
      }
    }`;
  const LIMITED = { env: { NODE_OPTIONS: '--max-old-space-size=20' } };
  const WITH_SNAPSHOT = { env: { NODE_OPTIONS: '--max-old-space-size=20 --heapsnapshot-near-heap-limit=1' } };
  const lastTime = (text) => Number(text.trimEnd().split('\n').at(-1));
  const lastSample = ({ samples }) => samples.reduce((time, [since, , , , run = 0]) => time + since + run, 0) / 1000;

  test('because its heap is full leaves all samples', async (t) => {
    const ended = await record(t, `${GROW} grow();`, LIMITED);
    assert.equal(ended.signal, 'SIGABRT');
    assert.match(ended.stderr, /FATAL ERROR: .* JavaScript heap out of memory/);
    const { main } = ended.journals;
    assert.ok(main.names.includes('grow'));
    // A sample is taken at the last moment. Times are rounded down to 0.1 ms.
    assert.ok(lastSample(main) > lastTime(ended.stdout) - 0.2, `${lastSample(main)}, ${lastTime(ended.stdout)}`);
  });

  for (const [who, options, setUp] of [
    ['Node', WITH_SNAPSHOT, ''],
    ['the program', LIMITED, `require('node:v8').setHeapSnapshotNearHeapLimit(1);`],
  ]) {
    test(`because its heap is full leaves the heap snapshot that ${who} asked for`, async (t) => {
      const { script, signal, journals } = await record(t, `${setUp} ${GROW} grow();`, options);
      assert.equal(signal, 'SIGABRT');
      const files = fs.readdirSync(path.dirname(script));
      assert.equal(files.filter((file) => file.endsWith('.heapsnapshot')).length, 1, files.join());
      assert.ok(journals.main.names.includes('grow'));
    });
  }

  test('by process.abort() leaves all samples', async (t) => {
    const source = `
      const { name, length } = process.abort;
      console.log(name, length);
      (function work() { spin(20); })();
      process.abort();`;
    const { signal, stdout, journals } = await record(t, source);
    assert.deepEqual([signal, stdout], ['SIGABRT', 'abort 0\n']);
    assert.ok(journals.main.names.includes('work'));
    assert.deepEqual(journals.main.end, EXIT);
  });

  test('is a worker whose heap is full, and has a journal with an end', async (t) => {
    const source = `
      const { isMainThread, Worker } = require('node:worker_threads');
      ${GROW}
      if (!isMainThread) grow();
      const worker = new Worker(__filename, { resourceLimits: { maxOldGenerationSizeMb: 20 } });
      worker.on('error', ({ code }) => console.log(code));`;
    const { code, stdout, journals } = await record(t, source);
    assert.deepEqual([code, stdout.trimEnd().split('\n').at(-1)], [0, 'ERR_WORKER_OUT_OF_MEMORY']);
    assert.ok(journals['worker-1'].names.includes('grow'));
    assert.deepEqual(journals['worker-1'].end, EXIT);
  });
});

suite('a worker', () => {
  const worker = (inWorker, inMain = '') => `
    const { isMainThread, parentPort, threadId, Worker } = require('node:worker_threads');
    if (isMainThread) {
      const workers = [1, 2].map(() => new Worker(__filename));
      for (const worker of workers) worker.on('error', () => {});
      ${inMain}
    } else {
      (function inWorker() { spin(60); })();
      parentPort.postMessage('busy');
      ${inWorker}
    }
  `;
  for (const [what, source, code] of [
    ['that returns', worker(''), 0],
    ['that exits', worker('process.exit(3);'), 0],
    ['that throws', worker('throw new Error("mine");'), 0],
    [
      'that is terminated',
      worker('for (;;);', `for (const worker of workers) worker.once('message', () => worker.terminate());`),
      0,
    ],
    [
      'that the main thread ends',
      worker(
        'for (;;);',
        `let left = 2; for (const worker of workers) worker.once('message', () => --left || process.exit(4));`,
      ),
      4,
    ],
  ]) {
    test(`${what} has a journal with an end`, async (t) => {
      const ended = await record(t, source);
      assert.deepEqual(
        { code: ended.code, signal: ended.signal, stdout: ended.stdout },
        { code, signal: null, stdout: '' },
      );
      assert.deepEqual(Object.keys(ended.journals).sort(), ['main', 'worker-1', 'worker-2']);
      for (const name of ['worker-1', 'worker-2']) {
        const { header, names, end } = ended.journals[name];
        assert.equal(header.threadId, Number(name.split('-')[1]));
        assert.ok(names.includes('inWorker'), name);
        assert.deepEqual(end, EXIT);
      }
      assert.ok(!ended.journals.main.names.includes('inWorker'));
    });
  }
});
