// What `import { performance } from 'selfprof'` keeps of Node's own: the rest of perf_hooks.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import perfHooks from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { inspect } from 'node:util';

import * as selfprof from 'selfprof';
import { performance, Performance, PerformanceEntry, PerformanceMark, PerformanceObserver } from 'selfprof';

import { runProgram } from '../program.mjs';
import { collect } from './collect.mjs';
import { assertSame } from './same.mjs';

const observers = [];
beforeEach(() => {
  performance.clearMarks();
  performance.clearMeasures();
  performance.clearResourceTimings();
});
afterEach(() => {
  for (const observer of observers.splice(0)) observer.disconnect();
});

/** The first entries that an observer of this package gets. */
function firstEntries(options, act) {
  return new Promise((resolve, reject) => {
    const observer = new PerformanceObserver((list) => resolve(list.getEntries()));
    observers.push(observer);
    observer.observe(options);
    Promise.resolve(act()).catch(reject);
  });
}

/** Something that Node takes down as a resource. */
function resource(name) {
  const times = {
    startTime: performance.now(),
    endTime: performance.now(),
    finalServiceWorkerStartTime: 0,
    redirectStartTime: 0,
  };
  const rest = {
    redirectEndTime: 0,
    postRedirectStartTime: 0,
    finalNetworkRequestStartTime: 0,
    finalNetworkResponseStartTime: 0,
  };
  const connection = { finalConnectionTimingInfo: null, encodedBodySize: 0, decodedBodySize: 0 };
  return performance.markResourceTiming(
    { ...times, ...rest, ...connection },
    name,
    'fetch',
    globalThis,
    '',
    {},
    200,
    '',
  );
}

suite('the module', () => {
  test('has the interfaces beside the profiler, the same for import and require', async () => {
    const { createRequire } = await import('node:module');
    const required = createRequire(import.meta.url)('selfprof');
    for (const name of [
      'Profiler',
      'performance',
      'Performance',
      'PerformanceEntry',
      'PerformanceMark',
      'PerformanceMeasure',
      'PerformanceObserver',
      'PerformanceObserverEntryList',
    ]) {
      const imported = Object.entries(selfprof).find(([key]) => key === name)?.[1];
      assert.notEqual(imported, undefined, name);
      assert.equal(imported, required[name], name);
    }
    assert.equal((await import('selfprof/lazy')).performance, performance);
  });

  test('leaves the global ones alone', () => {
    assert.equal(globalThis.performance, perfHooks.performance);
    assert.notEqual(globalThis.performance, performance);
    performance.mark('ours');
    assert.deepEqual(perfHooks.performance.getEntriesByName('ours'), []);
  });
});

suite('members of Node', () => {
  test('nodeTiming is the same object', () => {
    assert.equal(performance.nodeTiming, perfHooks.performance.nodeTiming);
    assert.equal(JSON.parse(JSON.stringify(performance)).nodeTiming.name, 'node');
    assert.deepEqual(Object.keys(performance.toJSON()), ['timeOrigin', 'nodeTiming', 'eventLoopUtilization']);
  });

  test('eventLoopUtilization() returns the same as there', async () => {
    await delay(5);
    const total = ({ idle, active }) => idle + active;
    const before = perfHooks.performance.eventLoopUtilization();
    const ours = performance.eventLoopUtilization();
    const after = perfHooks.performance.eventLoopUtilization();
    assert.deepEqual(Object.keys(ours), Object.keys(before));
    assert.ok(total(before) > 0 && total(before) <= total(ours) && total(ours) <= total(after));
    const between = perfHooks.performance.eventLoopUtilization(after, before);
    assert.deepEqual(performance.eventLoopUtilization(after, before), between);
  });

  test('timerify() is observed', async () => {
    const add = (a, b) => a + b;
    const entries = await firstEntries({ type: 'function' }, () => assert.equal(performance.timerify(add)(1, 2), 3));
    assert.deepEqual(
      entries.map(({ name, entryType }) => [name, entryType]),
      [['add', 'function']],
    );
  });

  test('check their this where Node does', () => {
    const { eventLoopUtilization, timerify } = performance;
    assert.ok(eventLoopUtilization().utilization >= 0);
    assert.equal(timerify(() => 7)(), 7);
    for (const name of ['clearResourceTimings', 'setResourceTimingBufferSize']) {
      assert.throws(() => performance[name].call({}), { name: 'TypeError', message: 'Illegal invocation' }, name);
    }
    for (const name of ['nodeTiming', 'onresourcetimingbufferfull']) {
      assert.throws(() => Reflect.get(Performance.prototype, name, {}), TypeError, name);
    }
  });
});

