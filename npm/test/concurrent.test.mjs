// Many profilers at once, and many one after the other.

import assert from 'node:assert/strict';
import { Session } from 'node:inspector';
import { suite, test } from 'node:test';

import { Profiler } from 'selfprof';

import { REGISTER, runProgram } from './program.mjs';
import { spin } from './spin.mjs';
import { assertWellFormed, hasCalls } from './well-formed.mjs';

const UNLIMITED = 2 ** 32 - 1;

/** Fails unless the trace has as many samples as its interval allows, and a fair part of them. */
function assertPlausible({ samples }, interval, elapsed) {
  assert.ok(samples.length >= 1, `no sample at ${interval} ms`);
  assert.ok(samples.length <= elapsed / interval + 2, `${samples.length} samples at ${interval} ms in ${elapsed} ms`);
  assert.ok(samples.length >= elapsed / interval / 20 - 1, `${samples.length} samples at ${interval} ms in ${elapsed} ms`);
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
    for (const [index, { begin, end, interval, trace }] of stopped.entries()) {
      assert.equal(interval, index + 1);
      const { samples, frames } = await trace;
      assertWellFormed(await trace);
      assertPlausible({ samples }, interval, end - begin);
      assert.ok(samples[0].timestamp > begin - 1 && samples.at(-1).timestamp < end + 1);
      // A second sample is of the loop; longer intervals may have the first alone.
      if (interval < 200) assert.ok(frames.some(({ name }) => name === 'spin'), `interval ${interval}`);
    }
  });

  test('150 profilers with one interval, more than V8 has runs, get the same samples', async () => {
    const profilers = Array.from({ length: 150 }, () => new Profiler({ sampleInterval: 5, maxBufferSize: UNLIMITED }));
    const begin = performance.now();
    spin(300);
    const end = performance.now();
    const traces = await Promise.all(profilers.map((profiler) => profiler.stop()));
    const within = traces.map(({ samples }) =>
      samples.map(({ timestamp }) => timestamp).filter((timestamp) => timestamp >= begin + 10 && timestamp <= end),
    );
    for (const [index, times] of within.entries()) {
      assertWellFormed(traces[index]);
      const most = (end - begin) / 5 + 2;
      assert.ok(times.length >= 4 && times.length <= most, `${times.length} samples in ${end - begin} ms`);
    }
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

  test('one that begins later has nothing from before', async () => {
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

  test('the limit of one does not touch another', async () => {
    const limits = [0, 1, 10, 100, UNLIMITED];
    const profilers = limits.map((maxBufferSize) => new Profiler({ sampleInterval: 1, maxBufferSize }));
    spin(400);
    const counts = (await Promise.all(profilers.map((profiler) => profiler.stop()))).map(({ samples }) => samples.length);
    assert.deepEqual(counts.slice(0, 3), [0, 1, 10]);
    assert.ok(counts[3] <= 100 && counts[4] >= counts[3], String(counts));
  });
});

suite('beside the inspector', () => {
  test("its profiler and this one both deliver, whichever begins and ends first", async () => {
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
  test('10,000 profilers leave neither memory nor threads nor handles behind', async () => {
    const { stdout, stderr, code } = await runProgram(
      `
      const { readdirSync } = require('node:fs');
      const measure = () => {
        gc();
        return {
          rss: process.memoryUsage().rss,
          heap: process.memoryUsage().heapUsed,
          threads: readdirSync('/proc/self/task').length,
          files: readdirSync('/proc/self/fd').length,
          handles: process.getActiveResourcesInfo().length,
        };
      };
      (async () => {
        let warm;
        for (let i = 0; i < 10_000; i++) {
          if (i === 2000) warm = measure();
          const profiler = new Profiler({ sampleInterval: 1 + i % 3, maxBufferSize: 100 });
          if (i % 2) await profiler.stop();
          else profiler.stop();
        }
        await new Promise((resolve) => setTimeout(resolve, 200));
        console.log(JSON.stringify([warm, measure()]));
      })();
    `,
      {
        execArgv: ['--expose-gc', '--require', REGISTER],
        // glibc learns to carve V8's large buffers out of its heap, and then keeps hundreds of megabytes that are free.
        env: { MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' },
        patience: 300_000,
      },
    );
    assert.equal(code, 0, stderr);
    const [warm, end] = JSON.parse(stdout);
    const megabytes = (end.rss - warm.rss) / 2 ** 20;
    assert.ok(megabytes < 40, `8,000 profilers left ${megabytes.toFixed(1)} MB behind`);
    assert.ok((end.heap - warm.heap) / 2 ** 20 < 5, `heap ${warm.heap} -> ${end.heap}`);
    assert.ok(end.threads <= warm.threads + 1, `threads ${warm.threads} -> ${end.threads}`);
    assert.ok(end.files <= warm.files + 1, `files ${warm.files} -> ${end.files}`);
    assert.ok(end.handles <= warm.handles + 1, `handles ${warm.handles} -> ${end.handles}`);
  });

  test('a long recording does not keep what was read of it', async () => {
    const { stdout, stderr, code } = await runProgram(
      `
      (async () => {
        const long = new Profiler({ sampleInterval: 1, maxBufferSize: 10 });
        for (let i = 0; i < 500; i++) {
          const profiler = new Profiler({ sampleInterval: 2, maxBufferSize: 10 });
          for (const end = performance.now() + 2; performance.now() < end; );
          await profiler.stop();
        }
        console.log((await long.stop()).samples.length);
      })();
    `,
    );
    assert.equal(stdout, '10\n', stderr);
    assert.equal(code, 0);
  });
});
