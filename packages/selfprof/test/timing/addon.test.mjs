// The timeline of the addon by itself: what interpreted and optimised code get from it, what it holds, and how it ends.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { PACKAGE, runProgram } from '../program.mjs';

const native = createRequire(import.meta.url)('../../src/native.cjs');

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

const [OMITTED, NAMED, TIME, ATTRIBUTE, UNKNOWN] = [0, 1, 2, 3, 4];
const [MARK, MEASURE] = [1, 2];
const LOAD_EVENT_END = 20;

function timeline({ origin = native.now(), resolution = 5, limits, timing } = {}) {
  const made = new native.Timeline(origin, resolution, limits, timing);
  return { timeline: made, fastCalls: made.fastCalls() };
}

/** Calls a function so often that V8 optimises it, and checks each result. */
function check(call, expected) {
  for (let i = 0; i < 20_000; i++) {
    const got = call();
    if (!Object.is(got, expected)) assert.fail(`call ${i}: ${got}, not ${expected}`);
  }
}

test('now() does not go back, and has the resolution it is said to have', () => {
  for (const resolution of [5, 100]) {
    const { fastCalls } = timeline({ resolution });
    let last = fastCalls.now();
    for (let i = 0; i < 50_000; i++) {
      const now = fastCalls.now();
      assert.ok(now >= last);
      const steps = Math.round((now * 1e3) / resolution);
      assert.equal(now, (steps * resolution) / 1e3);
      last = now;
    }
    assert.ok(last > 0);
  }
});

test('now() and performance.now() are the same clock', () => {
  const { fastCalls } = timeline();
  /** What lies between the two origins, as far as can be told: one clock is read between two readings of the other. */
  function offset() {
    const before = performance.now();
    const now = fastCalls.now();
    return { least: now - performance.now(), most: now + 0.005 - before };
  }
  const early = offset();
  const end = performance.now() + 50;
  while (performance.now() < end);
  const late = offset();
  assert.ok(early.least <= late.most && late.least <= early.most, JSON.stringify([early, late]));
});

test('mark() gives the time that it recorded', () => {
  const { timeline: recorded, fastCalls } = timeline();
  const starts = [];
  for (let i = 0; i < 20_000; i++) starts.push(fastCalls.mark(i % 7));
  const { names, sequences, times, types } = recorded.entries(0, -1);
  assert.equal(names.length, 20_000);
  starts.forEach((start, i) => {
    assert.deepEqual([types[i], names[i], sequences[i], times[2 * i], times[2 * i + 1]], [MARK, i % 7, i, start, 0]);
  });
});

test('resolve() gives the outcomes of the specification', () => {
  const timing = new Float64Array(21);
  timing.set([1_000, 0, 0, 0, 0, 1_250]);
  const page = timeline({ timing });
  const node = timeline();
  for (const { fastCalls } of [page, node]) {
    fastCalls.markAt(0, 10);
    fastCalls.markAt(1, 25.5);
  }
  const outcome = ({ fastCalls }, ...bounds) => check(() => fastCalls.resolve(...bounds.slice(0, 5)), bounds[5]);
  const range = ({ fastCalls }, ...bounds) => {
    outcome({ fastCalls }, ...bounds.slice(0, 5), 0);
    assert.deepEqual([...fastCalls.result], bounds[5]);
  };
  range(page, NAMED, 0, NAMED, 1, NaN, [10, 15.5]);
  range(page, TIME, 1.23456789, NAMED, 0, NaN, [1.23456789, 10 - 1.23456789]);
  range(page, OMITTED, 0, NAMED, 1, 5.5, [20, 5.5]);
  range(page, ATTRIBUTE, 0, ATTRIBUTE, 5, NaN, [0, 250]);
  outcome(page, UNKNOWN, 0, NAMED, 1, NaN, 1);
  outcome(page, NAMED, 9, NAMED, 1, NaN, 1);
  outcome(page, NAMED, 0, NAMED, 4e9, NaN, 2);
  outcome(page, ATTRIBUTE, LOAD_EVENT_END, NAMED, 1, NaN, 3);
  outcome(page, NAMED, 0, ATTRIBUTE, LOAD_EVENT_END, NaN, 4);
  outcome(node, ATTRIBUTE, 0, NAMED, 1, NaN, 5);
  outcome(node, NAMED, 0, ATTRIBUTE, 0, NaN, 6);
  outcome(page, TIME, -1, NAMED, 1, NaN, 7);
  outcome(page, NAMED, 0, TIME, -1, NaN, 8);
  outcome(page, NAMED, 0, OMITTED, 0, -1, 9);
  outcome(page, NAMED, 0, NAMED, 1, 1, 10);
  outcome(page, OMITTED, 0, OMITTED, 0, 1, 11);
  // What the face never passes.
  outcome(page, 9, 0, NAMED, 1, NaN, NaN);
  outcome(page, ATTRIBUTE, 21, NAMED, 1, NaN, NaN);
});

