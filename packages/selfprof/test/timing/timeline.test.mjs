// getEntries(), getEntriesByType(), getEntriesByName(): order, filters, and that an entry stays the same object.

import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, suite, test } from 'node:test';

import { createTiming } from 'selfprof/timing';

import { collect } from './collect.mjs';
import { assertSame } from './same.mjs';

let performance;
beforeEach(() => {
  ({ performance } = createTiming({ crossOriginIsolated: true }));
});

const names = (entries) => entries.map(({ name }) => name).join(' ');

suite('entries come', () => {
  test('in the order of their start times', () => {
    for (const [name, startTime] of Object.entries({ c: 30, a: 10, d: 40, b: 20 }))
      performance.mark(name, { startTime });
    performance.measure('e', { start: 25, end: 26 });
    performance.measure('0', { start: 0, end: 100 });
    assert.equal(names(performance.getEntries()), '0 a b e c d');
    assert.equal(names(performance.getEntriesByType('mark')), 'a b c d');
    assert.equal(names(performance.getEntriesByType('measure')), '0 e');
  });

  test('in the order of the calls when they start together', () => {
    performance.mark('a', { startTime: 5 });
    performance.measure('b', { start: 5, end: 5 });
    performance.mark('c', { startTime: 5 });
    performance.mark('d', { startTime: 4 });
    performance.measure('e', { start: 5, end: 4 });
    assert.equal(names(performance.getEntries()), 'd a b c e');
  });

  test('with start times below 0 first', () => {
    performance.mark('zero', { startTime: 0 });
    performance.measure('negative', { duration: 10, end: 4 });
    performance.mark('minus zero', { startTime: -0 });
    assert.equal(names(performance.getEntries()), 'negative zero minus zero');
  });

  test('of as many marks as there are', () => {
    for (let i = 0; i < 5000; i++) performance.mark(`n${i % 7}`, { startTime: (i * 7919) % 5000 });
    const entries = performance.getEntries();
    assert.equal(entries.length, 5000);
    assert.ok(entries.every((entry, index) => entry.startTime === index));
    assert.equal(performance.getEntriesByName('n3').length, 714);
  });
});

suite('filters', () => {
  beforeEach(() => {
    performance.mark('a', { startTime: 1 });
    performance.mark('b', { startTime: 2 });
    performance.measure('a', { start: 3, end: 4 });
    performance.mark('a', { startTime: 5 });
  });
  function check(method, args, expected) {
    test(`${method}(${args.map(String).join(', ')})`, () => {
      const shown = performance[method](...args).map(
        ({ name, entryType, startTime }) => `${name}:${entryType}:${startTime}`,
      );
      assert.deepEqual(shown, expected);
    });
  }
  const [A1, B2, A3, A5] = ['a:mark:1', 'b:mark:2', 'a:measure:3', 'a:mark:5'];
  check('getEntries', [], [A1, B2, A3, A5]);
  check('getEntries', [{ name: 'b' }], [A1, B2, A3, A5]);
  check('getEntriesByType', ['mark'], [A1, B2, A5]);
  check('getEntriesByType', ['measure'], [A3]);
  check('getEntriesByType', ['Mark'], []);
  check('getEntriesByType', ['resource'], []);
  check('getEntriesByType', [''], []);
  check('getEntriesByType', [undefined], []);
  check('getEntriesByType', [{ toString: () => 'measure' }], [A3]);
  check('getEntriesByName', ['a'], [A1, A3, A5]);
  check('getEntriesByName', ['a', undefined], [A1, A3, A5]);
  check('getEntriesByName', ['a', 'mark'], [A1, A5]);
  check('getEntriesByName', ['a', 'measure'], [A3]);
  check('getEntriesByName', ['a', 'MARK'], []);
  check('getEntriesByName', ['a', null], []);
  check('getEntriesByName', ['A'], []);
  check('getEntriesByName', ['b', 'measure'], []);
  check('getEntriesByName', ['none'], []);
  check('getEntriesByName', ['__proto__'], []);
  check('getEntriesByName', [undefined], []);
  check('getEntriesByName', ['navigationStart'], []);

  test('convert their arguments', () => {
    for (const method of ['getEntriesByType', 'getEntriesByName']) {
      assert.throws(() => performance[method](), TypeError);
      assert.throws(() => performance[method](Symbol('s')), TypeError);
    }
    assert.throws(() => performance.getEntriesByName('a', Symbol('s')), TypeError);
  });

  test('tell lone surrogates apart', () => {
    const lone = ['\ud800', '\ud801', '\udc00', '\ufffd', '\ud800\udc00'];
    for (const name of lone) performance.mark(name);
    for (const name of lone)
      assert.deepEqual(
        performance.getEntriesByName(name).map((entry) => entry.name),
        [name],
      );
  });

  test('return a new array each time', () => {
    for (const list of [() => performance.getEntries(), () => performance.getEntriesByName('a')]) {
      assert.ok(Array.isArray(list()));
      assert.notEqual(list(), list());
      list().length = 0;
      assert.ok(list().length > 0);
    }
  });
});

