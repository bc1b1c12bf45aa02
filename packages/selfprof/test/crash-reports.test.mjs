// What has crashed profilers of others, by public reports: each program must end as it would without a profiler, with
// samples.

import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';

import { runProgram } from './program.mjs';

/** How often each program runs. `cargo xtask test --nightly` sets the variable. */
const REPEATS = Number(process.env.SELFPROF_TEST_REPEATS ?? 1);

const PRELUDE = `
  const { once } = require('node:events');
  const { Worker } = require('node:worker_threads');
  /** Keeps the thread busy, and the garbage collectors: short-lived objects, long-lived ones, and large arrays. */
  function allocate(ms) {
    const kept = new Map();
    for (const end = performance.now() + ms; performance.now() < end; ) {
      for (let i = 0; i < 500; i++) kept.set(i, { text: 'n' + i, list: [i, { i }], next: kept.get(i - 1) });
      new Array(20_000).fill(kept);
    }
  }
  /** Profiles while it works; the exit code is 9 if there is no sample. */
  async function profile(work) {
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 100_000 });
    await work();
    const { samples } = await profiler.stop();
    if (!samples.some(({ stackId }) => stackId !== undefined)) process.exit(9);
  }
`;

async function check(source) {
  let left = REPEATS;
  const lane = async () => {
    while (left-- > 0) {
      const program = `const prelude = ${JSON.stringify(PRELUDE)};${PRELUDE}(async () => {${source}})()`;
      const ended = await runProgram(program);
      assert.deepEqual(ended, { code: 0, signal: null, stdout: 'done\n', stderr: '' });
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), 4) }, lane));
}

/** A program with so many workers at once, each of which runs this code, that waits for the end of all. */
const inWorkers = (count, code) => `
  const worker = () => new Worker(prelude + ${JSON.stringify(`(async () => {${code}})()`)}, { eval: true });
  const workers = Array.from({ length: ${count} }, worker);
  const codes = await Promise.all(workers.map(async (worker) => (await once(worker, 'exit'))[0]));
  console.log(codes.every((code) => code === 0) ? 'done' : codes.join());
`;

test('the collector runs in workers while they are sampled (getsentry/sentry-javascript#20029)', () =>
  check(inWorkers(4, 'await profile(() => allocate(400));')));

test('a worker ends with its profiler running (getsentry/sentry-javascript#18623)', () =>
  check(inWorkers(6, 'globalThis.profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1000 }); allocate(60);')));

test('workers are terminated while they are sampled (nodejs/node#26401)', () =>
  check(`
    for (let round = 0; round < 4; round++) {
      const code = prelude + 'require("node:worker_threads").parentPort.postMessage(0); profile(() => { for (;;) allocate(50); });';
      const workers = Array.from({ length: 3 }, () => new Worker(code, { eval: true }));
      await Promise.all(workers.map(async (worker) => (await once(worker, 'message'), worker.terminate())));
    }
    console.log('done');
  `));

test('twenty workers and the main thread are sampled at once', () =>
  check(`await profile(async () => { ${inWorkers(20, 'await profile(() => allocate(80));')} });`));

test('a worker profiles again, and so do later workers (google/pprof-nodejs#79)', () =>
  check(`
    for (let round = 0; round < 3; round++) {
      const code = prelude + '(async () => { for (let i = 0; i < 3; i++) await profile(() => allocate(30)); })()';
      const [exit] = await once(new Worker(code, { eval: true }), 'exit');
      if (exit !== 0) return console.log(exit);
    }
    console.log('done');
  `));

test('profilers start and stop again and again under load (nodesource/distributions#440)', () =>
  check(`
    for (let round = 0; round < 40; round++) {
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1000 });
      allocate(10);
      await profiler.stop();
    }
    console.log('done');
  `));

test("others' profilers run in the same process, and end before and after ours", () => {
  const { SELFPROF_TEST_PPROF } = process.env;
  assert.ok(SELFPROF_TEST_PPROF, 'it names no package; `cargo xtask test --only js` sets it');
  return check(`
    const { Session } = require('node:inspector/promises');
    const session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: 500 });
    const { time } = require(${JSON.stringify(SELFPROF_TEST_PPROF)});
    for (let round = 0; round < 3; round++) {
      await session.post('Profiler.start');
      time.start({ durationMillis: 60_000, intervalMicros: 1000 });
      await profile(() => allocate(60));
      const outer = new Profiler({ sampleInterval: 2, maxBufferSize: 1000 });
      allocate(20);
      time.stop();
      const { profile: theirs } = await session.post('Profiler.stop');
      if (theirs.samples.length === 0) return console.log('they have no samples');
      await outer.stop();
    }
    console.log('done');
  `);
});
