// withMarker(): a program's own layout, painting, style resolution and parsing, in the traces of its thread.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { Profiler, withMarker } from 'selfprof';
import { withMarker as lazily } from 'selfprof/lazy';

import { Session, native } from '../../page/test/realm/realm-sessions.mjs';

/** What the samples that `work` forces show: marker and stack. */
async function samplesOf(work) {
  const session = new Session(undefined);
  work();
  // This file's own functions, and what it calls.
  const samples = await session.samples();
  return samples.map((text) => text.replace(/ .*work/, ' ... work'));
}

const sample = () => native.forceSample();

suite('withMarker()', () => {
  test('marks the call with everything below it, and nothing before or after it', async () => {
    function work(marker) {
      sample();
      withMarker(marker, function outer() {
        sample();
        (function inner() {
          sample();
        })();
      });
      sample();
    }
    for (const marker of ['layout', 'paint', 'parse', 'style']) {
      const samples = await samplesOf(() => work(marker));
      assert.deepEqual(
        samples.map((text) => text.split(' ')[0]),
        ['script', marker, marker, 'script'],
        marker,
      );
      assert.match(samples[2], /outer inner\b/);
      // Neither of the functions that do it is the program's.
      assert.doesNotMatch(samples.join(), /layout\.cjs|\bcall\b/);
    }
  });

  test('nests, innermost first', async () => {
    const samples = await samplesOf(function work() {
      withMarker('layout', () => {
        withMarker('style', sample);
        sample();
      });
    });
    assert.deepEqual(
      samples.map((text) => text.split(' ')[0]),
      ['style', 'layout'],
    );
  });

  test('returns what the function returns, and throws what it throws', async () => {
    assert.equal(
      withMarker('layout', () => 7),
      7,
    );
    const thrown = new Error('x');
    assert.throws(
      () =>
        withMarker('paint', () => {
          throw thrown;
        }),
      thrown,
    );
    const samples = await samplesOf(function work() {
      try {
        withMarker('paint', () => {
          throw thrown;
        });
      } catch {
        sample();
      }
    });
    assert.match(samples[0], /^script/);
    assert.equal(await withMarker('layout', async () => 7), 7);
  });

  test('rejects other markers, and what is not a function', () => {
    for (const marker of [
      'script',
      'gc',
      'other',
      'Layout',
      '',
      undefined,
      '../agent',
      '__proto__',
      Symbol('layout'),
    ]) {
      assert.throws(() => withMarker(marker, () => assert.fail()), { name: 'TypeError', message: /is not a marker/ });
    }
    assert.throws(() => withMarker('layout'), { name: 'TypeError', message: /is not a function/ });
  });

  test('is there for each way in, and in traces of Profiler', async () => {
    assert.equal(lazily, withMarker);
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 10_000 });
    let marked = false;
    // As long as it takes: the machine may be busy.
    for (let end = performance.now() + 60; performance.now() < end; ) {
      withMarker('layout', function reflow() {
        for (const until = performance.now() + 5; performance.now() < until; );
        marked = true;
      });
    }
    const { samples, stacks, frames } = await profiler.stop();
    assert.ok(marked);
    const inReflow = samples.filter(({ stackId }) => {
      for (let id = stackId; id !== undefined; id = stacks[id].parentId)
        if (frames[stacks[id].frameId].name === 'reflow') return true;
      return false;
    });
    assert.ok(inReflow.length > 0);
    assert.deepEqual(
      new Set(inReflow.map(({ marker }) => marker).filter((marker) => marker !== 'gc')),
      new Set(['layout']),
    );
  });
});
