// mark(), clearMarks() and the PerformanceMark constructor.

import assert from 'node:assert/strict';
import { beforeEach, suite, test } from 'node:test';

import { performance, PerformanceEntry, PerformanceMark } from 'selfprof';

import { unclonable } from './details.mjs';
import { assertSame } from './same.mjs';

beforeEach(() => {
  performance.clearMarks();
  performance.clearMeasures();
});

/** Both ways to make a mark. */
const MAKERS = {
  'performance.mark': (...args) => performance.mark(...args),
  'new PerformanceMark': (...args) => new PerformanceMark(...args),
};

for (const [name, make] of Object.entries(MAKERS)) {
  suite(name, () => {
    test('marks the current time', () => {
      const before = performance.now();
      const mark = make('now');
      const after = performance.now();
      assert.ok(mark instanceof PerformanceMark && mark instanceof PerformanceEntry);
      assert.ok(mark.startTime >= before && mark.startTime <= after);
      assert.deepEqual([mark.name, mark.entryType, mark.duration, mark.detail], ['now', 'mark', 0, null]);
    });

    test('gives times that never decrease', () => {
      const marks = Array.from({ length: 200 }, () => make('again'));
      assert.ok(marks.every((mark, index) => index === 0 || mark.startTime >= marks[index - 1].startTime));
      assert.equal(new Set(marks).size, 200);
    });

    for (const [given, expected] of [
      ['', ''],
      ['with spaces', 'with spaces'],
      [undefined, 'undefined'],
      [null, 'null'],
      [1.5, '1.5'],
      [-0, '0'],
      [10n, '10'],
      [true, 'true'],
      [{ toString: () => 'object' }, 'object'],
      [['a', 'b'], 'a,b'],
      ['\ud800', '\ud800'],
      ['a\udc00b', 'a\udc00b'],
      ['nul\0', 'nul\0'],
      ['__proto__', '__proto__'],
      ['\u{1f600}', '\u{1f600}'],
    ]) {
      test(`converts the name ${typeof given} ${JSON.stringify(String(given))}`, () => {
        assert.equal(make(given).name, expected);
        assert.equal(make(given).name, expected);
      });
    }

    test('refuses names that do not convert', () => {
      const error = new Error('mine');
      assert.throws(() => make(), { name: 'TypeError', message: /1 argument required, but only 0 present/ });
      assert.throws(() => make(Symbol('s')), TypeError);
      assert.throws(
        () =>
          make({
            toString() {
              throw error;
            },
          }),
        (thrown) => thrown === error,
      );
      assert.throws(() => make({ toString: null, valueOf: null }), TypeError);
    });

    test('takes options of any object', () => {
      for (const options of [undefined, null, {}, [], () => {}, new Date()])
        assert.equal(make('m', options).detail, null);
      const inherited = Object.create({ startTime: 3, detail: 'inherited' });
      assert.deepEqual([make('m', inherited).startTime, make('m', inherited).detail], [3, 'inherited']);
      const callable = Object.assign(() => {}, { startTime: 4 });
      assert.equal(make('m', callable).startTime, 4);
    });

    test('refuses options that are no objects', () => {
      for (const options of [1, NaN, Infinity, 'text', '', true, false, 1n, Symbol('s')]) {
        assert.throws(() => make('m', options), TypeError, typeof options);
      }
    });

    test('converts members once each, in lexicographical order, after the name', () => {
      const log = [];
      const name = { toString: () => (log.push('name'), 'm') };
      const options = new Proxy(
        { detail: null, startTime: { valueOf: () => (log.push('convert startTime'), 7) } },
        { get: (target, key) => (log.push(`get ${key}`), target[key]) },
      );
      assert.equal(make(name, options).startTime, 7);
      assert.deepEqual(log, ['name', 'get detail', 'get startTime', 'convert startTime']);
    });

    for (const [given, expected] of [
      [0, 0],
      [1.23456789, 1.23456789],
      [Number.MAX_VALUE, Number.MAX_VALUE],
      [Number.MIN_VALUE, Number.MIN_VALUE],
      ['7.5', 7.5],
      [' 8 ', 8],
      ['', 0],
      [null, 0],
      [true, 1],
      [[9], 9],
    ]) {
      test(`takes the startTime ${typeof given} ${JSON.stringify(given)} as it is`, () => {
        assert.equal(make('m', { startTime: given }).startTime, expected);
      });
    }

    test('keeps the sign of a startTime of -0', () => {
      assert.ok(Object.is(make('m', { startTime: -0 }).startTime, -0));
    });

    test('rejects a startTime that is not a time', () => {
      for (const startTime of [NaN, Infinity, -Infinity, 'ten', {}, Symbol('s'), 1n, -1, -Number.MIN_VALUE, '-1']) {
        assert.throws(() => make('m', { startTime }), TypeError, String(startTime));
      }
      assert.ok(make('m', { startTime: undefined }).startTime > 0);
    });

    for (const [given, expected] of [
      [undefined, null],
      [null, null],
      [0, 0],
      ['', ''],
      [false, false],
      [12n, 12n],
      ['\ud800', '\ud800'],
    ]) {
      test(`keeps the detail ${typeof given} ${String(given)}`, () => {
        assert.equal(make('m', { detail: given }).detail, expected);
      });
    }

    test('clones the detail', () => {
      const detail = {
        nested: [1, { a: new Map([['k', new Set([2])]]) }],
        when: new Date(5),
        bytes: new Uint8Array([1, 2]),
      };
      detail.self = detail;
      const mark = make('m', { detail });
      assert.deepEqual(mark.detail, detail);
      assert.notEqual(mark.detail, detail);
      assert.equal(mark.detail, mark.detail, 'the same object each time');
      detail.nested[0] = 'changed';
      assert.equal(mark.detail.nested[0], 1);
    });

    test('refuses a detail that cannot be cloned', () => {
      for (const detail of unclonable()) assert.throws(() => make('m', { detail }), { name: 'DataCloneError' });
      assert.throws(
        () => make('m', { detail: () => {} }),
        (error) => error instanceof DOMException && error.code === 25,
      );
      const error = new Error('mine');
      const throwing = {
        get member() {
          throw error;
        },
      };
      assert.throws(
        () => make('m', { detail: throwing }),
        (thrown) => thrown === error,
      );
    });

    test('checks startTime before it clones the detail', () => {
      assert.throws(() => make('m', { startTime: -1, detail: () => {} }), TypeError);
    });

    test('lets a mark have the name of an attribute of PerformanceTiming, outside of windows', () => {
      assert.equal(make('navigationStart').name, 'navigationStart');
    });
  });
}

