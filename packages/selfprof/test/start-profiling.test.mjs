// performance.startProfiling(): the explainer's minimal API, and the format that it gives.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { performance } from 'selfprof';

import { PACKAGE, runProgram } from './program.mjs';
import { spin } from './spin.mjs';

/** Profiles `work`; gives the result, which is checked to be of version 1 of the format. */
async function profile(options, work) {
  const session = await performance.startProfiling(options);
  await work();
  const result = await session.stopProfiling();
  assertWellFormed(result);
  return result;
}

function assertWellFormed(result, threads = ['main-thread']) {
  assert.deepEqual(Object.keys(result), ['version', 'options', 'effectiveInterval', 'profile']);
  assert.equal(result.version, 1);
  assert.deepEqual(Object.keys(result.options), ['interval', 'maxBufferSize', 'version']);
  const { strings, stackFrames, ...lists } = result.profile;
  assert.deepEqual(Object.keys(lists), threads);
  for (const string of strings) assert.equal(typeof string, 'string');
  for (const [id, { name, parent }] of Object.entries(stackFrames)) {
    assert.ok(name in strings, `frame ${id} has a name`);
    // Ids count from the outermost on, so there is no cycle.
    if (parent !== undefined) assert.ok(parent in stackFrames && parent < Number(id));
  }
  for (const list of Object.values(lists)) {
    let last = -Infinity;
    for (const event of list) {
      assert.ok(event.timestamp >= last);
      last = event.timestamp;
      if (event.type === 'stack') assert.ok(event.stack === undefined || event.stack in stackFrames);
      else assert.equal(typeof event.name, 'string');
      assert.equal('duration' in event, event.type === 'measure');
    }
  }
}

/** The functions of a stack as strings, innermost first. */
function pathOf({ strings, stackFrames }, stack) {
  const path = [];
  for (let id = stack; id !== undefined; id = stackFrames[id].parent) path.push(strings[stackFrames[id].name]);
  return path;
}

