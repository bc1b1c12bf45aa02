// Programs that end in every way while they profile. Each case is repeated, because what goes wrong here goes wrong by
// chance: the sampler's thread, the building thread and the alarm are somewhere else every time.

import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';

import { PACKAGE, REGISTER, runProgram } from './program.mjs';

/** How often each case happens. `cargo xtask test --nightly` sets the variable. */
const REPEATS = Number(process.env.SELFPROF_TEST_REPEATS ?? 4);
/** How often it happens in one program, if it is the end of a worker. */
const WORKERS = 4;

const PRELUDE = `
  const { isMainThread, parentPort, Worker } = require('node:worker_threads');
  function spin(ms) {
    for (const end = performance.now() + ms; performance.now() < end; );
  }
  /** Makes profilers with several intervals, one with a buffer that is soon full. */
  function profile() {
    globalThis.profilers = [1, 2, 3, 7].map(
      (sampleInterval) => new Profiler({ sampleInterval, maxBufferSize: sampleInterval === 3 ? 2 : 1e9 }),
    );
    for (const profiler of profilers) profiler.addEventListener('samplebufferfull', () => {});
  }
  // Each run ends at another time.
  const moment = Math.random() * 10;
  /** A worker that runs this source, and posts a message when it profiles. */
  function start(source) {
    return new Worker(prelude + 'profile(); parentPort.postMessage("profiling");' + source, { eval: true });
  }
  /** Starts workers one after the other. The exit code is theirs and 10 more, or 99 if they end differently. */
  function startEach(start) {
    let left = ${WORKERS};
    const next = () =>
      start(Math.random() * 10).on('exit', (code) => {
        process.exitCode = (process.exitCode ?? code + 10) === code + 10 ? code + 10 : 99;
        if (--left > 0) next();
      });
    next();
  }
`;

/** Runs a program again and again, as many at once as the machine has processors, and checks how each one ended. */
async function check(source, expected, { stderr = /^$/, repeats = REPEATS, ...options } = {}) {
  const program = `const prelude = ${JSON.stringify(PRELUDE)};${PRELUDE}${source}`;
  let left = repeats;
  const lane = async () => {
    while (left-- > 0) {
      const { stderr: talk, ...ended } = await runProgram(program, options);
      assert.deepEqual(ended, { code: 0, signal: null, stdout: '', ...expected }, talk);
      assert.match(talk, stderr);
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), 4) }, lane));
}

/** As `check`, for functions that start a worker, which ends with this exit code. */
const checkWorkers = (start, code) =>
  check(`startEach(${start});`, { code: code + 10 }, { repeats: REPEATS / WORKERS });

/** Terminates workers that run this source, some milliseconds after they began. */
const checkTermination = (source, delay = 0) =>
  checkWorkers(
    `(moment) => {
      const worker = start(${JSON.stringify(source)});
      worker.once('message', () => setTimeout(() => worker.terminate(), ${delay} + moment));
      return worker;
    }`,
    1,
  );

test('the main thread comes to its end', () => check('profile(); spin(moment);', {}));

test('the main thread comes to its end after an idle while', () =>
  check('profile(); setTimeout(() => {}, moment);', {}));

test('process.exit() in the main thread', () => check('profile(); spin(moment); process.exit(3);', { code: 3 }));

test('process.exit() in a timer', () => check('profile(); setTimeout(() => process.exit(3), moment);', { code: 3 }));

test('process.exit() while stop() is pending', () =>
  check('profile(); spin(moment); for (const profiler of profilers) profiler.stop(); process.exit(3);', { code: 3 }));

test('process.exit() between the traces of several stop()', () =>
  check(
    'profile(); spin(moment); Promise.race(profilers.map((profiler) => profiler.stop())).then(() => process.exit(3));',
    {
      code: 3,
    },
  ));

test('process.exit() in the listener of samplebufferfull', () =>
  check(
    `
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 2 });
    profiler.addEventListener('samplebufferfull', () => process.exit(3));
    setTimeout(() => {}, 20_000);
  `,
    { code: 3 },
  ));

test('an exit handler that uses profilers', () =>
  check(
    `
    profile();
    process.on('exit', () => {
      for (const profiler of profilers) profiler.stop();
      profile();
      spin(5);
      process.exitCode = 4;
    });
  `,
    { code: 4 },
  ));

test('an uncaught throw in the main thread', () =>
  check('profile(); spin(moment); throw new Error("mine");', { code: 1 }, { stderr: /Error: mine/ }));

