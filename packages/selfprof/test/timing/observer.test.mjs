// PerformanceObserver and PerformanceObserverEntryList.

import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, suite, test } from 'node:test';

import { createTiming } from 'selfprof/timing';

import { collect } from './collect.mjs';
import { assertSame } from './same.mjs';

let performance, PerformanceObserver, PerformanceObserverEntryList, reported;
beforeEach(() => {
  reported = [];
  ({ performance, PerformanceObserver, PerformanceObserverEntryList } = createTiming({
    // So that now comes after the start times that tests give.
    timeOrigin: Date.now() - 60_000,
    limits: { mark: 100 },
    reportException: (error) => reported.push(error),
  }));
});

/** An observer that writes down what its callback gets. */
function recorder(options, act = () => {}) {
  const calls = [];
  const observer = new PerformanceObserver(function (list, self, info) {
    calls.push({ names: names(list.getEntries()), info, arguments: [...arguments], self: this });
    act(observer, list, calls.length);
  });
  if (options !== undefined) observer.observe(options);
  return { observer, calls, names: () => calls.map((call) => call.names) };
}

const names = (entries) => entries.map(({ name }) => name).join(' ');

suite('the constructor', () => {
  test('takes a callback', () => {
    for (const callback of [undefined, null, {}, 'text', 1, Symbol('s'), { handleEvent() {} }]) {
      assert.throws(() => new PerformanceObserver(callback), TypeError);
    }
    assert.throws(() => new PerformanceObserver(), { name: 'TypeError', message: /1 argument required/ });
    assert.throws(() => PerformanceObserver(() => {}), TypeError);
    for (const callback of [() => {}, async () => {}, class {}, new Proxy(() => {}, {})]) {
      assert.ok(new PerformanceObserver(callback) instanceof PerformanceObserver);
    }
  });
});

suite('supportedEntryTypes', () => {
  test('is a frozen array in alphabetical order, and always the same', () => {
    const types = PerformanceObserver.supportedEntryTypes;
    assert.deepEqual(types, ['mark', 'measure']);
    assert.ok(Array.isArray(types) && Object.isFrozen(types));
    assert.equal(PerformanceObserver.supportedEntryTypes, types);
    assert.throws(() => types.push('other'), TypeError);
    assert.throws(() => (PerformanceObserver.supportedEntryTypes = []), TypeError);
  });
});

suite('observe() throws', () => {
  const TYPE_ERROR = { name: 'TypeError' };
  function check(expected, ...calls) {
    test(`${expected.name} at ${calls.map((options) => (options === undefined ? '()' : JSON.stringify(options))).join(', then ')}`, () => {
      const { observer } = recorder();
      const last = calls.pop();
      for (const options of calls) observer.observe(options);
      assert.throws(() => observer.observe(last), expected);
    });
  }
  check(TYPE_ERROR, undefined);
  check(TYPE_ERROR, null);
  check(TYPE_ERROR, {});
  check(TYPE_ERROR, { buffered: true });
  check(TYPE_ERROR, { entryType: ['mark'] });
  check(TYPE_ERROR, { type: undefined, entryTypes: undefined });
  check(TYPE_ERROR, { type: 'mark', entryTypes: ['measure'] });
  check(TYPE_ERROR, { type: 'mark', entryTypes: [] });
  check(TYPE_ERROR, 1);
  check(TYPE_ERROR, 'mark');
  check(TYPE_ERROR, true);
  check(TYPE_ERROR, { entryTypes: 'mark' });
  check(TYPE_ERROR, { entryTypes: null });
  check(TYPE_ERROR, { entryTypes: 1 });
  check(TYPE_ERROR, { entryTypes: {} });
  check(TYPE_ERROR, { entryTypes: { [Symbol.iterator]: 1 } });
  const MIXED = { name: 'InvalidModificationError', code: 13 };
  check(MIXED, { type: 'mark' }, { entryTypes: ['mark'] });
  check(MIXED, { entryTypes: ['mark'] }, { type: 'mark' });
  // The first call settles it, also when it named nothing that is supported.
  check(MIXED, { type: 'unknown' }, { entryTypes: ['mark'] });
  check(MIXED, { entryTypes: [] }, { type: 'mark' });

  test('TypeError for what does not convert', () => {
    const { observer } = recorder();
    for (const options of [
      Symbol('s'),
      { type: Symbol('s') },
      { entryTypes: [Symbol('s')] },
      { entryTypes: { [Symbol.iterator]: () => 1 } },
      { entryTypes: { [Symbol.iterator]: () => ({ next: () => 1 }) } },
    ]) {
      assert.throws(() => observer.observe(options), TypeError);
    }
  });

  test('InvalidModificationError also after disconnect()', () => {
    const { observer } = recorder({ type: 'mark' });
    observer.disconnect();
    assert.throws(() => observer.observe({ entryTypes: ['mark'] }), { name: 'InvalidModificationError' });
    observer.observe({ type: 'measure' });
  });

  test('and observes as before', async () => {
    const { observer, ...recorded } = recorder({ type: 'mark' });
    assert.throws(() => observer.observe({ entryTypes: ['measure'] }));
    performance.mark('a');
    performance.measure('b');
    await turn();
    assert.deepEqual(recorded.names(), ['a']);
  });

  test('TypeError before the observer has a type', () => {
    const { observer } = recorder();
    assert.throws(() => observer.observe({ type: 'mark', entryTypes: ['mark'] }), TypeError);
    observer.observe({ entryTypes: ['mark'] });
    observer.disconnect();
  });
});

