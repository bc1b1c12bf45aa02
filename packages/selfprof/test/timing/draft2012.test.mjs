// What the Working Draft of 8 May 2012 has and Level 3 has not: getMarks(), getMeasures().
// https://www.w3.org/TR/2012/WD-user-timing-20120508/

import assert from 'node:assert/strict';
import { beforeEach, suite, test } from 'node:test';

import { createTiming } from 'selfprof/timing';

let performance;
beforeEach(() => {
  ({ performance } = createTiming({ timing: { navigationStart: 1000, responseEnd: 1005 } }));
});

suite('getMarks()', () => {
  beforeEach(() => {
    for (const [name, startTime] of [
      ['b', 2],
      ['a', 30],
      ['b', 1.25],
      ['a', 4],
    ])
      performance.mark(name, { startTime });
    performance.measure('m', 'a', 'b');
  });

  test('gives the times of all marks by name, in the order of the calls', () => {
    assert.deepEqual(performance.getMarks(), { b: [2, 1.25], a: [30, 4] });
    assert.deepEqual(Object.keys(performance.getMarks()), ['b', 'a']);
  });

  for (const [name, expected] of [
    ['a', [30, 4]],
    ['b', [2, 1.25]],
    ['m', []],
    ['none', []],
    ['', []],
    ['navigationStart', []],
    [null, []],
    [{ toString: () => 'a' }, [30, 4]],
  ]) {
    test(`gives the times of the name ${String(name)}`, () => {
      const times = performance.getMarks(name);
      assert.ok(Array.isArray(times));
      assert.deepEqual(times, expected);
    });
  }

  test('takes undefined for no name', () => {
    assert.deepEqual(performance.getMarks(undefined), performance.getMarks());
    assert.throws(() => performance.getMarks(Symbol('s')), TypeError);
  });

  test('gives copies', () => {
    performance.getMarks().a.length = 0;
    performance.getMarks('a').push(99);
    delete performance.getMarks().b;
    performance.getMarks('none').push(1);
    assert.deepEqual(performance.getMarks(), { b: [2, 1.25], a: [30, 4] });
    const before = performance.getMarks();
    performance.clearMarks('a');
    performance.mark('c', { startTime: 9 });
    assert.deepEqual(before, { b: [2, 1.25], a: [30, 4] });
    assert.deepEqual(performance.getMarks(), { b: [2, 1.25], c: [9] });
  });

  test('gives nothing when there is nothing', () => {
    performance.clearMarks();
    assert.deepEqual(performance.getMarks(), {});
    assert.deepEqual(performance.getMarks('a'), []);
  });
});

suite('getMeasures()', () => {
  beforeEach(() => {
    performance.mark('m', { startTime: 5 });
    for (const [name, start, end] of [
      ['late', 50, 60],
      ['early', 1, 4],
      ['late', 3, 1],
    ])
      performance.measure(name, { start, end });
  });

  test('gives the durations of all measures by name, in the order of the calls', () => {
    assert.deepEqual(performance.getMeasures(), { late: [10, -2], early: [3] });
    assert.deepEqual(performance.getMeasures(undefined), { late: [10, -2], early: [3] });
  });

  test('gives the durations of a name', () => {
    assert.deepEqual(performance.getMeasures('late'), [10, -2]);
    assert.deepEqual(performance.getMeasures('m'), []);
    assert.deepEqual(performance.getMeasures('none'), []);
    assert.throws(() => performance.getMeasures(Symbol('s')), TypeError);
  });

  test('gives copies', () => {
    performance.getMeasures('late').length = 0;
    performance.getMeasures().early.push(1);
    performance.clearMeasures('late');
    assert.deepEqual(performance.getMeasures(), { early: [3] });
  });
});

suite('both', () => {
  test('take any name', () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', '0', 'length', '\ud800', '\udc00'];
    for (const name of names) {
      performance.mark(name, { startTime: 7 });
      performance.measure(name, { start: 7, end: 8 });
    }
    for (const [all, expected] of [
      [performance.getMarks(), [7]],
      [performance.getMeasures(), [1]],
    ]) {
      assert.deepEqual(new Set(Object.keys(all)), new Set(names));
      assert.equal(Object.getPrototypeOf(all), Object.prototype);
      for (const name of names) {
        const { value, ...attributes } = Object.getOwnPropertyDescriptor(all, name);
        assert.deepEqual(value, expected, JSON.stringify(name));
        assert.deepEqual(attributes, { writable: true, enumerable: true, configurable: true });
      }
    }
    for (const name of names) assert.deepEqual([performance.getMarks(name), performance.getMeasures(name)], [[7], [1]]);
  });
});

suite('in the words of the draft', () => {
  const times = (name) => performance.getMarks(name);

  test('marks are counted from the start of the navigation', () => {
    const before = performance.now();
    performance.mark('now');
    assert.ok(times('now')[0] >= before && times('now')[0] <= performance.now());
  });

  test('a measure without marks lasts from the start of the navigation until now', () => {
    const before = performance.now();
    performance.measure('all');
    const [duration] = performance.getMeasures('all');
    assert.ok(duration >= before && duration <= performance.now());
  });

  test('a measure takes the latest mark of a name', () => {
    performance.mark('again', { startTime: 10 });
    performance.mark('again', { startTime: 3 });
    performance.mark('end', { startTime: 20 });
    performance.measure('m', 'again', 'end');
    assert.deepEqual(performance.getMeasures('m'), [17]);
  });

  test('a measure takes attributes of PerformanceTiming', () => {
    performance.mark('end', { startTime: 20 });
    performance.measure('from', 'responseEnd', 'end');
    performance.measure('to', 'navigationStart', 'responseEnd');
    assert.deepEqual(performance.getMeasures(), { from: [15], to: [5] });
  });

  test('errors match the draft', () => {
    assert.throws(() => performance.mark('loadEventEnd'), { name: 'SyntaxError' });
    assert.throws(() => performance.measure('m', 'missing'), { name: 'SyntaxError' });
    assert.throws(() => performance.measure('m', 'loadEventEnd'), { name: 'InvalidAccessError' });
    assert.deepEqual([performance.getMarks(), performance.getMeasures()], [{}, {}]);
  });
});