suite('observers of other types', () => {
  test('are supported as in Node', () => {
    assert.deepEqual(PerformanceObserver.supportedEntryTypes, perfHooks.PerformanceObserver.supportedEntryTypes);
  });

  test('hear of garbage collections', async () => {
    const entries = await firstEntries({ type: 'gc' }, () => collect());
    assert.ok(entries.length > 0 && entries.every(({ entryType, duration }) => entryType === 'gc' && duration >= 0));
  });

  test('hear of several types in one list, in time order', async () => {
    let taken = [];
    const entries = await firstEntries({ entryTypes: ['function', 'mark', 'measure'] }, async () => {
      // Node delivers its entries in a task of its own, but marks at once.
      const observer = observers.at(-1);
      performance.timerify(function timed() {})();
      await delay(20);
      // On a busy machine the observer has not been called yet.
      taken = observer.takeRecords().map(({ name }) => name);
      performance.mark('late');
      performance.mark('early', { startTime: 0 });
    });
    const first = entries.map(({ name }) => name);
    assert.deepEqual(
      { taken, first },
      taken.length > 0 ? { taken: ['timed'], first: ['early', 'late'] } : { taken: [], first: ['timed'] },
    );
  });

  test('hear no more when they disconnect', async () => {
    let calls = 0;
    const observer = new PerformanceObserver(() => calls++);
    observer.observe({ type: 'function' });
    observer.disconnect();
    performance.timerify(() => {})();
    await delay(20);
    assert.equal(calls, 0);
  });

  test('get buffered resources', async () => {
    resource('https://example.test/buffered');
    const entries = await firstEntries({ type: 'resource', buffered: true }, () => {});
    assert.deepEqual(
      entries.map(({ name }) => name),
      ['https://example.test/buffered'],
    );
  });
});

suite('resources', () => {
  test('are on the timeline, in time order', () => {
    const early = performance.mark('early');
    const between = resource('https://example.test/between');
    const late = performance.mark('late', { startTime: performance.now() + 10 });
    assertSame(performance.getEntries(), [early, between, late]);
    assertSame(performance.getEntriesByType('resource'), [between]);
    assertSame(performance.getEntriesByName('https://example.test/between'), [between]);
    assertSame(performance.getEntriesByName('https://example.test/between', 'resource'), [between]);
    assertSame(performance.getEntriesByName('https://example.test/between', 'mark'), []);
    performance.clearResourceTimings();
    assertSame(performance.getEntries(), [early, late]);
  });

  test('are the only entries that come from Node', () => {
    perfHooks.performance.mark('theirs');
    assert.deepEqual(performance.getEntries(), []);
    assert.deepEqual(performance.getEntriesByName('theirs'), []);
    assert.deepEqual(performance.getEntriesByType('node'), []);
    perfHooks.performance.clearMarks();
  });

  test('that do not fit are an event, with ours as its target', async (t) => {
    t.after(() => performance.setResourceTimingBufferSize(250));
    performance.setResourceTimingBufferSize(1);
    const events = [];
    const listener = (event) => events.push(['listener', event.target]);
    performance.addEventListener('resourcetimingbufferfull', listener);
    performance.onresourcetimingbufferfull = function (event) {
      events.push(['handler', this, event.target]);
    };
    for (let i = 0; i < 3; i++) resource(`https://example.test/${i}`);
    while (events.length < 2) await delay(5);
    assert.deepEqual(
      events.slice(0, 2).map(([who]) => who),
      ['listener', 'handler'],
    );
    assert.ok(events.every(([, ...targets]) => targets.every((target) => target === performance)));
    performance.removeEventListener('resourcetimingbufferfull', listener);
    performance.onresourcetimingbufferfull = 'nothing that could be called';
    assert.equal(performance.onresourcetimingbufferfull, null);
  });
});

