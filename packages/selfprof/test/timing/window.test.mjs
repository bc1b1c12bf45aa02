// What a page host gives its windows: PerformanceTiming, a realm, a queue of tasks.

import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { suite, test } from 'node:test';
import vm from 'node:vm';

import { createTiming } from 'selfprof/timing';

import { runProgram } from '../program.mjs';
import { collect } from './collect.mjs';

const ATTRIBUTES = [
  ...['navigationStart', 'unloadEventStart', 'unloadEventEnd', 'redirectStart', 'redirectEnd', 'fetchStart'],
  ...['domainLookupStart', 'domainLookupEnd', 'connectStart', 'connectEnd', 'secureConnectionStart', 'requestStart'],
  ...['responseStart', 'responseEnd', 'domLoading', 'domInteractive', 'domContentLoadedEventStart'],
  ...['domContentLoadedEventEnd', 'domComplete', 'loadEventStart', 'loadEventEnd'],
];

suite('in a window', () => {
  const { performance, PerformanceMark } = createTiming({
    timing: { navigationStart: 1000, fetchStart: 1010, domComplete: 990 },
  });
  performance.mark('mark', { startTime: 50 });

  for (const name of ATTRIBUTES) {
    test(`mark() refuses ${name}`, () => {
      const failure = { name: 'SyntaxError', code: 12, message: new RegExp(`'${name}'`) };
      assert.throws(() => performance.mark(name), failure);
      assert.throws(() => performance.mark({ toString: () => name }, { startTime: 1 }), failure);
      assert.throws(() => new PerformanceMark(name), failure);
      assert.equal(performance.measure(name).name, name);
      performance.clearMeasures(name);
      // And again, now that it was the name of a measure.
      assert.throws(() => performance.mark(name), failure);
    });
  }

  test('mark() refuses them before it looks at what the options say', () => {
    assert.throws(() => performance.mark('fetchStart', { startTime: -1 }), { name: 'SyntaxError' });
    assert.throws(() => performance.mark('fetchStart', { startTime: NaN }), TypeError, 'conversion comes first');
  });

  test('mark() takes names that are nearly theirs', () => {
    for (const name of ['NavigationStart', ' fetchStart', 'toJSON', 'type', 'redirectCount']) {
      assert.equal(performance.mark(name).name, name);
    }
  });

  /** The measure's start and end. */
  function check(args, start, end) {
    test(`measure() from ${JSON.stringify(args)}`, () => {
      const measure = performance.measure('m', ...args);
      assert.deepEqual([measure.startTime, measure.duration], [start, end - start]);
    });
  }
  check(['navigationStart', 'mark'], 0, 50);
  check(['fetchStart', 'mark'], 10, 50);
  check(['mark', 'fetchStart'], 50, 10);
  check(['mark', 'navigationStart'], 50, 0);
  check(['navigationStart', 'navigationStart'], 0, 0);
  check(['fetchStart', 'fetchStart'], 10, 10);
  check([undefined, 'fetchStart'], 0, 10);
  check([{ start: 'fetchStart', end: 'mark' }], 10, 50);
  check([{ start: 'fetchStart', duration: 5 }], 10, 15);
  check([{ duration: 5, end: 'fetchStart' }], 5, 10);
  check([{ start: 'navigationStart', end: 7 }], 0, 7);
  // What comes before the navigation is still a time.
  check(['domComplete', 'mark'], -10, 50);

  test('measure() refuses attributes that are 0', () => {
    const failure = { name: 'InvalidAccessError', code: 15, message: /'loadEventEnd'/ };
    for (const args of [
      ['loadEventEnd'],
      ['mark', 'loadEventEnd'],
      ['loadEventEnd', 'loadEventStart'].reverse(),
      [{ start: 'loadEventEnd' }],
      [{ duration: 1, end: 'loadEventEnd' }],
    ]) {
      assert.throws(() => performance.measure('m', ...args), failure);
    }
    assert.throws(
      () => performance.measure('m', 'loadEventEnd', 'missing'),
      { name: 'SyntaxError' },
      'the end comes first',
    );
  });

  test('navigationStart is the time origin, whatever its value', () => {
    for (const navigationStart of [0, 123, undefined]) {
      const { performance: page } = createTiming({ timing: { navigationStart, fetchStart: 200 } });
      page.mark('mark', { startTime: 3 });
      assert.equal(page.measure('m', 'navigationStart', 'mark').duration, 3);
      assert.equal(page.measure('m', 'navigationStart', 'fetchStart').duration, 200 - (navigationStart ?? 0));
    }
  });
});

