// Labels of samples: `withLabels` and `setLabels` of selfprof/agent.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { PACKAGE } from './program.mjs';
import { labelsOf, record } from './recorded.mjs';

const AGENT = JSON.stringify(`${PACKAGE}/agent.cjs`);
const IS_FREE = Number(process.versions.node.split('.')[0]) >= 24;

/** Functions that each take some milliseconds and make garbage, and the program's labels. */
const PRELUDE = `
const { setLabels, withLabels } = require(${AGENT});
function work(milliseconds) {
  let kept = [];
  // Time in which other threads had the processor does not count.
  for (let last = performance.now(), left = milliseconds; left > 0; ) {
    if (kept.push({ x: Math.random() }) > 5000) kept = [];
    const now = performance.now();
    left -= Math.min(now - last, 0.5);
    last = now;
  }
}
function first(ms = 100) { work(ms); }
function second(ms = 100) { work(ms); }
function third(ms = 100) { work(ms); }
function none(ms = 100) { work(ms); }
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
`;
const FUNCTIONS = ['first', 'second', 'third', 'none'];

/**
 * Checks the labels of one function's samples. When V8 deoptimises a function, it takes a sample without a signal; its
 * labels are unknown if they change around that time.
 */
function checkLabels(name, counts, labels) {
  const { [JSON.stringify(labels)]: count = 0, ...others } = counts;
  const { null: unknown = 0, ...wrong } = others;
  assert.deepEqual(wrong, {}, name);
  assert.ok(count >= 1 && unknown <= 2 + count / 20, `${name}: ${JSON.stringify(counts)}`);
}

/** Runs a program that labels its work, and checks the labels of each function. */
async function check(t, source, expected, settings = {}) {
  const { code, stderr, journals, failures } = await record(t, PRELUDE + source, {
    settings: { labels: true, ...settings },
  });
  assert.deepEqual([code, stderr, failures], [0, '', []]);
  const counts = labelsOf(journals.main, FUNCTIONS);
  for (const [name, labels] of Object.entries(expected)) {
    checkLabels(name, counts[name], labels);
  }
}

test('functions and what they call', (t) =>
  check(
    t,
    `
    const returned = withLabels({ route: '/a', tenant: 7 }, (a, b) => {
      first();
      withLabels({ route: '/b' }, second);
      withLabels({ tenant: undefined, user: 'x' }, third);
      first();
      return a + b;
    }, 40, 2);
    if (returned !== 42) throw new Error(returned);
    none();
    `,
    {
      first: { route: '/a', tenant: '7' },
      second: { route: '/b', tenant: '7' },
      third: { route: '/a', user: 'x' },
      none: null,
    },
  ));

test('await, timers, promises, streams and emitters, beside each other', (t) =>
  check(
    t,
    `
    const { Readable } = require('node:stream');
    const rounds = async (fn) => {
      for (let round = 0; round < 8; round++) {
        fn(3);
        await null;
        fn(3);
        await sleep(1);
      }
    };
    const streamed = async () => {
      for await (const _ of Readable.from([1, 2, 3, 4, 5, 6])) {
        third(4);
        await new Promise((done) => setImmediate(done));
      }
    };
    const all = [
      withLabels({ task: 'first' }, rounds, first),
      withLabels({ task: 'second' }, rounds, second),
      withLabels({ task: 'third' }, streamed),
      rounds(none),
    ];
    Promise.all(all).then(() => none());
    `,
    { first: { task: 'first' }, second: { task: 'second' }, third: { task: 'third' }, none: null },
  ));

test('setLabels holds for the rest of an async context', (t) =>
  check(
    t,
    `
    (async () => {
      const task = async () => {
        setLabels({ step: 1 });
        first();
        await sleep(1);
        setLabels({ step: 2 });
        second();
        await sleep(1);
        setLabels({ step: undefined });
        none();
      };
      await task();
    })();
    `,
    { first: { step: '1' }, second: { step: '2' } },
  ));

test('a function that throws', (t) =>
  check(
    t,
    `
    try {
      withLabels({ a: 1 }, () => {
        first();
        throw new Error('expected');
      });
    } catch {}
    none();
    `,
    { first: { a: '1' }, none: null },
  ));

test('many collections, at a short interval', (t) =>
  check(
    t,
    `
    const { setFlagsFromString } = require('node:v8');
    setFlagsFromString('--expose-gc');
    const gc = require('node:vm').runInNewContext('gc');
    const rounds = async (fn, kind) => {
      for (let round = 0; round < 30; round++) {
        fn(2);
        gc({ type: kind });
        fn(2);
        await null;
      }
    };
    Promise.all([
      withLabels({ task: 'first' }, rounds, first, 'minor'),
      withLabels({ task: 'second' }, rounds, second, 'major'),
    ]);
    `,
    { first: { task: 'first' }, second: { task: 'second' } },
  ));

test('labels of any form', (t) =>
  check(
    t,
    `
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => ['n' + String(at).padStart(2, '0'), at]));
    withLabels(many, () => withLabels({ n05: null, n06: undefined }, first));
    withLabels({ ['x'.repeat(300)]: 'y'.repeat(300), __proto__: { inherited: 1 } }, second);
    withLabels(Object.fromEntries([['__proto__', 'own'], ['\\ud800', '\\u202e']]), third);
    `,
    {
      first: Object.fromEntries(
        Array.from({ length: 32 }, (_, at) => at)
          .filter((at) => at !== 5 && at !== 6)
          .map((at) => [`n${String(at).padStart(2, '0')}`, String(at)]),
      ),
      second: { ['x'.repeat(256)]: 'y'.repeat(256) },
      third: Object.fromEntries([
        ['__proto__', 'own'],
        ['\ufffd', '\u202e'],
      ]),
    },
  ));

test('ever new labels', (t) =>
  check(
    t,
    `
    for (let user = 0; user < 60_000; user++) withLabels({ user }, () => {});
    withLabels({ user: 'last' }, first);
    for (let user = 0; user < 15_000; user++) withLabels({ user }, () => {});
    withLabels({ user: 'last' }, second);
    `,
    { first: { user: 'last' }, second: { user: 'last' } },
  ));

test('a worker', async (t) => {
  const source = `
    const { Worker } = require('node:worker_threads');
    new Worker(${JSON.stringify(`${PRELUDE}withLabels({ in: 'worker' }, () => { first(); setTimeout(second, 1); });`)}, { eval: true })
      .on('exit', () => withLabels({ in: 'main' }, third));
    ${PRELUDE}`;
  const { journals } = await record(t, source, { settings: { labels: true } });
  const [worker] = Object.keys(journals).filter((name) => name !== 'main');
  const counts = labelsOf(journals[worker], FUNCTIONS);
  checkLabels('first', counts.first, { in: 'worker' });
  checkLabels('second', counts.second, { in: 'worker' });
  checkLabels('third', labelsOf(journals.main, FUNCTIONS).third, { in: 'main' });
});

test('by default, samples have labels where that costs nothing', async (t) => {
  const source = `${PRELUDE}withLabels({ a: 1 }, first);`;
  for (const [labels, expected] of [
    ['free', IS_FREE ? { a: '1' } : null],
    [false, null],
  ]) {
    const { journals } = await record(t, source, { settings: { labels } });
    checkLabels('first', labelsOf(journals.main, FUNCTIONS).first, expected);
  }
});

test('without a recording, functions are called as they are', async () => {
  const { default: agent } = await import(`${PACKAGE}/agent.cjs`);
  agent.setLabels({ a: 1 });
  assert.equal(
    agent.withLabels({ a: 1 }, (a, b) => a * b, 6, 7),
    42,
  );
});