test('an unhandled rejection while stop() is pending', () =>
  check(
    'profile(); spin(moment); profilers[0].stop().then(() => { throw new Error("mine"); });',
    { code: 1 },
    { stderr: /Error: mine/ },
  ));

test('a signal', () =>
  check('profile(); spin(moment); process.kill(process.pid, "SIGTERM"); spin(5000);', {
    code: null,
    signal: 'SIGTERM',
  }));

const skip = process.execve === undefined && 'this Node has no process.execve()';

test('a program that replaces itself, again and again', { skip }, () =>
  check(
    `const left = Number(process.argv[1] ?? 20);
     profile();
     spin(moment);
     const again = [process.execPath, ...process.execArgv, String(left - 1)];
     if (left > 0) process.execve(process.execPath, again);`,
    {},
    { env: { NODE_NO_WARNINGS: '1' }, repeats: REPEATS / 4 },
  ),
);

test('a program that tries to replace itself, and goes on', { skip }, () =>
  check(
    `const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1e6 });
     try {
       process.execve(1);
     } catch ({ code }) {
       if (code !== 'ERR_INVALID_ARG_TYPE') process.exitCode = 1;
     }
     const since = performance.now();
     const { name, length } = process.execve;
     if (name !== 'execve' || length !== 1) process.exitCode = 2;
     spin(20);
     profiler.stop().then(({ samples }) => {
       if (!samples.some(({ timestamp }) => timestamp > since + 1)) process.exitCode = 3;
     });`,
    {},
    { env: { NODE_NO_WARNINGS: '1' } },
  ),
);

test('leaked profilers, some collected and some not', () =>
  check(
    `
    for (let i = 0; i < 30; i++) new Profiler({ sampleInterval: 1 + i, maxBufferSize: i });
    setTimeout(gc, 1);
    setTimeout(gc, moment);
    setTimeout(() => {}, moment + 1);
  `,
    {},
    { execArgv: ['--expose-gc', '--require', REGISTER] },
  ));

test('worker.terminate() in a loop', () => checkTermination('for (;;);'));

test('worker.terminate() while it waits', () => checkTermination('setInterval(() => {}, 1);'));

test('worker.terminate() while it makes and stops profilers', () =>
  checkTermination('setInterval(() => { for (const profiler of profilers) profiler.stop(); profile(); }, 0);', 5));

/** Profilers with the buffers that are extensions, and somebody who takes chunks. */
const EXTENSIONS = `
  function profileOn() {
    globalThis.profilers = ['circular', 'chunks', 'chunks', 'stop'].map(
      (bufferPolicy, i) => new Profiler({ sampleInterval: 1 + i, maxBufferSize: 2, bufferPolicy, maxChunks: 3 }),
    );
    (async () => { for await (const chunk of profilers[1]); })();
  }
`;

test('the main thread comes to its end with a circular buffer and chunks', () =>
  check(`${EXTENSIONS} profileOn(); spin(moment); setTimeout(() => {}, moment);`, {}));

test('process.exit() while chunks are taken', () =>
  check(`${EXTENSIONS} profileOn(); setInterval(() => spin(1), 1); setTimeout(() => process.exit(3), 10 + moment);`, {
    code: 3,
  }));

test('process.exit() while a circular buffer and chunks are stopped', () =>
  check(
    `${EXTENSIONS} profileOn(); spin(moment);
    for (const profiler of profilers) profiler.stop({ format: 'json-gzip' });
    setTimeout(() => process.exit(3), moment / 5);`,
    { code: 3 },
  ));

test('leaked profilers with chunks that wait, some collected and some not', () =>
  check(
    `${EXTENSIONS} for (let i = 0; i < 10; i++) profileOn();
    setTimeout(gc, 1);
    setTimeout(gc, moment);
    setTimeout(() => {}, moment + 1);`,
    {},
    { execArgv: ['--expose-gc', '--require', REGISTER] },
  ));

for (const [what, source] of [
  ['in a loop', 'for (;;);'],
  ['while it takes chunks', 'setInterval(() => spin(1), 1);'],
  [
    'while it makes, cancels and stops them',
    'setInterval(() => { profilers.forEach((p, i) => (i % 2 ? p.stop() : p.cancel())); profileOn(); }, 1);',
  ],
]) {
  test(`worker.terminate() of a circular buffer and chunks, ${what}`, () =>
    checkTermination(`${EXTENSIONS} profileOn(); ${source}`, 5));
}

test('worker.terminate() while it makes, cancels and stops profilers', () =>
  checkTermination(
    'setInterval(() => { profilers.forEach((profiler, i) => (i % 2 ? profiler.stop() : profiler.cancel())); profile(); }, 0);',
    5,
  ));

