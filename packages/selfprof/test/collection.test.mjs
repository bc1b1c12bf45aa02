// Profilers that nobody holds any more: their sessions end.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { REGISTER, runProgram, SAMPLER_THREADS } from './program.mjs';

/** Runs a program that can call `gc()`, and ask which threads V8 samples. */
function run(source) {
  return runProgram(
    `
    const { areSampled, sampledThreads, untilNoneIsSampled } = require(${JSON.stringify(SAMPLER_THREADS)});
    const turn = () => new Promise((resolve) => setTimeout(resolve, 10));
    (async () => { ${source} })();
  `,
    { execArgv: ['--expose-gc', '--require', REGISTER] },
  );
}

async function expect(source, output) {
  const { stdout, stderr, code, signal } = await run(source);
  assert.deepEqual({ stdout, code, signal }, { stdout: output, code: 0, signal: null }, stderr);
}

suite('V8 samples', () => {
  test('neither before the first profiler nor after the last', () =>
    expect(
      `
      const before = sampledThreads();
      const profilers = [1, 2].map((sampleInterval) => new Profiler({ sampleInterval, maxBufferSize: 1000 }));
      const during = await areSampled();
      await profilers[0].stop();
      const still = await areSampled();
      await profilers[1].stop();
      console.log(before, during, still, sampledThreads());
    `,
      '0 true true 0\n',
    ));

  test('no longer than until the last buffer is full', () =>
    expect(
      `
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 5 });
      console.log(await untilNoneIsSampled(), (await profiler.stop()).samples.length);
    `,
      'true 5\n',
    ));
});

suite('a leaked profiler', () => {
  test('is collected, and sampling ends', () =>
    expect(
      `
      for (let i = 0; i < 50; i++) new Profiler({ sampleInterval: 1 + i, maxBufferSize: 2 ** 32 - 1 });
      const during = await areSampled();
      console.log(during, await untilNoneIsSampled());
    `,
      'true true\n',
    ));

  test('does not take one along that is held', () =>
    expect(
      `
      const held = new Profiler({ sampleInterval: 1, maxBufferSize: 2 ** 32 - 1 });
      for (let i = 0; i < 50; i++) new Profiler({ sampleInterval: 1 + i, maxBufferSize: 2 ** 32 - 1 });
      for (let i = 0; i < 20; i++) { gc(); await turn(); }
      const during = await areSampled();
      const { samples } = await held.stop();
      console.log(during, samples.length > 5, await untilNoneIsSampled());
    `,
      'true true true\n',
    ));

  test('whose buffer is full is collected too', () =>
    expect(
      `
      for (let i = 0; i < 50; i++) new Profiler({ sampleInterval: 1, maxBufferSize: i % 3 });
      for (let i = 0; i < 20; i++) { gc(); await turn(); }
      console.log(await untilNoneIsSampled());
    `,
      'true\n',
    ));

  test('whose stop() was called still delivers', () =>
    expect(
      `
      const traces = [];
      for (let i = 0; i < 50; i++) traces.push(new Profiler({ sampleInterval: 1, maxBufferSize: 100 }).stop());
      gc();
      const counts = (await Promise.all(traces)).map(({ samples }) => samples.length);
      for (let i = 0; i < 20; i++) { gc(); await turn(); }
      console.log(Math.min(...counts) > 0, sampledThreads());
    `,
      'true 0\n',
    ));

  test('is freed with its subclass fields', () =>
    expect(
      `
      class Mine extends Profiler {
        self = this;
      }
      const collected = new Promise((resolve) => {
        globalThis.registry = new FinalizationRegistry(resolve);
        registry.register(new Mine({ sampleInterval: 1, maxBufferSize: 2 ** 32 - 1 }), 'collected');
      });
      console.log(await untilNoneIsSampled(), await collected);
    `,
      'true collected\n',
    ));
});
