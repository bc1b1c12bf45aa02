// bufferPolicy 'circular': the last samples before stop().

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite, test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { Profiler } from 'selfprof';

import { REGISTER, runProgram, SAMPLER_THREADS } from './program.mjs';
import { spin } from './spin.mjs';
import { assertWellFormed, hasCalls } from './well-formed.mjs';

const make = (options) => new Profiler({ sampleInterval: 1, maxBufferSize: 100, bufferPolicy: 'circular', ...options });

suite('a circular buffer', () => {
  test('holds the last samples and what they use', async () => {
    const profiler = make();
    (function before() {
      spin(300);
    })();
    await sleep(5);
    (function inTheEnd() {
      spin(250);
    })();
    const stopping = performance.now();
    const trace = await profiler.stop();
    assertWellFormed(trace);
    assert.equal(trace.samples.length, 100);
    assert.ok(trace.samples.at(-1).timestamp > stopping - 50);
    assert.ok(hasCalls(trace, ['spin', 'inTheEnd']));
    const names = trace.frames.map(({ name }) => name);
    assert.ok(!names.includes('before'), String(names));
    assertNoMoreThanUsed(trace);
  });

  test('holds all samples while there are few', async () => {
    const begin = performance.now();
    const profiler = make({ maxBufferSize: 2 ** 32 - 1 });
    spin(100);
    const trace = await profiler.stop();
    assertWellFormed(trace);
    assert.ok(trace.samples.length > 10);
    assert.ok(trace.samples[0].timestamp < begin + 20);
    assertNoMoreThanUsed(trace);
  });

  test('is never full', async () => {
    for (const maxBufferSize of [0, 1, 10]) {
      const profiler = make({ maxBufferSize });
      profiler.addEventListener('samplebufferfull', () => assert.fail('it fired'));
      spin(50);
      await sleep(50);
      const trace = await profiler.stop();
      assertWellFormed(trace);
      assert.equal(trace.samples.length, maxBufferSize);
    }
  });

  test('goes beside others, each with its own', async () => {
    const [ring, stopper, coarse] = [
      make({ maxBufferSize: 20 }),
      make({ bufferPolicy: 'stop' }),
      make({ sampleInterval: 7 }),
    ];
    spin(400);
    const traces = await Promise.all([ring, stopper, coarse].map((profiler) => profiler.stop()));
    traces.forEach(assertWellFormed);
    const [last, first, some] = traces.map(({ samples }) => samples);
    assert.deepEqual([last.length, first.length], [20, 100]);
    assert.ok(some.length > 5 && some.length <= 100);
    assert.ok(first.at(-1).timestamp < last[0].timestamp);
  });

  test('can be compressed', async () => {
    const profiler = make({ maxBufferSize: 30 });
    spin(400);
    const trace = JSON.parse(gunzipSync(await profiler.stop({ format: 'json-gzip' })));
    assertWellFormed(trace);
    assert.equal(trace.samples.length, 30);
  });

  test('continues in a profiler that is referenced, and ends in one that is not', async () => {
    const { stdout, stderr, code } = await runProgram(
      `
      const { areSampled, untilNoneIsSampled } = require(${JSON.stringify(SAMPLER_THREADS)});
      const turn = () => new Promise((resolve) => setTimeout(resolve, 10));
      const make = () => new Profiler({ sampleInterval: 1, maxBufferSize: 10, bufferPolicy: 'circular' });
      globalThis.held = make();
      make().addEventListener('samplebufferfull', () => {});
      (async () => {
        for (let i = 0; i < 20; i++) { gc(); await turn(); }
        const during = await areSampled();
        const { samples } = await held.stop();
        console.log(during, samples.length, await untilNoneIsSampled());
      })();
    `,
      { execArgv: ['--expose-gc', '--require', REGISTER] },
    );
    assert.deepEqual({ stdout, code }, { stdout: 'true 10 true\n', code: 0 }, stderr);
  });

  test('does not grow with the code that a program runs through', async () => {
    const { stdout, stderr, code } = await runProgram(
      `
      ${spin}
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 200, bufferPolicy: 'circular' });
      // Hundreds of functions, each new, for longer than V8 keeps samples before they are cut off.
      (async () => {
        for (let i = 0; performance.now() < 12_000; i++) {
          new Function('spin', 'return function unlike' + i + '() { spin(1.5); }')(spin)();
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        const trace = await profiler.stop();
        console.log(trace.samples.length, trace.frames.length < 300, trace.stacks.length < 900);
      })();
    `,
    );
    assert.deepEqual({ stdout, code }, { stdout: '200 true true\n', code: 0 }, stderr);
  });
});

/** Fails when the trace holds a stack, a frame or a resource that no sample needs. */
function assertNoMoreThanUsed({ frames, resources, samples, stacks }) {
  const used = new Set();
  for (const { stackId } of samples) {
    for (let id = stackId; id !== undefined && !used.has(id); id = stacks[id].parentId) used.add(id);
  }
  assert.equal(used.size, stacks.length, 'stacks');
  assert.equal(new Set(stacks.map(({ frameId }) => frameId)).size, frames.length, 'frames');
  const places = new Set(frames.map(({ resourceId }) => resourceId).filter((id) => id !== undefined));
  assert.equal(places.size, resources.length, 'resources');
}