suite('startProfiling()', () => {
  test('works as in the example of the explainer', async () => {
    function doInterestingWork() {
      spin(60);
    }
    let failure;
    // https://github.com/WICG/js-self-profiling/blob/6510f55/README.md#minimal-api-proposal
    await performance
      .startProfiling()
      .then(async (profiler) => {
        doInterestingWork();
        assertWellFormed(await profiler.stopProfiling());
      })
      .catch((error) => (failure = error));
    assert.equal(failure, undefined);
  });

  test('has the functions of each sample and their positions', async () => {
    const { profile: trie } = await profile({ interval: 1 }, () => {
      (function work() {
        spin(100);
      })();
    });
    const paths = trie['main-thread'].map(({ stack }) => pathOf(trie, stack));
    const begins = (text) => (string) => string?.startsWith(text);
    const found = paths.find((path) => path.some(begins('spin @ ')) && path.some(begins('work @ ')));
    const [spinning, working] = found.slice(found.findIndex(begins('spin @ ')));
    assert.match(spinning, /^spin @ file:.*\/spin\.mjs:4:\d+$/);
    assert.match(working, /^work @ file:.*\/start-profiling\.test\.mjs:\d+:\d+$/);
  });

  test('has the actual configuration and the effective interval', async () => {
    const { options, effectiveInterval } = await profile({ interval: 3.2, maxBufferSize: 500, version: 1 }, () =>
      spin(100),
    );
    assert.deepEqual(options, { interval: 4, maxBufferSize: 500, version: 1 });
    assert.ok(effectiveInterval >= 3.5 && effectiveInterval < 40, String(effectiveInterval));
    const defaults = await profile(undefined, () => {});
    assert.deepEqual(defaults.options, { interval: 10, maxBufferSize: 1_000_000, version: 1 });
    for (const interval of [0, 1, null]) {
      assert.equal((await profile({ interval }, () => {})).options.interval, 1);
    }
  });

  test('has marks and measures among the samples', async () => {
    const { profile: trie } = await profile({ interval: 1 }, () => {
      spin(10);
      const { startTime } = performance.mark('a', { detail: 1 });
      spin(30);
      performance.measure('b', 'a');
      globalThis.performance.mark('Node\u2019s', { startTime: startTime + 10 });
      spin(10);
    });
    const list = trie['main-thread'];
    const { startTime } = performance.getEntriesByName('a')[0];
    const { duration } = performance.getEntriesByName('b')[0];
    assert.deepEqual(
      list.filter(({ type }) => type !== 'stack'),
      [
        { type: 'mark', timestamp: startTime, name: 'a' },
        { type: 'measure', timestamp: startTime, name: 'b', duration },
        { type: 'mark', timestamp: startTime + 10, name: 'Node\u2019s' },
      ],
    );
    const types = list.map(({ type }) => type);
    assert.ok(types.indexOf('stack') < types.indexOf('mark') && types.lastIndexOf('mark') < types.lastIndexOf('stack'));
  });

  test('has samples of the idle thread', async () => {
    const { profile: trie } = await profile({ interval: 1 }, () => new Promise((resolve) => setTimeout(resolve, 50)));
    assert.ok(trie['main-thread'].some((event) => event.type === 'stack' && !('stack' in event)));
  });

  test('keeps at most maxBufferSize samples', async () => {
    const { options, profile: trie } = await profile({ interval: 1, maxBufferSize: 3 }, () => spin(50));
    assert.equal(options.maxBufferSize, 3);
    assert.equal(trie['main-thread'].length, 3);
    assert.equal((await profile({ maxBufferSize: 0 }, () => spin(20))).effectiveInterval, null);
  });

  test('can run several times at once', async () => {
    const first = await performance.startProfiling({ interval: 2 });
    const second = await performance.startProfiling({ interval: 1 });
    spin(30);
    const results = await Promise.all([first.stopProfiling(), second.stopProfiling()]);
    for (const result of results) assertWellFormed(result);
    assert.deepEqual(
      results.map(({ options }) => options.interval),
      [2, 1],
    );
  });

  test('has a list for each thread, on one time axis', async () => {
    const { stdout, stderr } = await runProgram(
      `
      const { Worker } = require('node:worker_threads');
      const { performance } = require(${JSON.stringify(PACKAGE)});
      ${spin}
      const worker = new Worker(
        \`
          const { performance } = require(${JSON.stringify(PACKAGE)});
          ${spin}
          let profiling;
          function inWorker() {
            performance.mark('often');
            globalThis.performance.measure('since its beginning');
            spin(20);
          }
          setInterval(inWorker, 1);
          require('node:worker_threads').parentPort.once('message', async () => {
            const begin = performance.now();
            const session = await performance.startProfiling({ interval: 1 });
            performance.mark('in the worker');
            spin(50);
            const result = await session.stopProfiling();
            require('node:worker_threads').parentPort.postMessage({ ...result, window: [begin, performance.now()] });
          }).postMessage('ready');
        \`,
        { eval: true },
      );
      const message = () => new Promise((resolve) => worker.once('message', resolve));
      (async () => {
        await message();
        const begin = performance.now();
        const session = await performance.startProfiling({ interval: 1 });
        performance.mark('in the main thread');
        (function inMain() { spin(200); })();
        const fromMain = { ...(await session.stopProfiling()), window: [begin, performance.now()] };
        worker.postMessage('profile');
        const idle = setInterval(() => spin(5), 10);
        const fromWorker = await message();
        clearInterval(idle);
        worker.terminate();
        console.log(JSON.stringify([fromMain, fromWorker]));
      })();
    `,
      { execArgv: [] },
    );
    assert.ok(stdout, stderr);
    const [fromMain, fromWorker] = JSON.parse(stdout);
    for (const { window, ...result } of [fromMain, fromWorker]) {
      assertWellFormed(result, ['main-thread', 'worker-1']);
      const { profile } = result;
      const names = (thread) =>
        new Set(profile[thread].flatMap(({ stack }) => pathOf(profile, stack).map((text) => text.split(' ')[0])));
      assert.ok(names('worker-1').has('inWorker') !== names('main-thread').has('inWorker'));
      // The threads share their functions, and the time.
      assert.equal(profile.strings.length, new Set(profile.strings).size);
      // Measures may start before the profile.
      const spans = ['main-thread', 'worker-1'].map((thread) => {
        const times = profile[thread].filter(({ type }) => type !== 'measure').map(({ timestamp }) => timestamp);
        return [times[0], times.at(-1)];
      });
      assert.ok(
        Math.abs(spans[0][0] - spans[1][0]) < 2000 && spans[0][1] > spans[1][0] && spans[1][1] > spans[0][0],
        String(spans),
      );
    }
    // Each thread has its own, on the time axis of the one that asked.
    const names = ({ profile }, thread) => new Set(profile[thread].map(({ name }) => name).filter(Boolean));
    assert.deepEqual(names(fromMain, 'main-thread'), new Set(['in the main thread']));
    assert.deepEqual(names(fromMain, 'worker-1'), new Set(['often', 'since its beginning']));
    assert.deepEqual(names(fromWorker, 'main-thread'), new Set());
    assert.ok(names(fromWorker, 'worker-1').has('in the worker'));
    for (const { profile, window } of [fromMain, fromWorker]) {
      for (const { timestamp, type } of profile['worker-1']) {
        if (type === 'measure') continue;
        assert.ok(timestamp >= window[0] - 1 && timestamp <= window[1] + 1, `${type} ${timestamp}, ${window}`);
      }
    }
  });

  test('works without loading the profiler first', async () => {
    const { stdout, stderr } = await runProgram(
      `performance.startProfiling().then((session) => session.stopProfiling()).then(({ version }) => console.log(version));`,
      { execArgv: ['--require', `${PACKAGE}register/timing.cjs`] },
    );
    assert.equal(stdout, '1\n', stderr);
  });
});