suite('an entry', () => {
  test('is the object that made it', () => {
    const made = [];
    for (let i = 0; i < 300; i++)
      made.push(
        i % 3 === 0 ? performance.measure(`${i}`, { start: i, end: i }) : performance.mark(`${i}`, { startTime: i }),
      );
    const entries = performance.getEntries();
    assert.ok(entries.length === 300 && entries.every((entry, index) => entry === made[index]));
  });

  test('stays the same object while it is referenced', async () => {
    const held = new Map();
    for (let i = 0; i < 3000; i++) {
      const mark = performance.mark('m', { startTime: i });
      if (i % 1000 === 500) held.set(i, mark);
    }
    for (let round = 0; round < 3; round++) {
      await turn();
      collect();
      for (const [index, mark] of held) assert.equal(performance.getEntriesByName('m')[index], mark);
    }
  });

  test('is recreated with the same values when it was not referenced', async () => {
    const ids = [];
    for (let i = 0; i < 1000; i++) ids.push(performance.measure(`${i % 10}`, { start: i + 0.25, end: 2 * i }).id);
    await turn();
    collect();
    const entries = performance.getEntriesByType('measure');
    entries.forEach((entry, i) => {
      assert.deepEqual(
        [entry.name, entry.startTime, entry.duration, entry.detail],
        [`${i % 10}`, i + 0.25, 2 * i - (i + 0.25), null],
      );
      assert.equal(entry.id, ids[i]);
    });
    // And then is one object again.
    assert.ok(performance.getEntriesByName('3').every((entry, index) => entry === entries[10 * index + 3]));
  });

  test('keeps its detail without a reference from the program', async () => {
    for (let i = 0; i < 500; i++) performance.mark('m', { startTime: i, detail: i % 5 === 0 ? { i } : undefined });
    await turn();
    collect();
    for (const [i, { detail }] of performance.getEntriesByName('m').entries()) {
      assert.deepEqual(detail, i % 5 === 0 ? { i } : null);
    }
  });

  test('is collected with its timeline', async () => {
    const weak = [];
    const big = () => ({ big: new Array(1000).fill('x') });
    for (let i = 0; i < 200; i++) weak.push(new WeakRef(performance.mark('m', { detail: big() })));
    performance.clearMarks('m');
    for (let i = 0; i < 200; i++) weak.push(new WeakRef(performance.mark(`${i}`)));
    performance.clearMarks();
    for (let i = 0; i < 64; i++) performance.mark('next');
    await turn();
    collect();
    const alive = weak.filter((reference) => reference.deref() !== undefined).length;
    assert.equal(alive, 0);
  });

  test('that was cleared is no longer found', () => {
    const cleared = performance.mark('m', { startTime: 1 });
    performance.clearMarks();
    const next = performance.mark('m', { startTime: 1 });
    assert.notEqual(next, cleared);
    assertSame(performance.getEntries(), [next]);
  });
});