suite('observe() converts', () => {
  test('its members in lexicographical order, once each', () => {
    const log = [];
    const { observer } = recorder();
    observer.observe(
      new Proxy(
        { type: { toString: () => (log.push('convert type'), 'mark') } },
        { get: (target, key) => (log.push(`get ${key}`), target[key]) },
      ),
    );
    assert.deepEqual(log, ['get buffered', 'get entryTypes', 'get type', 'convert type']);
  });

  test('entryTypes from any iterable', async () => {
    const { observer, ...recorded } = recorder();
    observer.observe({ entryTypes: new Set(['mark', { toString: () => 'measure' }]) });
    performance.mark('a');
    performance.measure('b');
    await turn();
    assert.deepEqual(recorded.names(), ['b a']);
  });

  test('buffered to a boolean', async () => {
    performance.mark('early');
    const [one, zero] = ['yes', 0].map((buffered) => recorder({ type: 'mark', buffered }));
    await turn();
    assert.deepEqual([one.names(), zero.names()], [['early'], []]);
  });
});

suite('observe() ignores', () => {
  test('types that are not supported', async () => {
    const recorders = [
      recorder({ entryTypes: ['unknown', 'mark', 'Mark', 'resource'] }),
      recorder({ entryTypes: ['unknown'] }),
      recorder({ type: 'MARK' }),
      recorder({ type: 'unknown', buffered: true }),
    ];
    performance.mark('a');
    await turn();
    assert.deepEqual(
      recorders.map((recorded) => recorded.names()),
      [['a'], [], [], []],
    );
  });

  test('a call that names no supported type', async () => {
    const { observer, ...recorded } = recorder({ entryTypes: ['mark'] });
    observer.observe({ entryTypes: [] });
    observer.observe({ entryTypes: ['unknown'] });
    performance.mark('a');
    await turn();
    assert.deepEqual(recorded.names(), ['a']);
  });

  test('buffered beside entryTypes, as browsers do', async () => {
    performance.mark('early');
    const recorded = recorder({ entryTypes: ['mark'], buffered: true });
    performance.mark('late');
    await turn();
    assert.deepEqual(recorded.names(), ['late']);
  });
});

