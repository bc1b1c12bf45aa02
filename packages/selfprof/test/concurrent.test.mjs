// Many profilers at once, and many one after the other.

import assert from 'node:assert/strict';
import { Session } from 'node:inspector';
import { suite, test } from 'node:test';

import { Profiler } from 'selfprof';

import { growthOf } from './growth.mjs';
import { spin } from './spin.mjs';
import { assertWellFormed, framesOf, hasCalls } from './well-formed.mjs';

const UNLIMITED = 2 ** 32 - 1;

/**
 * Fails unless a session has as many samples as its interval allows, and nearly one for each interval in which V8 took
 * any: the times of these are `ticks`.
 */
function assertPlausible(samples, interval, elapsed, ticks) {
  const begin = samples[0].timestamp;
  const inTime = samples.filter(({ timestamp }) => timestamp <= ticks.at(-1)).length;
  const intervals = new Set(ticks.filter((tick) => tick >= begin).map((tick) => Math.floor((tick - begin) / interval)));
  const what = `${samples.length} samples at ${interval} ms in ${elapsed} ms`;
  assert.ok(samples.length <= elapsed / interval + 2, what);
  // A sample that is due at the border of two intervals may count for either.
  assert.ok(inTime >= intervals.size * 0.9 - 2, `${what}, but V8 took some in ${intervals.size} intervals`);
}

/**
 * What a sample shows, with names instead of ids. The stack of a `gc` sample comes from its neighbours in the trace.
 */
function show(trace, { marker, stackId }) {
  if (marker === 'gc') return marker;
  return [marker ?? 'idle', ...framesOf(trace, stackId).map(({ name }) => name)].join(' < ');
}

suite('at once', () => {
  test('500 profilers with 500 intervals each get their own samples', async () => {
    const profilers = [];
    for (let i = 1; i <= 500; i++) {
      const begin = performance.now();
      profilers.push({ begin, profiler: new Profiler({ sampleInterval: i, maxBufferSize: UNLIMITED }) });
    }
    spin(600);
    const stopped = profilers.map(({ begin, profiler }) => {
      const trace = profiler.stop();
      return { begin, end: performance.now(), interval: profiler.sampleInterval, trace };
    });
    const ticks = (await stopped[0].trace).samples.map(({ timestamp }) => timestamp);
    for (const [index, { begin, end, interval, trace }] of stopped.entries()) {
      assert.equal(interval, index + 1);
      const { samples, frames } = await trace;
      assertWellFormed(await trace);
      assertPlausible(samples, interval, end - begin, ticks);
      assert.ok(samples[0].timestamp > begin - 1 && samples.at(-1).timestamp < end + 1);
      // A second sample is of the loop; longer intervals may have the first alone.
      if (samples.some(({ marker }, at) => at > 0 && marker === 'script')) {
        assert.ok(
          frames.some(({ name }) => name === 'spin'),
          `interval ${interval}`,
        );
      }
    }
  });

  test('150 profilers with one interval, more than V8 has runs, get the same samples', async () => {
    const profilers = Array.from({ length: 150 }, () => new Profiler({ sampleInterval: 5, maxBufferSize: UNLIMITED }));
    const begin = performance.now();
    spin(300);
    const end = performance.now();
    const traces = await Promise.all(profilers.map((profiler) => profiler.stop()));
    /** What each sample shows that V8 took, by its time. */
    const shown = new Map();
    for (const trace of traces) {
      assertWellFormed(trace);
      const within = trace.samples.filter(({ timestamp }) => timestamp >= begin + 10 && timestamp <= end);
      const most = (end - begin) / 5 + 2;
      assert.ok(within.length >= 4 && within.length <= most, `${within.length} samples in ${end - begin} ms`);
      for (const sample of within) {
        const known = shown.get(sample.timestamp);
        if (known === undefined) shown.set(sample.timestamp, show(trace, sample));
        else assert.equal(show(trace, sample), known, `two samples at ${sample.timestamp}`);
      }
    }
    // With samples of their own, the profilers would have 150 times as many. V8 takes one in a millisecond.
    assert.ok(shown.size <= end - begin + 2, `${shown.size} samples in ${end - begin} ms`);
  });

  test('one that is stopped leaves the others going', async () => {
    const [short, long] = [7, 3].map((sampleInterval) => new Profiler({ sampleInterval, maxBufferSize: UNLIMITED }));
    spin(150);
    const first = await short.stop();
    const between = performance.now();
    (function later() {
      spin(150);
    })();
    const second = await long.stop();
    assert.ok(first.samples.at(-1).timestamp <= between);
    assert.ok(!first.frames.some(({ name }) => name === 'later'));
    assert.ok(second.samples[0].timestamp < between && second.samples.at(-1).timestamp > between);
    assert.ok(hasCalls(second, ['spin', 'later']));
  });

  test('one that starts later has no earlier samples', async () => {
    const early = new Profiler({ sampleInterval: 1, maxBufferSize: UNLIMITED });
    (function sooner() {
      spin(150);
    })();
    const begin = performance.now();
    const late = new Profiler({ sampleInterval: 1, maxBufferSize: UNLIMITED });
    spin(150);
    const [all, some] = await Promise.all([early.stop(), late.stop()]);
    assert.ok(hasCalls(all, ['spin', 'sooner']));
    assert.ok(some.samples[0].timestamp > begin - 1);
    assert.ok(!some.frames.some(({ name }) => name === 'sooner'));
  });

  test('the limit of one does not affect another', async () => {
    const limits = [0, 1, 10, 100, UNLIMITED];
    const profilers = limits.map((maxBufferSize) => new Profiler({ sampleInterval: 1, maxBufferSize }));
    spin(400);
    const counts = (await Promise.all(profilers.map((profiler) => profiler.stop()))).map(
      ({ samples }) => samples.length,
    );
    assert.deepEqual(counts.slice(0, 3), [0, 1, 10]);
    assert.ok(counts[3] <= 100 && counts[4] >= counts[3], String(counts));
  });
});