suite('a timeline', () => {
  test('forgets names that are marked and cleared again', () => {
    const memory = () => {
      collect();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const before = memory();
    for (let i = 0; i < 100_000; i++) {
      performance.mark(`request ${i}`);
      performance.measure(`time of ${i}`, `request ${i}`);
      performance.clearMarks(`request ${i}`);
      performance.clearMeasures(`time of ${i}`);
    }
    for (let i = 0; i < 100_000; i++) performance.mark(`all ${i}`);
    performance.clearMarks();
    const grown = memory() - before;
    assert.ok(grown < 2e6, `${grown} bytes`);
    assertSame(performance.getEntries(), []);
  });

  test('knows a name again that it had forgotten', () => {
    for (let i = 0; i < 1000; i++) {
      const name = `name ${i % 300}`;
      const mark = performance.mark(name, { startTime: i });
      assertSame(performance.getEntriesByName(name), [mark]);
      assert.equal(performance.measure('m', name).startTime, i);
      performance.clearMarks(name);
      assertSame(performance.getEntriesByName(name), []);
      assert.throws(() => performance.measure('m', name), { name: 'SyntaxError' });
      assert.deepEqual([performance.getMarks(), performance.getMarks(name)], [{}, []]);
    }
    assert.equal(performance.getEntriesByName('m').length, 1000);
  });

  test('keeps entries and their objects together when the stack overflows', () => {
    // Where in a mark() the stack ends is chance: frames of many sizes hit each place.
    for (let size = 0; size < 400; size++) {
      ({ performance } = createTiming());
      performance.mark('deep');
      const dive = (...padding) => {
        performance.mark('deep', size % 4 === 0 ? { detail: size } : undefined);
        dive(...padding);
      };
      assert.throws(() => dive(...new Array(size % 50)), RangeError);
      const after = [
        performance.mark('after'),
        performance.measure('after', 'deep'),
        performance.mark('after', { detail: size }),
      ];
      const found = performance.getEntriesByName('after');
      assert.ok(found.length === 3 && found.every((entry) => after.includes(entry)), `${size}`);
    }
  });

  test('is its own', () => {
    const other = createTiming().performance;
    performance.mark('mine');
    assert.deepEqual(other.getEntries(), []);
    assert.throws(() => other.measure('m', 'mine'), { name: 'SyntaxError' });
  });

  test('takes no object of another', () => {
    const other = createTiming();
    const { get } = Object.getOwnPropertyDescriptor(other.PerformanceEntry.prototype, 'name');
    assert.throws(() => Reflect.apply(get, performance.mark('mine'), []), TypeError);
    assert.throws(() => Reflect.apply(other.performance.mark, performance, ['m']), TypeError);
  });
});

suite('a bounded buffer', () => {
  test('keeps the first and counts the others', () => {
    const { performance: bounded } = createTiming({ limits: { mark: 3, measure: 1 } });
    const made = ['a', 'b', 'c', 'd', 'a'].map((name) => bounded.mark(name));
    made.push(bounded.measure('x'), bounded.measure('y', 'a'));
    assert.equal(names(made), 'a b c d a x y', 'each call gives its entry');
    assert.equal(names(bounded.getEntriesByType('mark')), 'a b c');
    assert.equal(names(bounded.getEntriesByType('measure')), 'x');
    assert.equal(bounded.getEntriesByName('a')[0], made[0]);
    assert.throws(() => bounded.measure('m', 'd'), { name: 'SyntaxError' }, 'a dropped mark is not on the timeline');
  });

  test('has room again when it was cleared', () => {
    const { performance: bounded } = createTiming({ limits: { mark: 2 } });
    for (const name of ['a', 'b', 'c']) bounded.mark(name);
    bounded.clearMarks('a');
    for (const name of ['d', 'e']) bounded.mark(name, { detail: name });
    assert.equal(names(bounded.getEntries()), 'b d');
    bounded.clearMarks();
    for (const name of ['f', 'g', 'h']) bounded.mark(name);
    assert.equal(names(bounded.getEntries()), 'f g');
  });

  test('of size 0 keeps nothing', () => {
    const { performance: bounded } = createTiming({ limits: { mark: 0, measure: 0 } });
    bounded.mark('a', { detail: 1 });
    bounded.measure('b');
    assert.deepEqual(bounded.getEntries(), []);
    assert.deepEqual(bounded.getMarks(), {});
  });

  test('uses constant memory through 10^7 marks, and loses none of its entries', { timeout: 120_000 }, () => {
    const { performance: bounded } = createTiming({ limits: { mark: 1000 } });
    const memory = () => {
      collect();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    for (let i = 0; i < 1000; i++) bounded.mark(`first ${i}`);
    const expected = bounded.getEntries().map(({ name, startTime }) => [name, startTime]);
    const before = memory();
    // Names of their own, which a timeline must not keep either.
    for (let i = 0; i < 1e7; i++) bounded.mark(i % 50 === 0 ? `other ${i}` : 'first 1');
    const grown = memory() - before;
    assert.ok(grown < 8e6, `${grown} bytes`);
    assert.deepEqual(
      bounded.getEntries().map(({ name, startTime }) => [name, startTime]),
      expected,
    );
  });
});