suite('the values of PerformanceTiming', () => {
  test('are read on access', () => {
    const timing = { navigationStart: 1000, loadEventEnd: 0 };
    const { performance } = createTiming({ timing });
    assert.throws(() => performance.measure('m', 'navigationStart', 'loadEventEnd'), { name: 'InvalidAccessError' });
    timing.loadEventEnd = 1500;
    assert.equal(performance.timing.loadEventEnd, 1500);
    assert.equal(performance.measure('m', 'navigationStart', 'loadEventEnd').duration, 500);
  });

  test('are whole numbers', () => {
    const { performance } = createTiming({
      timing: { navigationStart: 1000.9, fetchStart: '1001', connectStart: -5, connectEnd: NaN },
    });
    const { navigationStart, fetchStart, connectStart, connectEnd, loadEventEnd } = performance.timing;
    assert.deepEqual([navigationStart, fetchStart, connectStart, connectEnd, loadEventEnd], [1000, 1001, 0, 0, 0]);
  });

  test('begin with the time origin when the host says only that there is a window', () => {
    const timeOrigin = Date.now() - 5000;
    const { performance } = createTiming({ window: true, timeOrigin });
    assert.equal(performance.timing.navigationStart, timeOrigin);
    assert.equal(performance.navigation.type, performance.navigation.TYPE_NAVIGATE);
    assert.equal(performance.timing, performance.timing);
    assert.equal(performance.navigation, performance.navigation);
  });

  test('are not there without a window', () => {
    for (const options of [{}, { window: false }, { window: false, timing: { navigationStart: 1 } }]) {
      const timing = createTiming(options);
      assert.ok(!('timing' in timing.performance) && !('PerformanceTiming' in timing));
      assert.equal(timing.performance.mark('navigationStart').name, 'navigationStart');
      assert.throws(() => timing.performance.measure('m', 'navigationStart'), TypeError);
    }
  });

  test("and of PerformanceNavigation are the host's", () => {
    const { performance } = createTiming({ window: true, navigation: { type: 1, redirectCount: 2 } });
    assert.deepEqual(performance.navigation.toJSON(), { type: 1, redirectCount: 2 });
  });
});

suite('another realm', () => {
  const context = vm.createContext({});
  const intrinsics = vm.runInContext('({ Array, Function, Object, RangeError, TypeError })', context);
  class PageException extends intrinsics.TypeError {
    constructor(message, name) {
      super(message);
      Object.defineProperty(this, 'name', { value: name });
    }
  }
  class PageTarget {}
  intrinsics.DOMException = PageException;
  intrinsics.EventTarget = PageTarget;
  const timing = createTiming({ window: true, intrinsics });
  const { performance, PerformanceObserver } = timing;

  test('has interfaces that inherit from its own', () => {
    for (const name of [
      'PerformanceEntry',
      'PerformanceObserver',
      'PerformanceObserverEntryList',
      'PerformanceTiming',
    ]) {
      assert.equal(Object.getPrototypeOf(timing[name]), intrinsics.Function.prototype, name);
      assert.equal(Object.getPrototypeOf(timing[name].prototype), intrinsics.Object.prototype, name);
    }
    assert.equal(Object.getPrototypeOf(timing.Performance), PageTarget);
    assert.ok(performance instanceof PageTarget);
    assert.equal(Object.getPrototypeOf(performance.mark), intrinsics.Function.prototype);
    const { get } = Object.getOwnPropertyDescriptor(timing.PerformanceEntry.prototype, 'name');
    assert.equal(Object.getPrototypeOf(get), intrinsics.Function.prototype);
  });

  test('throws its own errors', () => {
    for (const fail of [
      () => performance.mark(),
      () => performance.mark(Symbol('s')),
      () => performance.mark('m', 1),
      () => performance.mark('m', { startTime: -1 }),
      () => performance.mark('m', { startTime: 1n }),
      () => performance.measure('m', { start: 1 }, 'end'),
      () => performance.now.call(null),
      () => Reflect.get(timing.PerformanceEntry.prototype, 'name', {}),
      () => new timing.PerformanceEntry(),
      () => new PerformanceObserver(),
      () => new PerformanceObserver(() => {}).observe({}),
      () => new PerformanceObserver(() => {}).observe({ entryTypes: 1 }),
    ]) {
      assert.throws(
        fail,
        (error) => error instanceof intrinsics.TypeError && !(error instanceof PageException),
        `${fail}`,
      );
    }
    for (const [fail, name] of [
      [() => performance.mark('fetchStart'), 'SyntaxError'],
      [() => performance.measure('m', 'missing'), 'SyntaxError'],
      [() => performance.measure('m', 'loadEventEnd'), 'InvalidAccessError'],
      [() => performance.mark('m', { detail: () => {} }), 'DataCloneError'],
    ]) {
      assert.throws(fail, (error) => error instanceof PageException && error.name === name, `${fail}`);
    }
  });

  test('gives its own objects', async () => {
    performance.mark('m');
    const { Array, Object } = intrinsics;
    const observer = new PerformanceObserver(() => {});
    for (const list of [
      performance.getEntries(),
      performance.getEntriesByType('other'),
      performance.getMarks('m'),
      performance.getMarks('none'),
      performance.getMarks().m,
      observer.takeRecords(),
      PerformanceObserver.supportedEntryTypes,
    ]) {
      assert.ok(list instanceof Array);
    }
    for (const object of [
      performance.toJSON(),
      performance.mark('m').toJSON(),
      performance.timing.toJSON(),
      performance.getMarks(),
    ]) {
      assert.ok(object instanceof Object);
    }
    const [list, options] = await new Promise((resolve) => {
      new PerformanceObserver((entries, _, info) => resolve([entries.getEntries(), info])).observe({ type: 'mark' });
      performance.mark('m');
    });
    assert.ok(list instanceof Array && options instanceof Object);
  });

  test('clones details its own way', () => {
    const structuredClone = (value) => ({ cloned: value });
    const { performance: page } = createTiming({ intrinsics: { structuredClone } });
    assert.deepEqual(page.mark('m', { detail: [1] }).detail, { cloned: [1] });
  });
});