suite('milestones of Node', () => {
  test('can be measured from, as there', () => {
    for (const name of ['nodeStart', 'v8Start', 'environment', 'bootstrapComplete']) {
      assert.equal(performance.measure('m', name, name).startTime, performance.nodeTiming[name], name);
    }
    assert.ok(performance.measure('boot', 'nodeStart', 'bootstrapComplete').duration > 0);
  });

  test('are no marks', () => {
    assert.throws(() => performance.measure('m', 'loopExit'), { name: 'SyntaxError' }, 'it has not come');
    assert.throws(() => performance.measure('m', 'idleTime'), { name: 'SyntaxError' }, 'it is none');
    assert.deepEqual(performance.getEntriesByName('nodeStart'), []);
  });

  test('give way to marks of their names', () => {
    performance.mark('nodeStart', { startTime: 7 });
    assert.equal(performance.measure('m', 'nodeStart').startTime, 7);
    performance.clearMarks();
    performance.measure('nodeStart');
    assert.equal(performance.measure('m', 'nodeStart').startTime, performance.nodeTiming.nodeStart);
  });
});

suite('console.log', () => {
  test('shows the attributes', () => {
    const mark = performance.mark('shown', { startTime: 1.5, detail: { a: [1] } });
    assert.equal(
      inspect(mark, { breakLength: Infinity }),
      "PerformanceMark { name: 'shown', entryType: 'mark', startTime: 1.5, duration: 0, detail: { a: [ 1 ] } }",
    );
    assert.match(inspect(performance.measure('shown')), /^PerformanceMeasure \{/);
    assert.match(inspect({ nested: [mark] }), /PerformanceMark \{/);
    assert.match(inspect(performance), /^Performance \{\s+timeOrigin: \d/);
    class Mine extends PerformanceMark {}
    assert.match(inspect(new Mine('m')), /^Mine \{\s+name: 'm'/);
  });

  test('shows a prototype', () => {
    for (const Interface of [Performance, PerformanceEntry, PerformanceMark]) {
      assert.equal(typeof inspect(Interface.prototype), 'string');
    }
  });
});

suite('a program', () => {
  test('gets its last entries before it ends', async () => {
    const { stdout } = await runProgram(
      `
      const { performance, PerformanceObserver } = require(${JSON.stringify(new URL('../../index.cjs', import.meta.url).pathname)});
      new PerformanceObserver((list) => console.log(list.getEntries().map(({ name }) => name).join(' '))).observe({ entryTypes: ['mark', 'measure'] });
      performance.mark('a');
      performance.measure('b', 'a');
      `,
      { execArgv: [] },
    );
    assert.equal(stdout, 'a b\n');
  });

  test('is not kept alive by an observer', async () => {
    const { code, stderr } = await runProgram(
      `
      const { PerformanceObserver } = require(${JSON.stringify(new URL('../../index.cjs', import.meta.url).pathname)});
      new PerformanceObserver(() => {}).observe({ entryTypes: PerformanceObserver.supportedEntryTypes });
      `,
      { execArgv: [], patience: 20_000 },
    );
    assert.deepEqual([code, stderr], [0, '']);
  });
});

test('what the package reads is there', async () => {
  const { exports, files } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  assert.ok(files.includes('src') && files.includes('register'));
  for (const name of ['./timing', './register/timing']) assert.ok(name in exports, name);
});
