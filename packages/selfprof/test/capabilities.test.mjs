// Profiler.capabilities(): what it says is so, and it starts nothing.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { Profiler } from 'selfprof';

import { PACKAGE, runProgram } from './program.mjs';
import { spin } from './spin.mjs';

const { capabilities } = Profiler;

suite('Profiler.capabilities()', () => {
  test('lists what there is', () => {
    assert.deepEqual(capabilities(), {
      bufferPolicies: ['stop', 'circular', 'chunks'],
      concurrentSessions: Infinity,
      crossOriginIsolated: true,
      entryTypes: ['mark', 'measure'],
      formats: ['object', 'json-gzip'],
      functionsInlinedEarlier: process.versions.node.split('.')[0] >= 26,
      markers: ['script', 'gc', 'parse', 'paint', 'style', 'layout', 'other'],
      mode: 'eager',
      modes: ['eager', 'lazy'],
      sampleIntervals: { min: 1, quantum: 1 },
      threads: true,
      timeResolution: 0.005,
    });
  });

  test('returns a new object for each call', () => {
    const mine = capabilities();
    mine.markers.length = 0;
    mine.bufferPolicies.push('mine');
    mine.sampleIntervals.min = 0;
    assert.equal(capabilities().markers.length, 7);
    assert.equal(capabilities().sampleIntervals.min, 1);
    assert.throws(() => new Profiler({ sampleInterval: 1, maxBufferSize: 1, bufferPolicy: 'mine' }), TypeError);
  });

  test('says whether functions are seen that were inlined before', async () => {
    const { stdout, stderr } = await runProgram(
      `function inlined(n) { return Math.sqrt(n) % 7 + n % 3; }
       function caller(n) { let sum = 0; for (let i = 0; i < n; i++) sum += inlined(i); return sum; }
       // Of the processor's time: on a busy machine V8 optimizes later.
       const work = (ms) => { for (const start = process.cpuUsage(); process.cpuUsage(start).user < ms * 1000; ) caller(1e5); };
       work(500);
       const { Profiler } = require('selfprof');
       (async () => {
         const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 10000 });
         work(200);
         const { samples, stacks, frames } = await profiler.stop();
         const innermost = samples.map(({ stackId }) => frames[stacks[stackId]?.frameId]?.name);
         const seen = innermost.filter((name) => name === 'inlined').length;
         console.log(seen > samples.length / 2, Profiler.capabilities().functionsInlinedEarlier);
       })();`,
      { execArgv: [], cwd: PACKAGE },
    );
    assert.equal(stderr, '');
    const [isSeen, isSaid] = stdout.trim().split(' ');
    assert.equal(isSeen, isSaid);
  });

  test('says the mode that the agent has, and starts nothing', async () => {
    for (const [env, expected] of [
      [{}, 'eager'],
      [{ SELFPROF_PROFILING_MODE: 'lazy' }, 'lazy'],
    ]) {
      const { stdout, stderr } = await runProgram(
        `
        const { readdirSync, readFileSync } = require('node:fs');
        const { mode } = Profiler.capabilities();
        const sampling = readdirSync('/proc/self/task')
          .map((task) => readFileSync('/proc/self/task/' + task + '/comm', 'utf8'))
          .filter((name) => name.startsWith('v8:ProfEvntProc'));
        console.log(mode, sampling.length);
      `,
        { env },
      );
      assert.equal(stdout, `${expected} 0\n`, stderr);
    }
  });
});

suite('reports the actual', () => {
  test('sampleIntervals', async () => {
    const { min, quantum } = capabilities().sampleIntervals;
    for (const [asked, expected] of [
      [0, min],
      [min, min],
      [min + quantum / 4, min + quantum],
      [min + 7 * quantum, min + 7 * quantum],
    ]) {
      const profiler = new Profiler({ sampleInterval: asked, maxBufferSize: 1 });
      assert.equal(profiler.sampleInterval, expected, `${asked} was asked for`);
      profiler.cancel();
    }
  });

  test('bufferPolicies', () => {
    for (const bufferPolicy of capabilities().bufferPolicies) {
      new Profiler({ sampleInterval: 10, maxBufferSize: 10, bufferPolicy }).cancel();
    }
  });

  test('formats', async () => {
    for (const format of capabilities().formats) {
      assert.ok(await new Profiler({ sampleInterval: 10, maxBufferSize: 10 }).stop({ format }));
    }
  });

  test('timeResolution and markers', async () => {
    const { timeResolution, markers } = capabilities();
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 10_000 });
    const kept = [];
    for (let i = 0; i < 20; i++) {
      spin(10);
      kept.push(Array.from({ length: 50_000 }, (_, i) => ({ i })));
    }
    const { samples } = await profiler.stop();
    for (const { marker, timestamp } of samples) {
      assert.ok(marker === undefined || markers.includes(marker), marker);
      const steps = timestamp / timeResolution;
      assert.ok(Math.abs(steps - Math.round(steps)) < 1e-6, `${timestamp} is a multiple of ${timeResolution}`);
    }
  });
});