test('clear() says how many names it left unused, and uses() which', () => {
  const ALL = 2 ** 32 - 1;
  const { timeline: recorded, fastCalls } = timeline();
  for (let round = 0; round < 20_000; round++) {
    fastCalls.markAt(1, 5);
    fastCalls.markAt(2, 6);
    fastCalls.measureAt(2, 5, 1);
    assert.deepEqual([fastCalls.uses(1), fastCalls.uses(2), fastCalls.uses(3)], [1, 1, 0]);
    assert.deepEqual([fastCalls.clear(MEASURE, 1), fastCalls.clear(MARK, 3), fastCalls.clear(MARK, 2)], [0, 0, 0]);
    assert.deepEqual([fastCalls.clear(MARK, 1), fastCalls.uses(1), fastCalls.uses(2)], [1, 0, 1]);
    fastCalls.markAt(4, 1);
    assert.deepEqual(
      [fastCalls.clear(MARK, ALL), fastCalls.clear(MEASURE, ALL), fastCalls.clear(MEASURE, ALL)],
      [1, 1, 0],
    );
  }
  assert.equal(recorded.entries(0, -1).names.length, 0);
  assert.equal(fastCalls.clear(0, 1), NaN);
});

test('PerformanceTiming changes while a page loads', () => {
  const timing = new Float64Array(21);
  const { timeline: page, fastCalls } = timeline({ timing });
  assert.equal(fastCalls.resolve(OMITTED, 0, ATTRIBUTE, LOAD_EVENT_END, NaN), 4);
  timing.set([100]);
  timing.set([400], LOAD_EVENT_END);
  page.setTiming(timing);
  assert.equal(fastCalls.resolve(OMITTED, 0, ATTRIBUTE, LOAD_EVENT_END, NaN), 0);
  assert.deepEqual([...fastCalls.result], [0, 300]);
});

test('functions refuse what is not a number, and do nothing then', () => {
  const { timeline: recorded, fastCalls } = timeline();
  const refused = [undefined, null, '1', true, {}, [1], 1n, Symbol(), { valueOf: () => assert.fail('was called') }];
  for (let round = 0; round < 3; round++) {
    for (const value of refused) assert.equal(fastCalls.mark(value), undefined);
    for (const value of refused) assert.equal(fastCalls.measureAt(0, 1, value), undefined);
    assert.equal(fastCalls.mark(), undefined);
    assert.equal(fastCalls.resolve(OMITTED, 0, OMITTED, 0), undefined);
    // Optimised in between.
    check(() => fastCalls.markAt(1, 1.5), 1);
    recorded.clear(0, -1);
  }
  assert.equal(recorded.entries(0, -1).names.length, 0);
});

test('functions refuse another this', () => {
  const { fastCalls } = timeline();
  for (const self of [
    undefined,
    {},
    globalThis,
    Object.create(fastCalls),
    new Proxy(fastCalls, {}),
    Object.getPrototypeOf(fastCalls),
  ]) {
    assert.throws(() => fastCalls.now.call(self), TypeError);
    assert.throws(() => fastCalls.mark.call(self, 1), TypeError);
  }
  // Each serves every timeline.
  const other = timeline();
  other.fastCalls.mark.call(fastCalls, 1);
  assert.equal(other.timeline.latest(1), NaN);
});

test('constructor arguments are checked', () => {
  const rows = [
    [-1, 5],
    [NaN, 5],
    [Infinity, 5],
    [0, 0],
    [0, 20],
    [0, 5, undefined, new Float64Array(20)],
  ];
  for (const row of rows) assert.throws(() => new native.Timeline(...row), /InvalidArg|origin|resolution|attributes/);
});

test('ten million marks against a bounded buffer lose nothing that was recorded', () => {
  const { timeline: bounded, fastCalls } = timeline({ limits: { mark: 1_000, measure: 1 } });
  let kept = 0;
  for (let i = 0; i < 1e7; i++) kept += fastCalls.markAt(i % 10, i);
  assert.equal(kept, 1_000);
  assert.deepEqual([bounded.dropped(MARK), bounded.room(MARK)], [1e7 - 1_000, 0]);
  const { sequences, times } = bounded.entries(MARK, -1);
  assert.deepEqual([...sequences], [...Array(1_000).keys()]);
  assert.ok(times.filter((_, i) => i % 2 === 0).every((time, i) => time === i));
  assert.equal(fastCalls.measureAt(0, 0, 1), 1);
  assert.deepEqual([bounded.room(MEASURE), bounded.entries(MEASURE, -1).sequences[0]], [0, 1e7]);
});

