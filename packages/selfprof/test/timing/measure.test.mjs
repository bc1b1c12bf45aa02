// measure() and clearMeasures(), outside of windows. What a window adds is in window.test.mjs.

import assert from 'node:assert/strict';
import { beforeEach, suite, test } from 'node:test';

import { performance, PerformanceEntry, PerformanceMeasure } from 'selfprof';

import { unclonable } from './details.mjs';
import { assertSame } from './same.mjs';

beforeEach(() => {
  performance.clearMarks();
  performance.clearMeasures();
  performance.mark('early', { startTime: 10 });
  performance.mark('late', { startTime: 50.5 });
});

suite('measure()', () => {
  /** A bound that is left out is now, which is `undefined` here. */
  function check(args, start, end) {
    test(`from ${JSON.stringify(args.map(show))}`, () => {
      const before = performance.now();
      const measure = performance.measure('measured', ...args);
      const after = performance.now();
      assert.ok(measure instanceof PerformanceMeasure && measure instanceof PerformanceEntry);
      assert.deepEqual([measure.name, measure.entryType], ['measured', 'measure']);
      assert.equal(measure.startTime, start);
      if (end === undefined) {
        // The sum of two doubles is not exact.
        const stop = measure.startTime + measure.duration;
        assert.ok(stop >= before - 1e-6 && stop <= after + 1e-6, `${before} ${stop} ${after}`);
      } else {
        assert.equal(measure.duration, end - start);
      }
      assertSame(performance.getEntriesByType('measure'), [measure]);
    });
  }
  check([], 0);
  check([undefined], 0);
  check([null], 0);
  check([{}], 0);
  check([[]], 0);
  check([() => {}], 0);
  check(['early'], 10);
  check(['early', undefined], 10);
  check(['early', 'late'], 10, 50.5);
  check(['late', 'early'], 50.5, 10);
  check(['late', 'late'], 50.5, 50.5);
  check([undefined, 'late'], 0, 50.5);
  check([null, 'late'], 0, 50.5);
  check([{}, 'late'], 0, 50.5);
  check([{ unknown: 1 }, 'late'], 0, 50.5);
  check([{ start: undefined, end: undefined, duration: undefined, detail: undefined }, 'late'], 0, 50.5);
  check([{ start: 'early' }], 10);
  check([{ start: 20 }], 20);
  check([{ start: 0 }], 0);
  check([{ end: 'late' }], 0, 50.5);
  check([{ end: 70 }], 0, 70);
  check([{ end: 0 }], 0, 0);
  check([{ start: 'early', end: 'late' }], 10, 50.5);
  check([{ start: 'late', end: 3 }], 50.5, 3);
  check([{ start: 1e300, end: 2e300 }], 1e300, 2e300);
  check([{ start: 'early', duration: 5 }], 10, 15);
  check([{ start: 1.5, duration: 0 }], 1.5, 1.5);
  check([{ duration: 0.5, end: 'late' }], 50, 50.5);
  check([{ duration: 80, end: 'late' }], -29.5, 50.5);
  check([{ duration: '2', end: 10 }], 8, 10);
  check([{ duration: null, end: 10 }], 10, 10);
  check([Object.create({ start: 'early', end: 'late' })], 10, 50.5);

  test('takes the latest mark of a name, in the order of the calls', () => {
    performance.mark('again', { startTime: 100 });
    performance.mark('again', { startTime: 30 });
    assert.equal(performance.measure('m', 'again').startTime, 30);
    assert.equal(performance.measure('m', 'again', 'again').startTime, 30);
    performance.clearMarks('late');
    performance.mark('again', { startTime: 40 });
    assert.equal(performance.measure('m', 'early', 'again').duration, 30);
  });

  test('takes marks of any name', () => {
    for (const name of ['', '\ud800', '\udc00', '__proto__', 'toString', '0']) {
      performance.mark(name, { startTime: 5 });
      assert.equal(performance.measure(name, name, 'late').startTime, 5, JSON.stringify(name));
    }
    assert.throws(() => performance.measure('m', '\udbff'), { name: 'SyntaxError' });
  });

  test('converts names, and numbers that are no member of options, to strings', () => {
    for (const name of ['51.15', 'null', 'true', '1,2']) performance.mark(name, { startTime: 5 });
    assert.equal(performance.measure('m', 51.15, 'late').startTime, 5);
    assert.equal(performance.measure('m', true, 'late').startTime, 5);
    assert.equal(performance.measure('m', 'early', null).duration, -5);
    assert.equal(performance.measure('m', 'early', [1, 2]).duration, -5);
    // Only numbers are times; other values are converted to strings.
    for (const start of [null, true, [1, 2], { toString: () => '51.15' }]) {
      assert.equal(performance.measure('m', { start, end: 9 }).duration, 4);
    }
    assert.equal(performance.measure(undefined).name, 'undefined');
    assert.equal(performance.measure('\ud800').name, '\ud800');
  });

  test('converts arguments in order, and members in lexicographical order', () => {
    const log = [];
    const string = (label, value) => ({ toString: () => (log.push(label), value) });
    const number = (label, value) => ({ valueOf: () => (log.push(label), value) });
    const members = { end: string('end', 'late'), duration: number('duration', 3), detail: null };
    const options = new Proxy(members, { get: (target, key) => (log.push(`get ${key}`), target[key]) });
    performance.measure(string('name', 'm'), options);
    assert.deepEqual(log, ['name', 'get detail', 'get duration', 'duration', 'get end', 'end', 'get start']);
    log.length = 0;
    assert.throws(() => performance.measure(string('name', 'm'), 'missing', string('end', 'late')), {
      name: 'SyntaxError',
    });
    assert.deepEqual(log, ['name', 'end']);
  });

  test('clones the detail', () => {
    const detail = { list: [1, 2] };
    const measure = performance.measure('m', { start: 0, detail });
    assert.deepEqual(measure.detail, detail);
    assert.notEqual(measure.detail, detail);
    assert.equal(measure.detail, performance.getEntriesByName('m')[0].detail);
    assert.equal(performance.measure('m', 'early', 'late').detail, null);
    assert.equal(performance.measure('m', { start: 0, detail: null }).detail, null);
    assert.equal(performance.measure('m', { start: 0, detail: 'text' }).detail, 'text');
  });
});

