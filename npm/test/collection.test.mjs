// Profilers that nobody holds any more: their sessions end.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { REGISTER, runProgram } from './program.mjs';

/** Runs a program that can call `gc()` and `sampling()`, which says whether V8 samples the process. */
function run(source) {
  return runProgram(
    `
    const { readdirSync, readFileSync } = require('node:fs');
    // V8 has this thread while at least one profile is going.
    function sampling() {
      return readdirSync('/proc/self/task').some((task) => {
        try {
          return readFileSync('/proc/self/task/' + task + '/comm', 'utf8').startsWith('v8:ProfEvntProc');
        } catch {
          return false; // It ended meanwhile.
        }
      });
    }
    const turn = () => new Promise((resolve) => setTimeout(resolve, 10));
    /** Collects garbage until nothing samples, or for ten seconds. */
    async function collect() {
      for (let i = 0; i < 1000 && sampling(); i++) {
        gc();
        await turn();
      }
      return !sampling();
    }
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
      const before = sampling();
      const profilers = [1, 2].map((sampleInterval) => new Profiler({ sampleInterval, maxBufferSize: 1000 }));
      const during = sampling();
      await profilers[0].stop();
      const still = sampling();
      await profilers[1].stop();
      console.log(before, during, still, sampling());
    `,
      'false true true false\n',
    ));

  test('no longer than until the last buffer is full', () =>
    expect(
      `
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 5 });
      for (let i = 0; i < 1000 && sampling(); i++) await turn();
      console.log(sampling(), (await profiler.stop()).samples.length);
    `,
      'false 5\n',
    ));
});

suite('a leaked profiler', () => {
  test('is collected, and sampling ends', () =>
    expect(
      `
      for (let i = 0; i < 50; i++) new Profiler({ sampleInterval: 1 + i, maxBufferSize: 2 ** 32 - 1 });
      const during = sampling();
      console.log(during, await collect());
    `,
      'true true\n',
    ));

  test('does not take one along that is held', () =>
    expect(
      `
      const held = new Profiler({ sampleInterval: 1, maxBufferSize: 2 ** 32 - 1 });
      for (let i = 0; i < 50; i++) new Profiler({ sampleInterval: 1 + i, maxBufferSize: 2 ** 32 - 1 });
      for (let i = 0; i < 20; i++) { gc(); await turn(); }
      const during = sampling();
      const { samples } = await held.stop();
      console.log(during, samples.length > 5, await collect());
    `,
      'true true true\n',
    ));

  test('whose buffer is full is collected too', () =>
    expect(
      `
      for (let i = 0; i < 50; i++) new Profiler({ sampleInterval: 1, maxBufferSize: i % 3 });
      for (let i = 0; i < 20; i++) { gc(); await turn(); }
      console.log(await collect());
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
      console.log(Math.min(...counts) > 0, sampling());
    `,
      'true false\n',
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
      console.log(await collect(), await collected);
    `,
      'true collected\n',
    ));
});
