// Worker threads, each an agent of its own.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Worker } from 'node:worker_threads';

import { Profiler } from 'selfprof';

import { REGISTER, runProgram } from './program.mjs';
import { spin } from './spin.mjs';
import { assertWellFormed, hasCalls } from './well-formed.mjs';

/** Starts a worker with `Profiler` on its global object. */
function startWorker(source, options) {
  return new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
    ${spin}
    ${source}`,
    { eval: true, execArgv: ['--require', REGISTER], ...options },
  );
}

/** The first message of a worker. */
function message(worker) {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the worker ended with ${code} and no message`)));
  });
}

const PROFILE = `
  (async () => {
    const before = performance.now();
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 100_000 });
    (function inWorker() {
      spin(200);
    })();
    const trace = await profiler.stop();
    parentPort.postMessage({ before, after: performance.now(), trace });
  })();
`;

suite('in a worker', () => {
  test('a profiler records the worker, in readings of its performance.now()', async () => {
    const { before, after, trace } = await message(startWorker(PROFILE));
    assertWellFormed(trace);
    assert.ok(hasCalls(trace, ['spin', 'inWorker']));
    assert.ok(trace.samples[0].timestamp > before - 1 && trace.samples.at(-1).timestamp < after + 1);
  });

  test('a profiler sees nothing of the thread that made the worker, nor the other way round', async () => {
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 2 ** 32 - 1 });
    const worker = startWorker(PROFILE);
    const received = message(worker);
    (function inMain() {
      spin(200);
    })();
    const { trace } = await received;
    const own = await profiler.stop();
    assertWellFormed(own);
    assert.ok(hasCalls(own, ['spin', 'inMain']) && hasCalls(trace, ['spin', 'inWorker']));
    assert.ok(!own.frames.some(({ name }) => name === 'inWorker'));
    assert.ok(!trace.frames.some(({ name }) => name === 'inMain'));
  });

  test('samplebufferfull fires', async () => {
    const received = await message(
      startWorker(`
        const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 5 });
        const alive = setInterval(() => {}, 1000);
        profiler.addEventListener('samplebufferfull', async () => {
          clearInterval(alive);
          parentPort.postMessage((await profiler.stop()).samples.length);
        });
      `),
    );
    assert.equal(received, 5);
  });

  test('a trace is an ordinary object, which another thread can be given', async () => {
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1000 });
    spin(30);
    const trace = await profiler.stop();
    const echoed = await message(startWorker(`parentPort.postMessage(workerData)`, { workerData: trace }));
    assert.deepEqual(echoed, trace);
    assertWellFormed(echoed);
  });

  test('several workers profile at once', async () => {
    const traces = await Promise.all([1, 2, 3, 4].map(() => message(startWorker(PROFILE))));
    for (const { trace } of traces) {
      assertWellFormed(trace);
      assert.ok(hasCalls(trace, ['spin', 'inWorker']));
    }
  });

  test('register is inherited from the command line of the main thread', async () => {
    const { stdout, code } = await runProgram(`
      const { Worker } = require('node:worker_threads');
      new Worker("console.log(typeof Profiler, new Profiler({ sampleInterval: 1, maxBufferSize: 1 }).stopped)", { eval: true });
    `);
    assert.equal(stdout, 'function false\n');
    assert.equal(code, 0);
  });
});

suite('a worker that ends while it profiles', () => {
  const BUSY = `
    globalThis.profilers = [1, 2, 3].map((sampleInterval) => new Profiler({ sampleInterval, maxBufferSize: 2 ** 32 - 1 }));
    parentPort.postMessage('profiling');
  `;
  const ended = (worker) => new Promise((resolve) => worker.once('exit', resolve));

  test('may be terminated in a loop', async () => {
    const worker = startWorker(`${BUSY} for (;;);`);
    const exit = ended(worker);
    await message(worker);
    assert.equal(await worker.terminate(), 1);
    assert.equal(await exit, 1);
  });

  test('may be terminated while it waits', async () => {
    const worker = startWorker(`${BUSY} setInterval(() => {}, 1000);`);
    await message(worker);
    assert.equal(await worker.terminate(), 1);
  });

  test('may call process.exit()', async () => {
    const worker = startWorker(`${BUSY} spin(20); process.exit(7);`);
    assert.equal(await ended(worker), 7);
  });

  test('may throw', async () => {
    const worker = startWorker(`${BUSY} spin(20); throw new Error('from the worker');`);
    const failed = new Promise((resolve) => worker.once('error', resolve));
    assert.equal(await ended(worker), 1);
    assert.equal((await failed).message, 'from the worker');
  });

  test('may come to its end', async () => {
    const worker = startWorker(`${BUSY} spin(20);`);
    assert.equal(await ended(worker), 0);
  });

  test('leaves the profilers of other threads alone', async () => {
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 2 ** 32 - 1 });
    const worker = startWorker(`${BUSY} for (;;);`);
    await message(worker);
    await worker.terminate();
    const end = performance.now();
    spin(60);
    const trace = await profiler.stop();
    assertWellFormed(trace);
    assert.ok(trace.samples.filter(({ timestamp }) => timestamp > end).length > 2);
  });
});