suite('a profiling session', () => {
  const rejectsInvalidState = (promise) =>
    assert.rejects(promise, (error) => error instanceof DOMException && error.name === 'InvalidStateError');

  test('ends once, by either operation', async () => {
    for (const [first, then] of [
      ['stopProfiling', 'stopProfiling'],
      ['stopProfiling', 'cancelProfiling'],
      ['cancelProfiling', 'stopProfiling'],
      ['cancelProfiling', 'cancelProfiling'],
    ]) {
      const session = await performance.startProfiling();
      const ended = session[first]();
      await rejectsInvalidState(session[then]());
      const result = await ended;
      assert.equal(result?.version, first === 'stopProfiling' ? 1 : undefined);
      await rejectsInvalidState(session[then]());
    }
  });

  test('has two operations, which reject and do not throw', async () => {
    const session = await performance.startProfiling();
    await session.cancelProfiling();
    const { prototype } = session.constructor;
    assert.deepEqual(Object.keys(prototype), ['stopProfiling', 'cancelProfiling']);
    for (const name of Object.keys(prototype)) {
      assert.equal(prototype[name].length, 0);
      await assert.rejects(prototype[name].call({}), TypeError);
    }
    assert.throws(() => new session.constructor(), TypeError);
    assert.equal(Object.prototype.toString.call(session), '[object ProfilingSession]');
  });
});

suite('the options', () => {
  test('are converted in order, and rejected by the promise', async () => {
    const log = [];
    const options = {
      get version() {
        log.push('version');
        return 1;
      },
      get interval() {
        log.push('interval');
        return 1;
      },
      get maxBufferSize() {
        log.push('maxBufferSize');
        return 1;
      },
    };
    await (await performance.startProfiling(options)).cancelProfiling();
    assert.deepEqual(log, ['interval', 'maxBufferSize', 'version']);
    for (const [bad, expected] of [
      [1, TypeError],
      ['x', TypeError],
      [{ interval: NaN }, TypeError],
      [{ interval: Infinity }, TypeError],
      [{ interval: 'soon' }, TypeError],
      [{ interval: 1n }, TypeError],
      [{ interval: Symbol() }, TypeError],
      [{ interval: -0.1 }, RangeError],
      [{ interval: 1e9 }, RangeError],
      [{ maxBufferSize: -1 }, TypeError],
      [{ maxBufferSize: 2 ** 32 }, TypeError],
      [{ version: -1 }, TypeError],
      [{ version: 'x' }, TypeError],
    ]) {
      await assert.rejects(
        performance.startProfiling(bad),
        expected,
        JSON.stringify(bad, (_, value) => String(value)),
      );
    }
    for (const version of [0, 2, null, 2 ** 32 - 1]) {
      await assert.rejects(
        performance.startProfiling({ version }),
        (error) => error instanceof DOMException && error.name === 'NotSupportedError',
      );
    }
    const thrown = new Error('mine');
    const throwing = {
      get interval() {
        throw thrown;
      },
    };
    await assert.rejects(performance.startProfiling(throwing), (error) => error === thrown);
  });

  test('may be left out', async () => {
    for (const options of [[], [undefined], [null], [{}], [() => {}]]) {
      await (await performance.startProfiling(...options)).cancelProfiling();
    }
  });
});

suite('the operation', () => {
  test('is one of Performance', async () => {
    const descriptor = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(performance), 'startProfiling');
    const { value, ...attributes } = descriptor;
    assert.deepEqual(attributes, { writable: true, enumerable: true, configurable: true });
    assert.deepEqual([value.name, value.length], ['startProfiling', 0]);
    for (const foreign of [undefined, {}, globalThis.performance]) {
      await assert.rejects(Reflect.apply(value, foreign, []), TypeError);
    }
  });
});