suite('measure() throws', () => {
  function check(args, expected) {
    test(`${expected.name} for ${JSON.stringify(args.map(show))}`, () => {
      assert.throws(() => performance.measure(...args), expected);
      // There is no measure, and its name is not remembered.
      assert.deepEqual(performance.getEntriesByType('measure'), []);
      assert.throws(() => performance.measure('m', args[0]), { name: 'SyntaxError' });
    });
  }
  const TYPE_ERROR = { name: 'TypeError' };
  const SYNTAX_ERROR = { name: 'SyntaxError', code: 12, message: /The mark '.*' does not exist/ };

  test('TypeError without arguments', () => {
    assert.throws(() => performance.measure(), {
      name: 'TypeError',
      message: /1 argument required, but only 0 present/,
    });
    assert.throws(() => performance.measure(Symbol('s')), TYPE_ERROR);
    assert.throws(() => performance.measure('m', Symbol('s')), TYPE_ERROR);
    assert.throws(() => performance.measure('m', 'early', Symbol('s')), TYPE_ERROR);
    assert.throws(() => performance.measure('m', undefined, Symbol('s')), TYPE_ERROR);
  });

  check(['m', 'missing'], SYNTAX_ERROR);
  check(['m', 'missing', 'late'], SYNTAX_ERROR);
  check(['m', 'early', 'missing'], SYNTAX_ERROR);
  check(['m', undefined, 'missing'], SYNTAX_ERROR);
  check(['m', { start: 'missing' }], SYNTAX_ERROR);
  check(['m', { end: 'missing' }], SYNTAX_ERROR);
  check(['m', { start: 'missing', duration: 1 }], SYNTAX_ERROR);
  check(['m', { end: 'missing', duration: 1 }], SYNTAX_ERROR);
  check(['m', 51.15], SYNTAX_ERROR);
  check(['m', 'early', null], SYNTAX_ERROR);
  // Step 1: what does not go together.
  check(['m', { start: 1 }, 'late'], TYPE_ERROR);
  check(['m', { end: 1 }, 'late'], TYPE_ERROR);
  check(['m', { duration: 1 }, 'late'], TYPE_ERROR);
  check(['m', { detail: null }, 'late'], TYPE_ERROR);
  check(['m', { start: 1 }, 12], TYPE_ERROR);
  check(['m', { detail: null }], TYPE_ERROR);
  check(['m', { detail: 'no times' }], TYPE_ERROR);
  check(['m', { duration: 1 }], TYPE_ERROR);
  check(['m', { detail: 1, duration: 1 }], TYPE_ERROR);
  check(['m', { start: 1, duration: 1, end: 2 }], TYPE_ERROR);
  check(['m', { start: 'missing', duration: 1, end: 'missing' }], TYPE_ERROR);
  // Invalid times.
  check(['m', { start: -1 }], TYPE_ERROR);
  check(['m', { end: -1 }], TYPE_ERROR);
  check(['m', { start: 1, duration: -1 }], TYPE_ERROR);
  check(['m', { end: 1, duration: -1 }], TYPE_ERROR);
  check(['m', { start: NaN }], TYPE_ERROR);
  check(['m', { end: Infinity }], TYPE_ERROR);
  check(['m', { start: 1, duration: -Infinity }], TYPE_ERROR);
  check(['m', { start: 1, duration: 'ten' }], TYPE_ERROR);
  check(['m', { start: 1, duration: 1n }], TYPE_ERROR);
  check(['m', { start: 1, duration: Symbol('s') }], TYPE_ERROR);
  check(['m', { start: Symbol('s') }], TYPE_ERROR);
  // Outside windows there is no PerformanceTiming.
  check(['m', 'navigationStart'], TYPE_ERROR);
  check(['m', 'early', 'loadEventEnd'], TYPE_ERROR);
  check(['m', { start: 'navigationStart', end: 5 }], TYPE_ERROR);
  for (const detail of unclonable()) check(['m', { start: 0, detail }], { name: 'DataCloneError' });

  test('TypeError for an attribute of PerformanceTiming, also when there is such a mark', () => {
    performance.mark('navigationStart');
    assert.throws(() => performance.measure('m', 'navigationStart', 'late'), TYPE_ERROR);
    assert.throws(() => performance.measure('m', 'early', 'navigationStart'), TYPE_ERROR);
    assert.equal(performance.measure('navigationStart').name, 'navigationStart');
  });

  test('for the end before it does for the start', () => {
    assert.throws(() => performance.measure('m', 'first', 'second'), { name: 'SyntaxError', message: /'second'/ });
    assert.throws(() => performance.measure('m', { start: -1, end: 'second' }), {
      name: 'SyntaxError',
      message: /'second'/,
    });
    assert.throws(() => performance.measure('m', 'navigationStart', 'second'), {
      name: 'SyntaxError',
      message: /'second'/,
    });
  });

  test('for the bounds before it does for the detail', () => {
    const detail = () => {};
    assert.throws(() => performance.measure('m', { start: 'missing', detail }), { name: 'SyntaxError' });
    assert.throws(() => performance.measure('m', { start: -1, detail }), TYPE_ERROR);
  });

  test('what conversions throw', () => {
    const error = new Error('mine');
    const fail = {
      toString() {
        throw error;
      },
      valueOf() {
        throw error;
      },
    };
    for (const args of [[fail], ['m', 'early', fail], ['m', { start: fail }], ['m', { start: 1, duration: fail }]]) {
      assert.throws(
        () => performance.measure(...args),
        (thrown) => thrown === error,
      );
    }
  });

  test('SyntaxError for a mark that was cleared', () => {
    performance.measure('m', 'early', 'late');
    performance.clearMarks('late');
    assert.throws(() => performance.measure('m', 'early', 'late'), { name: 'SyntaxError' });
    performance.mark('late', { startTime: 7 });
    assert.equal(performance.measure('m', 'early', 'late').duration, -3);
    performance.clearMarks();
    assert.throws(() => performance.measure('m', 'early', 'late'), { name: 'SyntaxError' });
  });

  test('SyntaxError for a measure that is taken for a mark', () => {
    performance.measure('measured');
    assert.throws(() => performance.measure('m', 'measured'), { name: 'SyntaxError' });
  });
});

suite('clearMeasures()', () => {
  const names = () => performance.getEntriesByType('measure').map(({ name }) => name);

  test('removes the measures of a name, or all, and no marks', () => {
    for (const name of ['a', 'b', 'a', 'early']) performance.measure(name);
    assert.equal(performance.clearMeasures('a'), undefined);
    assert.deepEqual(names(), ['b', 'early']);
    performance.clearMeasures('none');
    performance.clearMeasures('late');
    performance.clearMeasures('early');
    assert.deepEqual(names(), ['b']);
    assert.equal(performance.measure('m', 'early', 'late').duration, 40.5);
    performance.clearMeasures();
    assert.deepEqual(names(), []);
    assert.equal(performance.getEntriesByType('mark').length, 2);
    assert.throws(() => performance.clearMeasures(Symbol('s')), TypeError);
  });
});

function show(value) {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, show(member)]));
  }
  return typeof value === 'object' && value !== null ? value : String(value);
}
