// cancel(): ends a session without a trace.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite, test } from 'node:test';

import { Profiler } from 'selfprof';

import { growthOf } from './growth.mjs';
import { runProgram, SAMPLER_THREADS } from './program.mjs';
import { spin } from './spin.mjs';
import { assertWellFormed, hasCalls } from './well-formed.mjs';

const OPTIONS = { sampleInterval: 1, maxBufferSize: 100_000 };

function assertInvalidState(error) {
  assert.ok(error instanceof DOMException);
  assert.equal(error.name, 'InvalidStateError');
  return true;
}

suite('cancel()', () => {
  test('gives nothing and sets stopped', () => {
    const profiler = new Profiler(OPTIONS);
    spin(5);
    assert.equal(profiler.cancel(), undefined);
    assert.equal(profiler.stopped, true);
    assert.equal(profiler.sampleInterval, 1);
  });

  test('throws an InvalidStateError when the profiler was ended before', async () => {
    const cancelled = new Profiler(OPTIONS);
    cancelled.cancel();
    assert.throws(() => cancelled.cancel(), assertInvalidState);
    await assert.rejects(cancelled.stop(), assertInvalidState);

    const stopped = new Profiler(OPTIONS);
    const trace = stopped.stop();
    assert.throws(() => stopped.cancel(), assertInvalidState);
    assertWellFormed(await trace);
  });

  test('leaves other profilers alone', async () => {
    const [kept, cancelled] = [1, 2].map((sampleInterval) => new Profiler({ ...OPTIONS, sampleInterval }));
    spin(50);
    cancelled.cancel();
    const between = performance.now();
    (function afterwards() {
      spin(100);
    })();
    const trace = await kept.stop();
    assertWellFormed(trace);
    assert.ok(trace.samples[0].timestamp < between && trace.samples.at(-1).timestamp > between);
    assert.ok(hasCalls(trace, ['spin', 'afterwards']));
  });

  test('keeps samplebufferfull from firing, even when the buffer is full already', async () => {
    let fired = 0;
    for (let i = 0; i < 50; i++) {
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: i % 3 });
      profiler.addEventListener('samplebufferfull', () => fired++);
      // Long enough for the event to be on its way to the event loop, which has no turn here.
      spin(i % 8);
      profiler.cancel();
    }
    await sleep(100);
    assert.equal(fired, 0);
  });

  test('may be called by a listener of samplebufferfull', async () => {
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 2 });
    await new Promise((resolve, reject) => {
      const timeout = setTimeout(() => reject(new Error('samplebufferfull did not fire within 20 s')), 20_000);
      profiler.addEventListener('samplebufferfull', () => {
        clearTimeout(timeout);
        profiler.cancel();
        resolve();
      });
    });
    await assert.rejects(profiler.stop(), assertInvalidState);
  });

  test('ends sampling at once, and does not keep the program alive', async () => {
    const { stdout, stderr, code } = await runProgram(`
      const { areSampled, sampledThreads } = require(${JSON.stringify(SAMPLER_THREADS)});
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1000 });
      areSampled().then((during) => {
        profiler.cancel();
        console.log(during, sampledThreads());
      });
    `);
    assert.deepEqual({ stdout, code }, { stdout: 'true 0\n', code: 0 }, stderr);
  });

  test('of thousands leaves neither memory nor threads behind', async () => {
    const { megabytes, heap, threads } = await growthOf(`
      for (let i = 0; i < 2000; i++) {
        if (i === 500) warm();
        new Profiler({ sampleInterval: 1 + i % 3, maxBufferSize: 100 }).cancel();
        if (i % 10 === 0) await new Promise(setImmediate);
      }
    `);
    assert.ok(megabytes < 15, `1,500 profilers left ${megabytes} MB behind`);
    assert.ok(heap < 2.5, `1,500 profilers left ${heap} MB of JavaScript's heap behind`);
    assert.ok(threads <= 1, `1,500 profilers left ${threads} threads behind`);
  });
});