suite('an observer', () => {
  test('gets all entries at once, in a separate task', async () => {
    const { observer, calls } = recorder({ entryTypes: ['mark', 'measure'] });
    const made = [performance.mark('a'), performance.measure('b'), performance.mark('c', { startTime: 1 })];
    await Promise.resolve();
    assert.equal(calls.length, 0);
    await turn();
    assert.deepEqual(
      calls.map((call) => call.names),
      ['b c a'],
    );
    const [list, self, info, ...rest] = calls[0].arguments;
    assert.ok(list instanceof PerformanceObserverEntryList);
    assertSame([self, calls[0].self, ...rest], [observer, observer]);
    assert.deepEqual(info, { droppedEntriesCount: 0 });
    assertSame(list.getEntries(), [made[1], made[2], made[0]]);
    await turn();
    assert.equal(calls.length, 1);
  });

  test('gets entries made after observe(), and none made before', async () => {
    performance.mark('before');
    const recorded = recorder({ type: 'mark' });
    performance.mark('after');
    performance.measure('measure');
    await turn();
    assert.deepEqual(recorded.names(), ['after']);
  });

  test('gets no marks from the constructor', async () => {
    const { PerformanceMark, performance: own, PerformanceObserver: Own } = createTiming();
    const received = [];
    new Own((list) => received.push(...list.getEntries())).observe({ type: 'mark' });
    new PerformanceMark('off');
    const mark = own.mark('on');
    await turn();
    assertSame(received, [mark]);
  });

  test('gets entries that were cleared meanwhile', async () => {
    const recorded = recorder({ type: 'mark' });
    performance.mark('a', { detail: 1 });
    performance.clearMarks();
    await turn();
    assert.deepEqual(recorded.names(), ['a']);
  });

  test('adds types with type, and replaces them with entryTypes', async () => {
    const single = recorder({ type: 'mark' });
    single.observer.observe({ type: 'measure' });
    const multiple = recorder({ entryTypes: ['mark'] });
    multiple.observer.observe({ entryTypes: ['measure'] });
    performance.mark('a');
    performance.measure('b');
    await turn();
    assert.deepEqual(single.names(), ['b a']);
    assert.deepEqual(multiple.names(), ['b']);
  });

  test('keeps its queued entries when its types are replaced', async () => {
    const { observer, ...recorded } = recorder({ entryTypes: ['mark'] });
    performance.mark('a');
    observer.observe({ entryTypes: ['measure'] });
    performance.mark('b');
    performance.measure('c', { start: 0 });
    await turn();
    assert.deepEqual(recorded.names(), ['c a']);
  });

  test('gets what is buffered when it asks, and what comes after', async () => {
    performance.mark('a', { detail: { n: 1 } });
    performance.measure('x');
    const { observer, calls, ...recorded } = recorder({ type: 'mark', buffered: true });
    performance.mark('b');
    await turn();
    assert.deepEqual(recorded.names(), ['a b']);
    assertSame(calls[0].arguments[0].getEntriesByName('a'), performance.getEntriesByName('a'));
    observer.observe({ type: 'measure', buffered: true });
    await turn();
    assert.deepEqual(recorded.names(), ['a b', 'x']);
    // Once more, since it is asked once more.
    observer.observe({ type: 'mark', buffered: true });
    await turn();
    assert.deepEqual(recorded.names(), ['a b', 'x', 'a b']);
  });

  test('is not called for an empty buffer', async () => {
    const recorded = recorder({ type: 'mark', buffered: true });
    await turn();
    assert.deepEqual(recorded.names(), []);
  });

  test('is called again for entries that its callback makes', async () => {
    const recorded = recorder({ type: 'mark' }, (observer, list, count) => {
      if (count < 3) performance.mark(`made ${count}`);
    });
    performance.mark('a');
    for (let i = 0; i < 5; i++) await turn();
    assert.deepEqual(recorded.names(), ['a', 'made 1', 'made 2']);
  });

  test('survives collection while it is registered, and only then', async () => {
    let calls = 0;
    const make = (options) => {
      const observer = new PerformanceObserver(() => calls++);
      if (options !== undefined) observer.observe(options);
      return new WeakRef(observer);
    };
    const [registered, idle] = [make({ type: 'mark' }), make()];
    await turn();
    collect();
    await turn();
    assert.notEqual(registered.deref(), undefined);
    assert.equal(idle.deref(), undefined);
    performance.mark('a');
    await turn();
    assert.equal(calls, 1);
  });
});

suite('disconnect()', () => {
  test('ends observing and drops what was not delivered', async () => {
    const { observer, ...recorded } = recorder({ type: 'mark' });
    performance.mark('a');
    assert.equal(observer.disconnect(), undefined);
    performance.mark('b');
    await turn();
    assert.deepEqual(recorded.names(), []);
    assert.deepEqual(observer.takeRecords(), []);
    observer.disconnect();
  });

  test('lets it begin anew, with other types', async () => {
    const { observer, ...recorded } = recorder({ type: 'mark' });
    observer.disconnect();
    observer.observe({ type: 'measure' });
    performance.mark('a');
    performance.measure('b');
    await turn();
    assert.deepEqual(recorded.names(), ['b']);
  });

  test('by another observer counts at once', async () => {
    const victim = recorder();
    const bully = recorder({ type: 'mark' }, () => victim.observer.disconnect());
    victim.observer.observe({ type: 'mark' });
    performance.mark('a');
    await turn();
    assert.deepEqual([bully.names(), victim.names()], [['a'], []]);
  });
});

