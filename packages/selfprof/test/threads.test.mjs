// profileThreads(): every thread of the process at once, on one time axis.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, suite, test } from 'node:test';
import { Worker, threadId } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';

import { Profiler, profileThreads } from 'selfprof';

import { REGISTER, runProgram, SAMPLER_THREADS } from './program.mjs';
import { areSampled, sampledThreads, untilNoneIsSampled } from './sampler-threads.cjs';
import { spin } from './spin.mjs';
import { assertWellFormed, hasCalls } from './well-formed.mjs';

const OPTIONS = { sampleInterval: 1, maxBufferSize: 100_000 };
/** Whether workers can read their own names in this Node. */
const [MAJOR, MINOR] = process.versions.node.split('.').map(Number);
const NAMED = MAJOR > 24 || (MAJOR === 24 && MINOR >= 6) || (MAJOR === 22 && MINOR >= 20);

const workers = new Set();
afterEach(async () => {
  for (const worker of workers) await worker.terminate();
  workers.clear();
});

/** Starts a worker with this package loaded, and waits until it has come to its source. */
async function start(source, options) {
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
    ${spin}
    parentPort.postMessage('running');
    ${source}`,
    { eval: true, execArgv: ['--require', REGISTER], ...options },
  );
  workers.add(worker);
  await message(worker);
  return worker;
}

/** The next message of a worker. */
function message(worker) {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

const ended = (worker) => new Promise((resolve) => worker.once('exit', resolve));

/** The trace of a thread in a result, checked. */
function traceOf({ threads }, id) {
  const found = threads.filter((thread) => thread.threadId === id);
  assert.equal(found.length, 1, `thread ${id} is listed once`);
  const [{ trace }] = found;
  assertWellFormed(trace);
  return trace;
}

const listed = ({ threads }) => threads.map((thread) => thread.threadId);

const BUSY = '(function busyInWorker() { for (;;) spin(5); })();';
const IDLE = 'setInterval(() => {}, 1000);';

suite('profileThreads()', () => {
  test('gives a trace for each thread', async () => {
    const [busy, idle] = [await start(BUSY, { name: 'busy one' }), await start(IDLE)];
    const profiling = await profileThreads(OPTIONS);
    assert.equal(profiling.sampleInterval, 1);
    assert.equal(profiling.stopped, false);
    (function busyInMain() {
      spin(200);
    })();
    const promise = profiling.stop();
    assert.equal(profiling.stopped, true);
    const result = await promise;
    assert.deepEqual(Object.keys(result), ['threads']);
    assert.deepEqual(
      result.threads.map(({ trace, ...thread }) => thread),
      [
        { threadId: 0, name: 'main' },
        { threadId: busy.threadId, name: NAMED ? 'busy one' : `worker-${busy.threadId}` },
        { threadId: idle.threadId, name: `worker-${idle.threadId}` },
      ],
    );
    const main = traceOf(result, 0);
    assert.ok(hasCalls(main, ['spin', 'busyInMain']));
    assert.ok(!main.frames.some(({ name }) => name === 'busyInWorker'));
    assert.ok(hasCalls(traceOf(result, busy.threadId), ['spin', 'busyInWorker']));
    const { frames, samples } = traceOf(result, idle.threadId);
    assert.ok(samples.length > 5);
    assert.ok(!frames.some(({ name }) => name.startsWith('busy')));
    assert.ok(await untilNoneIsSampled());
  });

  test('has one time axis, that of performance.timeOrigin', async () => {
    const worker = await start(`
      parentPort.on('message', () => {
        const begin = performance.now();
        (function inWorker() { spin(60); })();
        parentPort.postMessage({ begin, end: performance.now(), timeOrigin: performance.timeOrigin });
      });
    `);
    const profiling = await profileThreads(OPTIONS);
    const windows = [];
    for (let i = 0; i < 3; i++) {
      worker.postMessage('go');
      windows.push(await message(worker));
    }
    const result = await profiling.stop();
    const { frames, samples, stacks } = traceOf(result, worker.threadId);
    const within = (time) => windows.some(({ begin, end }) => time >= begin - 1 && time <= end + 1);
    let seen = 0;
    for (const { stackId, timestamp } of samples) {
      let id = stackId;
      while (id !== undefined && frames[stacks[id].frameId].name !== 'inWorker') id = stacks[id].parentId;
      if (id === undefined) continue;
      seen++;
      assert.ok(within(timestamp), `${timestamp} is in none of ${JSON.stringify(windows)}`);
    }
    assert.ok(seen > 20, `${seen} samples`);
    for (const { timeOrigin } of windows) assert.equal(timeOrigin, performance.timeOrigin);
    // All were sampled until the one call of stop().
    const ends = result.threads.map(({ trace }) => trace.samples.at(-1).timestamp);
    assert.ok(Math.max(...ends) - Math.min(...ends) < 200, String(ends));
  });

  test('may be called by any thread', async () => {
    const worker = await start(`
      const { profileThreads } = require(${JSON.stringify(new URL('../index.cjs', import.meta.url).pathname)});
      parentPort.once('message', async () => {
        const profiling = await profileThreads({ sampleInterval: 1, maxBufferSize: 100_000 });
        await new Promise((resolve) => setTimeout(resolve, 100));
        parentPort.postMessage(await profiling.stop());
      });
    `);
    // A worker that has ended has no id any more.
    const id = worker.threadId;
    worker.postMessage('go');
    const answer = message(worker);
    let waiting = true;
    answer.then(() => (waiting = false));
    while (waiting) {
      (function busyInMain() {
        spin(10);
      })();
      await new Promise(setImmediate);
    }
    const result = await answer;
    assert.deepEqual(listed(result), [0, id]);
    assert.ok(hasCalls(traceOf(result, 0), ['spin', 'busyInMain']));
    traceOf(result, id);
  });

  test('leaves out threads that have not loaded the package', async () => {
    const plain = new Worker(
      `require('node:worker_threads').parentPort.postMessage('running'); setInterval(() => {}, 1000);`,
      {
        eval: true,
        execArgv: [],
      },
    );
    workers.add(plain);
    await message(plain);
    const profiling = await profileThreads(OPTIONS);
    assert.deepEqual(listed(await profiling.stop()), [threadId]);
  });

  test('goes beside profilers of the threads', async () => {
    const worker = await start(`
      const profiler = new Profiler({ sampleInterval: 3, maxBufferSize: 100_000 });
      (function inWorker() { parentPort.on('message', async () => {
        spin(100);
        parentPort.postMessage(await profiler.stop());
      }); })();
    `);
    const mine = new Profiler({ sampleInterval: 2, maxBufferSize: 100_000 });
    const profiling = await profileThreads(OPTIONS);
    worker.postMessage('go');
    const theirs = await message(worker);
    spin(50);
    const result = await profiling.stop();
    const traces = [await mine.stop(), theirs, traceOf(result, 0), traceOf(result, worker.threadId)];
    for (const trace of traces) {
      assertWellFormed(trace);
      assert.ok(trace.samples.length > 10, `${trace.samples.length} samples`);
    }
  });

  test('may be called twice at once', async () => {
    const worker = await start(BUSY);
    const [fine, coarse] = await Promise.all([
      profileThreads(OPTIONS),
      profileThreads({ ...OPTIONS, sampleInterval: 20 }),
    ]);
    assert.deepEqual([fine.sampleInterval, coarse.sampleInterval], [1, 20]);
    spin(200);
    const first = await fine.stop();
    const between = performance.now();
    spin(200);
    const second = await coarse.stop();
    for (const id of [0, worker.threadId]) {
      const [many, few] = [traceOf(first, id).samples, traceOf(second, id).samples];
      assert.ok(many.at(-1).timestamp < between + 1);
      assert.ok(few.at(-1).timestamp > between);
      assert.ok(few.length <= (few.at(-1).timestamp - few[0].timestamp) / 20 + 2, `${few.length} samples`);
      assert.ok(many.length > few.length);
    }
    assert.ok(await untilNoneIsSampled());
  });

  test('keeps to the buffer of each thread', async () => {
    const worker = await start(BUSY);
    const [first, last] = await Promise.all([
      profileThreads({ sampleInterval: 1, maxBufferSize: 10 }),
      profileThreads({ sampleInterval: 1, maxBufferSize: 10, bufferPolicy: 'circular' }),
    ]);
    // A busy machine may leave the worker out for long.
    spin(400);
    await sleep(20);
    const between = performance.now();
    spin(400);
    const [early, late] = await Promise.all([first.stop(), last.stop()]);
    for (const id of [0, worker.threadId]) {
      const [beginning, end] = [traceOf(early, id).samples, traceOf(late, id).samples];
      assert.deepEqual([beginning.length, end.length], [10, 10]);
      assert.ok(beginning.at(-1).timestamp < between && end[0].timestamp > between);
    }
  });

  test('gives compressed JSON', async () => {
    const worker = await start(BUSY);
    const profiling = await profileThreads(OPTIONS);
    spin(50);
    const { threads } = await profiling.stop({ format: 'json-gzip' });
    assert.deepEqual(listed({ threads }), [0, worker.threadId]);
    for (const { trace } of threads) {
      assert.ok(trace instanceof ArrayBuffer);
      assertWellFormed(JSON.parse(gunzipSync(trace)));
    }
  });
});

suite('a thread that starts meanwhile', () => {
  test('is profiled from its start', async () => {
    const profiling = await profileThreads(OPTIONS);
    const worker = await start(
      `(function lateOne() { spin(100); })(); parentPort.postMessage('worked'); setInterval(() => {}, 1000);`,
    );
    await message(worker);
    const result = await profiling.stop();
    const trace = traceOf(result, worker.threadId);
    assert.ok(hasCalls(trace, ['spin', 'lateOne']));
  });
});

suite('a thread that ends meanwhile', () => {
  for (const [how, end] of [
    ['by itself', ''],
    ['by process.exit()', 'process.exit(3);'],
    ['by a throw', 'throw new Error("mine");'],
    ['by terminate()', 'parentPort.postMessage("now"); for (;;);'],
    ['by terminate() while it waits', 'parentPort.postMessage("now"); setInterval(() => {}, 1000);'],
  ]) {
    for (const [when, early] of [
      ['that was there before', true],
      ['that came later', false],
    ]) {
      test(`${how}, ${when}, hands over what it recorded`, async () => {
        const source = `parentPort.once('message', () => { (function shortLived() { spin(80); })(); ${end} });`;
        const begin = async () => {
          const worker = await start(source);
          worker.on('error', () => {});
          return worker;
        };
        let worker = early ? await begin() : undefined;
        const profiling = await profileThreads(OPTIONS);
        worker ??= await begin();
        const id = worker.threadId;
        const exit = ended(worker);
        const told = end.includes('postMessage') ? message(worker) : undefined;
        worker.postMessage('go');
        if (told) {
          await told;
          await worker.terminate();
        }
        await exit;
        await sleep(30);
        const trace = traceOf(await profiling.stop(), id);
        assert.ok(hasCalls(trace, ['spin', 'shortLived']));
      });
    }
  }

  test('may be one of many', async () => {
    const profiling = await profileThreads({ ...OPTIONS, maxBufferSize: 100 });
    const ids = [];
    for (let i = 0; i < 10; i++) {
      const worker = await start("parentPort.once('message', () => spin(5));");
      ids.push(worker.threadId);
      const exit = ended(worker);
      worker.postMessage('go');
      await exit;
    }
    const result = await profiling.stop();
    assert.deepEqual(listed(result), [0, ...ids]);
    for (const id of ids) traceOf(result, id);
    assert.ok(await untilNoneIsSampled());
  });
});

suite('a thread that is blocked', () => {
  test('in Atomics.wait responds, too', async () => {
    const worker = await start('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);');
    const profiling = await profileThreads(OPTIONS);
    spin(50);
    const begin = performance.now();
    const result = await profiling.stop();
    assert.ok(performance.now() - begin < 900);
    const { samples } = traceOf(result, worker.threadId);
    assert.ok(samples.length > 3);
    assert.ok(samples.some(({ marker, stackId }) => marker === undefined || stackId !== undefined));
  });

  const BLOCK = `parentPort.on('message', (ms) => {
    parentPort.postMessage('blocked');
    require('node:child_process').execFileSync('sleep', [String(ms / 1000)]);
    parentPort.postMessage('free');
  });`;

  test('in native code before it could join is listed as unresponsive, after a second', async () => {
    const worker = await start(BLOCK, { name: 'sleeper' });
    worker.postMessage(2500);
    await message(worker);
    const free = message(worker);
    await sleep(50);
    const begin = performance.now();
    const profiling = await profileThreads(OPTIONS);
    const joined = performance.now();
    assert.ok(joined - begin > 900 && joined - begin < 2200, `it took ${joined - begin} ms`);
    spin(50);
    const result = await profiling.stop();
    assert.ok(performance.now() - joined < 900);
    traceOf(result, 0);
    const name = NAMED ? 'sleeper' : `worker-${worker.threadId}`;
    assert.deepEqual(result.threads[1], { threadId: worker.threadId, name, unresponsive: true });
    await free;
    assert.ok(await untilNoneIsSampled());
    // And it is profiled again once it is free.
    const again = await profileThreads(OPTIONS);
    traceOf(await again.stop(), worker.threadId);
  });

  test('in native code until after stop() is listed as unresponsive, and leaves when it is free', async () => {
    const worker = await start(BLOCK);
    const profiling = await profileThreads(OPTIONS);
    worker.postMessage(2500);
    await message(worker);
    const free = message(worker);
    await sleep(50);
    const begin = performance.now();
    const { threads } = await profiling.stop();
    const took = performance.now() - begin;
    assert.ok(took > 900 && took < 2200, `it took ${took} ms`);
    assert.deepEqual(Object.keys(threads[1]), ['threadId', 'name', 'unresponsive']);
    await free;
    assert.ok(await untilNoneIsSampled());
  });

  test('joins late when it is free before stop()', async () => {
    const worker = await start(BLOCK);
    worker.postMessage(1500);
    await message(worker);
    const free = message(worker);
    await sleep(50);
    const profiling = await profileThreads(OPTIONS);
    await free;
    const freeAt = performance.now();
    await sleep(100);
    const { samples } = traceOf(await profiling.stop(), worker.threadId);
    assert.ok(samples[0].timestamp > freeAt - 500);
  });
});

suite('the object', () => {
  test('refuses to be stopped twice', async () => {
    const profiling = await profileThreads(OPTIONS);
    const first = profiling.stop();
    for (const second of [profiling.stop(), first.then(() => profiling.stop())]) {
      await assert.rejects(second, (error) => error instanceof DOMException && error.name === 'InvalidStateError');
    }
    assert.throws(() => profiling.cancel(), { name: 'InvalidStateError' });
    traceOf(await first, 0);
  });

  test('can be cancelled', async () => {
    await start(BUSY);
    const profiling = await profileThreads(OPTIONS);
    spin(10);
    assert.ok(await areSampled(2));
    assert.equal(profiling.cancel(), undefined);
    assert.equal(profiling.stopped, true);
    await assert.rejects(profiling.stop(), { name: 'InvalidStateError' });
    assert.ok(await untilNoneIsSampled());
  });

  test('has attributes and operations', async () => {
    const profiling = await profileThreads(OPTIONS);
    const prototype = Object.getPrototypeOf(profiling);
    assert.deepEqual(
      new Set(Reflect.ownKeys(prototype)),
      new Set(['sampleInterval', 'stopped', 'cancel', 'stop', Symbol.toStringTag]),
    );
    assert.equal(Object.prototype.toString.call(profiling), '[object ThreadsProfiling]');
    for (const foreign of [undefined, {}, prototype]) {
      await assert.rejects(Reflect.apply(prototype.stop, foreign, []), TypeError);
      assert.throws(() => Reflect.apply(prototype.cancel, foreign, []), TypeError);
    }
    await assert.rejects(profiling.stop({ format: 'gzip' }), TypeError);
    assert.equal(profiling.stopped, false);
    profiling.cancel();
  });
});

suite('the options', () => {
  test('are converted like those of a profiler, and errors reject', async () => {
    for (const [options, error] of [
      [undefined, TypeError],
      [null, TypeError],
      [1, TypeError],
      [{}, TypeError],
      [{ sampleInterval: 1 }, TypeError],
      [{ maxBufferSize: 1 }, TypeError],
      [{ ...OPTIONS, sampleInterval: NaN }, TypeError],
      [{ ...OPTIONS, sampleInterval: Symbol('s') }, TypeError],
      [{ ...OPTIONS, sampleInterval: -1 }, RangeError],
      [{ ...OPTIONS, sampleInterval: 1e9 }, RangeError],
      [{ ...OPTIONS, bufferPolicy: 'ring' }, TypeError],
      // Nobody takes chunks of several threads.
      [{ ...OPTIONS, bufferPolicy: 'chunks' }, TypeError],
    ]) {
      const promise = profileThreads(options);
      assert.ok(promise instanceof Promise);
      await assert.rejects(promise, error, JSON.stringify(options));
    }
    await assert.rejects(profileThreads(), TypeError);
    assert.equal(sampledThreads(), 0);
  });

  test('are read in lexicographical order', async () => {
    const keys = [];
    const profiling = await profileThreads(new Proxy(OPTIONS, { get: (target, key) => (keys.push(key), target[key]) }));
    assert.deepEqual(keys, ['bufferPolicy', 'includeEntries', 'maxBufferSize', 'sampleInterval']);
    profiling.cancel();
  });
});

suite('an unreferenced profile of all threads', () => {
  const PRELUDE = `
    const { areSampled, untilNoneIsSampled } = require(${JSON.stringify(SAMPLER_THREADS)});
    const { Worker } = require('node:worker_threads');
    const { profileThreads } = require(${JSON.stringify(new URL('../index.cjs', import.meta.url).pathname)});
    ${spin}
    const turn = () => new Promise((resolve) => setTimeout(resolve, 5));
    const options = { sampleInterval: 1, maxBufferSize: 1000 };
  `;
  async function expect(source, output) {
    const { stdout, stderr, code } = await runProgram(`${PRELUDE} (async () => { ${source} })();`, {
      execArgv: ['--expose-gc', '--require', REGISTER],
    });
    assert.deepEqual({ stdout, code }, { stdout: output, code: 0 }, stderr);
  }

  test('ends in all threads', () =>
    expect(
      `
      const worker = new Worker('setInterval(() => {}, 1000)', { eval: true });
      await new Promise((resolve) => worker.once('online', resolve));
      await (async () => { await profileThreads(options); })();
      console.log(await areSampled(), await untilNoneIsSampled());
      await worker.terminate();
    `,
      'true true\n',
    ));

  test('does not keep the program alive, nor its threads', () =>
    expect(
      `
      globalThis.held = await profileThreads(options);
      new Worker('for (const end = performance.now() + 50; performance.now() < end; );', { eval: true });
      console.log('end');
    `,
      'end\n',
    ));

  test('delivers when it was stopped', () =>
    expect(
      `
      const stopped = profileThreads(options).then((profiling) => profiling.stop());
      for (let i = 0; i < 10; i++) { gc(); await turn(); }
      console.log((await stopped).threads.length);
    `,
      '1\n',
    ));

  test('ends in all threads when the thread that started it ends', () =>
    expect(
      `
      const worker = new Worker(\`
        const { parentPort } = require('node:worker_threads');
        const { profileThreads } = require(${JSON.stringify(new URL('../index.cjs', import.meta.url).pathname)});
        profileThreads(\${JSON.stringify(options)}).then(() => parentPort.postMessage('profiling'));
        setInterval(() => {}, 1000);
      \`, { eval: true });
      await new Promise((resolve) => worker.once('message', resolve));
      const during = await areSampled(2);
      await worker.terminate();
      console.log(during, await untilNoneIsSampled());
    `,
      'true true\n',
    ));
});