test('an unreferenced realm is collected', async () => {
  const weak = Array.from({ length: 10 }, () => {
    const { performance, PerformanceObserver } = createTiming({ window: true });
    new PerformanceObserver(() => {}).observe({ type: 'mark' });
    for (let i = 0; i < 100; i++) performance.mark(`${i}`, { detail: { i } });
    return new WeakRef(performance);
  });
  await turn();
  await turn();
  collect();
  assert.equal(weak.filter((reference) => reference.deref() !== undefined).length, 0);
});

suite('tasks', () => {
  test('are queued as the host says', () => {
    const tasks = [];
    const { performance, PerformanceObserver } = createTiming({ queueTask: (task) => tasks.push(task) });
    const received = [];
    new PerformanceObserver((list) => received.push(...list.getEntries().map(({ name }) => name))).observe({
      type: 'mark',
    });
    performance.mark('a');
    performance.mark('b');
    assert.equal(tasks.length, 1);
    tasks.shift()();
    assert.deepEqual(received, ['a', 'b']);
    performance.mark('c');
    tasks.shift()();
    assert.deepEqual([received.length, tasks.length], [3, 0]);
  });

  test('report what a callback throws', async () => {
    const reported = [];
    const { performance, PerformanceObserver } = createTiming({ reportException: (error) => reported.push(error) });
    new PerformanceObserver(() => {
      throw 'not even an error';
    }).observe({ type: 'mark' });
    performance.mark('a');
    await turn();
    assert.deepEqual(reported, ['not even an error']);
  });

  test('report it as an uncaught exception by default, and go on', async () => {
    const { stdout, code } = await runProgram(
      `
      const { createTiming } = require('selfprof/timing');
      const { performance, PerformanceObserver } = createTiming();
      process.on('uncaughtException', (error) => console.log('uncaught', error.message));
      new PerformanceObserver(() => { throw new Error('first'); }).observe({ type: 'mark' });
      new PerformanceObserver(() => console.log('second')).observe({ type: 'mark' });
      new PerformanceObserver(() => { throw new Error('third'); }).observe({ type: 'mark' });
      performance.mark('a');
      `,
      { execArgv: [], cwd: import.meta.dirname ?? process.cwd() },
    );
    assert.deepEqual([stdout, code], ['second\nuncaught first\nuncaught third\n', 0]);
  });
});

suite('createTiming() refuses', () => {
  for (const options of [
    null,
    1,
    { origin: -1 },
    { origin: NaN },
    { origin: '1' },
    { timeOrigin: Infinity },
    { timing: 1 },
    { timing: null },
    { navigation: null },
    { limits: 5 },
    { intrinsics: null },
    { intrinsics: { Array: {} } },
    { queueTask: 'later' },
    { reportException: {} },
  ]) {
    test(JSON.stringify(options), () =>
      assert.throws(() => createTiming(options), { name: 'TypeError', message: /^selfprof: / }),
    );
  }
  for (const limit of [-1, 1.5, NaN, 2 ** 32, '5']) {
    test(`a limit of ${limit}`, () => {
      assert.throws(() => createTiming({ limits: { mark: limit } }), { name: 'RangeError', message: /limits\.mark/ });
    });
  }
  test('nothing else', () => {
    for (const options of [undefined, {}, { limits: { mark: Infinity, measure: 0 } }, { crossOriginIsolated: 1 }]) {
      assert.ok(createTiming(options).performance.now() >= 0);
    }
  });
});