suite('beside the inspector', () => {
  test('its profiler and this one both work, in either order', async () => {
    const session = new Session();
    session.connect();
    const post = (method) =>
      new Promise((resolve, reject) => {
        session.post(method, (error, result) => (error ? reject(error) : resolve(result)));
      });
    function both() {
      spin(150);
    }
    try {
      await post('Profiler.enable');
      for (const inspectorFirst of [true, false]) {
        if (inspectorFirst) await post('Profiler.start');
        const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: UNLIMITED });
        if (!inspectorFirst) await post('Profiler.start');
        both();
        let trace = inspectorFirst ? await profiler.stop() : undefined;
        const { profile } = await post('Profiler.stop');
        trace ??= await profiler.stop();
        assertWellFormed(trace);
        assert.ok(hasCalls(trace, ['spin', 'both']));
        assert.ok(profile.nodes.some(({ callFrame }) => callFrame.functionName === 'both'));
        assert.ok(profile.samples.length > 3);
      }
    } finally {
      session.disconnect();
    }
  });
});

suite('one after the other', () => {
  test('thousands of profilers leave neither memory nor threads nor handles behind', async () => {
    const { megabytes, heap, threads, files, handles } = await growthOf(`
      for (let i = 0; i < 5_000; i++) {
        if (i === 1000) warm();
        const profiler = new Profiler({ sampleInterval: 1 + i % 3, maxBufferSize: 100 });
        if (i % 2) await profiler.stop();
        else profiler.stop();
      }
    `);
    assert.ok(megabytes < 24, `4,000 profilers left ${megabytes} MB behind`);
    assert.ok(heap < 2.5, `4,000 profilers left ${heap} MB of JavaScript's heap behind`);
    assert.ok(threads <= 1, `4,000 profilers left ${threads} threads behind`);
    assert.ok(files <= 1, `4,000 profilers left ${files} files behind`);
    assert.ok(handles <= 1, `4,000 profilers left ${handles} handles behind`);
  });

  test('a long recording does not keep what others have read', async () => {
    const { megabytes } = await growthOf(`
      const long = new Profiler({ sampleInterval: 1, maxBufferSize: 10 });
      for (let i = 0; i < 1_500; i++) {
        if (i === 300) warm();
        const profiler = new Profiler({ sampleInterval: 2, maxBufferSize: 10 });
        if (i % 10 === 0) for (const end = performance.now() + 5; performance.now() < end; );
        await profiler.stop();
      }
      process.once('beforeExit', async () => {
        const { samples } = await long.stop();
        if (samples.length !== 10) throw new Error(samples.length + ' samples of the long recording');
      });
    `);
    // V8 gives each profile a buffer of half a megabyte.
    assert.ok(megabytes < 24, `1,200 profilers beside it left ${megabytes} MB behind`);
  });
});