test('a weakly referenced object lives as long as a strong reference to it, and no longer', async () => {
  const { timeline: made, fastCalls: keeper } = timeline();
  const held = { number: 1 };
  keeper.setWeak(1, held);
  for (let i = 2; i < 10_000; i++) keeper.setWeak(i, { i });
  await turn();
  gc();
  assert.equal(keeper.getWeak(1), held);
  let alive = 0;
  for (let i = 2; i < 10_000; i++) alive += keeper.getWeak(i) === undefined ? 0 : 1;
  assert.equal(alive, 0);
  const other = {};
  keeper.setWeak(1, other);
  assert.equal(keeper.getWeak(1), other);
  assert.equal(keeper.getWeak(99_999), undefined);
  for (const value of [undefined, 1, 'text']) assert.equal(keeper.setWeak(2, value), undefined);
  assert.equal(keeper.getWeak(2), undefined);
  made.clear(0, -1);
  assert.equal(keeper.getWeak(1), undefined);
});

test('unreferenced objects are collected in the middle of a job', () => {
  const { fastCalls: keeper } = timeline();
  gc();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 100_000; i++) keeper.setWeak(i, new Array(100).fill(i));
  gc();
  assert.ok(process.memoryUsage().heapUsed - before < 20e6);
});

test('timelines are collected, whichever of their two objects goes last', async () => {
  /** Each has a kilobyte of marks and eight of names. */
  async function make(count, hold) {
    for (let i = 0; i < count; i++) {
      const { timeline: made, fastCalls } = timeline();
      fastCalls.mark(1);
      fastCalls.setWeak(1, fastCalls);
      hold.push(i % 2 === 0 ? made : fastCalls);
      if (i % 1_000 === 999) {
        hold.length = 0;
        gc();
        // Node-API's finalizers run in a task of their own.
        await turn();
      }
    }
  }
  await make(5_000, []);
  const before = process.memoryUsage().rss;
  await make(20_000, []);
  const grown = process.memoryUsage().rss - before;
  assert.ok(grown < 50e6, `${grown} bytes more`);
});

test('a function outlives the timeline that it was made from', async () => {
  let { fastCalls } = timeline();
  const { result } = fastCalls;
  fastCalls.markAt(0, 5);
  gc();
  await turn();
  assert.equal(fastCalls.resolve(NAMED, 0, TIME, 7, NaN), 0);
  fastCalls = undefined;
  gc();
  await turn();
  assert.deepEqual([...result], [5, 2]);
});

const PROGRAM = `
  const { isMainThread, parentPort, Worker } = require('node:worker_threads');
  const native = require(${JSON.stringify(`${PACKAGE}src/native.cjs`)});
  const source = ${'`'}
    const { parentPort } = require('node:worker_threads');
    const native = require(${JSON.stringify(`${PACKAGE}src/native.cjs`)});
    globalThis.timelines = Array.from({ length: 20 }, () => new native.Timeline(native.now(), 5));
    globalThis.allCalls = timelines.map((timeline) => timeline.fastCalls());
    for (const fastCalls of allCalls) for (let i = 0; i < 200; i++) fastCalls.setWeak(i, i % 2 ? timelines : {});
    for (const fastCalls of allCalls) for (let i = 0; i < 5_000; i++) fastCalls.mark(i & 63);
    parentPort?.postMessage('marked');
  ${'`'};
`;

/** Runs a program that ends with timelines in use, a few times. */
async function checkEnd(program, expected) {
  for (let i = 0; i < 5; i++) {
    const ended = await runProgram(PROGRAM + program);
    assert.deepEqual(ended, { code: 0, signal: null, stdout: '', stderr: '', ...expected });
  }
}

test('a program ends with timelines in use', () => checkEnd('eval(source)', {}));

test('process.exit() with timelines in use', () => checkEnd('eval(source); process.exit(3)', { code: 3 }));

test('a worker comes to its end with timelines in use', () => checkEnd('new Worker(source, { eval: true })', {}));

test('a worker is terminated in the middle of a mark', () =>
  checkEnd(
    `const worker = new Worker(source + ';for (;;) allCalls[0].mark(1)', { eval: true });
     worker.once('message', () => setTimeout(() => worker.terminate(), 20))`,
    {},
  ));

test('process.exit() in a worker with timelines in use', () =>
  checkEnd(`new Worker(source + ';process.exit(0)', { eval: true })`, {}));

test('a profiler sees a program that marks', () =>
  checkEnd(
    `eval(source);
     const { Profiler } = require(${JSON.stringify(PACKAGE)});
     const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1e5 });
     function marking() {
       for (const end = performance.now() + 100; performance.now() < end; ) {
         for (let i = 0; i < 1_000; i++) allCalls[0].mark(i & 7);
       }
     }
     marking();
     profiler.stop().then(({ frames }) => process.exit(frames.some(({ name }) => name === 'marking') ? 0 : 1));`,
    {},
  ));