test('process.exit() in a worker', () => checkWorkers("() => start('spin(moment); process.exit(7);')", 7));

test('process.exit() in a worker while stop() is pending', () =>
  checkWorkers("() => start('spin(moment); for (const profiler of profilers) profiler.stop(); process.exit(7);')", 7));

test('an uncaught throw in a worker', () =>
  checkWorkers(
    `() => start('spin(moment); throw new Error("mine");').on('error', ({ message }) => {
      if (message !== 'mine') process.exit(98);
    })`,
    1,
  ));

test('process.exit() in the main thread while workers profile', () =>
  check(
    `
    profile();
    const workers = [1, 2, 3].map(() => start('parentPort.once("message", () => { for (;;); });'));
    let waiting = workers.length;
    for (const worker of workers) {
      worker.once('message', () => {
        if (--waiting > 0) return;
        for (const ready of workers) ready.postMessage('loop');
        setTimeout(() => process.exit(5), moment);
      });
    }
  `,
    { code: 5 },
  ));

/** Programs that profile all their threads. */
const THREADS = `
  const { profileThreads } = require(${JSON.stringify(PACKAGE)});
  const threadsOptions = { sampleInterval: 1, maxBufferSize: 50, bufferPolicy: 'circular' };
`;

test('process.exit() while all threads are profiled', () =>
  check(
    `${THREADS}
    for (let i = 0; i < 3; i++) start(i % 2 ? 'for (;;);' : 'setInterval(() => {}, 1);');
    profileThreads(threadsOptions);
    setTimeout(() => process.exit(5), 10 * moment);
  `,
    { code: 5 },
  ));

test('process.exit() while all threads are stopped', () =>
  check(
    `${THREADS}
    for (let i = 0; i < 3; i++) start(i % 2 ? 'for (;;);' : 'setInterval(() => {}, 1);');
    setTimeout(async () => {
      const profiling = await profileThreads(threadsOptions);
      profiling.stop();
      setTimeout(() => process.exit(5), moment / 3);
    }, 50);
  `,
    { code: 5 },
  ));

test('threads that come and go while all are profiled, again and again', () =>
  check(
    `${THREADS}
    const ends = ['spin(moment);', 'process.exit(0);', 'for (;;);', 'for (const p of profilers) p.stop();', 'profile();'];
    let left = 10;
    let running = 0;
    function next() {
      if (left-- <= 0) return;
      running++;
      const end = ends[left % ends.length];
      const worker = start(end);
      if (end.startsWith('for (;;)')) worker.once('message', () => setTimeout(() => worker.terminate(), moment / 2));
      worker.on('exit', () => {
        running--;
        next();
      });
    }
    for (let i = 0; i < 3; i++) next();
    (async () => {
      while (running > 0) {
        const profilings = await Promise.all([profileThreads(threadsOptions), profileThreads(threadsOptions)]);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
        profilings[0].cancel();
        const { threads } = await profilings[1].stop();
        if (!threads.some(({ threadId, trace }) => threadId === 0 && trace.samples.length > 0)) process.exitCode = 9;
      }
    })();
  `,
    {},
    // Each program ends ten threads.
    { repeats: REPEATS / 2 },
  ));

test('worker.terminate() of a thread that profiles all', () =>
  check(
    `${THREADS}
    const worker = start(${JSON.stringify(THREADS)} + \`
      setInterval(async () => {
        const profiling = await profileThreads(threadsOptions);
        if (Math.random() < 0.7) setTimeout(() => profiling.stop(), 2);
      }, 3);
    \`);
    const other = start('for (;;);');
    worker.once('message', () => setTimeout(() => worker.terminate(), 20 + 3 * moment));
    worker.on('exit', async (code) => {
      process.exitCode = code + 10;
      await (await profileThreads(threadsOptions)).stop();
      other.terminate();
    });
  `,
    { code: 11 },
  ));

test('many workers that end at once, each in its way', () =>
  check(
    `
    const ends = ['spin(moment);', 'spin(moment); process.exit(0);', 'for (;;);', 'for (const p of profilers) p.stop();'];
    let running = 0;
    for (const end of [...ends, ...ends]) {
      running++;
      const worker = start(end);
      if (end.startsWith('for (;;)')) worker.once('message', () => worker.terminate());
      worker.on('exit', () => {
        if (--running === 0) process.exitCode = 6;
      });
    }
  `,
    { code: 6 },
    // Each program ends eight threads.
    { repeats: REPEATS / 2 },
  ));