suite('takeRecords()', () => {
  test('takes what was not delivered, in the order of the calls', async () => {
    const { observer, ...recorded } = recorder({ type: 'mark' });
    assert.deepEqual(observer.takeRecords(), []);
    const made = [performance.mark('b', { startTime: 2 }), performance.mark('a', { startTime: 1 })];
    const records = observer.takeRecords();
    assert.ok(Array.isArray(records));
    assertSame(records, made);
    assert.deepEqual(observer.takeRecords(), []);
    records.push('mine');
    await turn();
    assert.deepEqual(recorded.names(), []);
    performance.mark('c');
    await turn();
    assert.deepEqual(recorded.names(), ['c']);
  });
});

suite('several observers', () => {
  test('are called in the order of registration', async () => {
    const order = [];
    const make = (name, options) => {
      const observer = new PerformanceObserver((list) => order.push(`${name}: ${names(list.getEntries())}`));
      observer.observe(options);
      return observer;
    };
    const first = make('first', { type: 'measure' });
    make('second', { type: 'mark' });
    make('third', { entryTypes: ['mark', 'measure'] });
    performance.mark('a');
    await turn();
    assert.deepEqual(order.splice(0), ['second: a', 'third: a']);
    first.disconnect();
    first.observe({ type: 'measure' });
    performance.measure('b');
    await turn();
    assert.deepEqual(order, ['third: b', 'first: b']);
  });

  test('go on when one throws', async () => {
    const error = new Error('mine');
    const bad = recorder({ type: 'mark' }, () => {
      throw error;
    });
    const good = recorder({ type: 'mark' });
    performance.mark('a');
    await turn();
    assert.deepEqual([bad.names(), good.names(), reported], [['a'], ['a'], [error]]);
    performance.mark('b');
    await turn();
    assert.deepEqual([bad.names(), good.names(), reported.length], [['a', 'b'], ['a', 'b'], 2]);
  });
});

suite('droppedEntriesCount', () => {
  test('counts what did not fit, of the observed types, in the first call after observe()', async () => {
    for (let i = 0; i < 103; i++) performance.mark('m');
    const marks = recorder({ type: 'mark' });
    const measures = recorder({ type: 'measure' });
    const both = recorder({ entryTypes: ['mark', 'measure'] });
    performance.mark('m');
    performance.measure('x');
    await turn();
    const counts = ({ calls }) => calls.map(({ info }) => info.droppedEntriesCount);
    assert.deepEqual([counts(marks), counts(measures), counts(both)], [[4], [0], [4]]);
    performance.mark('m');
    await turn();
    assert.deepEqual(counts(marks), [4, undefined]);
    assert.deepEqual(Object.keys(marks.calls[1].info), []);
    marks.observer.observe({ type: 'measure' });
    performance.measure('x');
    await turn();
    assert.deepEqual(counts(marks), [4, undefined, 5]);
  });

  test('does not keep dropped entries from observers', async () => {
    for (let i = 0; i < 100; i++) performance.mark('m');
    const recorded = recorder({ type: 'mark' });
    const dropped = performance.mark('dropped', { detail: [1] });
    await turn();
    assert.deepEqual(recorded.names(), ['dropped']);
    assert.equal(recorded.calls[0].arguments[0].getEntries()[0], dropped);
    assert.deepEqual(performance.getEntriesByName('dropped'), []);
  });
});

suite('an entry list', () => {
  let list;
  beforeEach(async () => {
    list = await new Promise((resolve) => {
      new PerformanceObserver(resolve).observe({ entryTypes: ['mark', 'measure'] });
      performance.mark('b', { startTime: 2 });
      performance.measure('a', { start: 2, end: 3 });
      performance.mark('a', { startTime: 1 });
    });
  });
  function check(method, args, expected) {
    test(`${method}(${args.map(String).join(', ')})`, () => {
      assert.deepEqual(
        list[method](...args).map(({ name, entryType }) => `${name}:${entryType}`),
        expected,
      );
    });
  }
  check('getEntries', [], ['a:mark', 'b:mark', 'a:measure']);
  check('getEntriesByType', ['mark'], ['a:mark', 'b:mark']);
  check('getEntriesByType', ['Mark'], []);
  check('getEntriesByType', [undefined], []);
  check('getEntriesByName', ['a'], ['a:mark', 'a:measure']);
  check('getEntriesByName', ['a', undefined], ['a:mark', 'a:measure']);
  check('getEntriesByName', ['a', 'measure'], ['a:measure']);
  check('getEntriesByName', ['a', null], []);
  check('getEntriesByName', ['none'], []);

  test('returns a new array each time', () => {
    assert.notEqual(list.getEntries(), list.getEntries());
    list.getEntries().length = 0;
    assert.equal(list.getEntries().length, 3);
  });
});