suite('the timeline', () => {
  test('has what mark() made, and not what the constructor made', () => {
    const mark = performance.mark('on');
    new PerformanceMark('off');
    assertSame(performance.getEntriesByType('mark'), [mark]);
  });

  test('has nothing of a mark() that threw', () => {
    for (const args of [[], ['m', 1], ['m', { startTime: -1 }], ['m', { detail: Symbol('s') }]]) {
      assert.throws(() => performance.mark(...args));
    }
    assert.deepEqual(performance.getEntries(), []);
    const mark = performance.mark('m');
    assertSame(performance.getEntriesByName('m'), [mark]);
  });
});

suite('clearMarks()', () => {
  const names = () => performance.getEntriesByType('mark').map(({ name }) => name);

  test('removes the marks of a name', () => {
    for (const name of ['a', 'b', 'a', 'c']) performance.mark(name);
    assert.equal(performance.clearMarks('a'), undefined);
    assert.deepEqual(names(), ['b', 'c']);
    performance.clearMarks('none');
    performance.clearMarks({ toString: () => 'b' });
    assert.deepEqual(names(), ['c']);
  });

  test('removes all, and no measures', () => {
    performance.mark('a');
    performance.measure('a');
    performance.mark('b');
    performance.clearMarks();
    assert.deepEqual(
      performance.getEntries().map(({ entryType }) => entryType),
      ['measure'],
    );
    performance.mark('a');
    performance.clearMarks(undefined);
    assert.deepEqual(names(), []);
  });

  test('converts the name', () => {
    performance.mark(null);
    performance.clearMarks(null);
    assert.deepEqual(names(), []);
    assert.throws(() => performance.clearMarks(Symbol('s')), TypeError);
  });

  test('does not affect marks that are referenced', () => {
    const mark = performance.mark('held', { detail: [1] });
    performance.clearMarks('held');
    assert.deepEqual([mark.name, mark.detail], ['held', [1]]);
  });

  test('makes room for other names', () => {
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 1000; i++) performance.mark(`name ${round} ${i}`);
      assert.deepEqual(names().length, 1000);
      assert.deepEqual(names()[999], `name ${round} 999`);
      for (let i = 0; i < 1000; i += 2) performance.clearMarks(`name ${round} ${i}`);
      assert.deepEqual(names().length, 500);
      performance.mark('other');
      assert.deepEqual(names()[500], 'other');
      performance.clearMarks();
    }
  });
});
