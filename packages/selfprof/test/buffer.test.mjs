// The sample buffer size limit and `samplebufferfull`.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite, test } from 'node:test';

import { Profiler } from 'selfprof';

import { REGISTER, runProgram } from './program.mjs';
import { spin } from './spin.mjs';
import { assertWellFormed } from './well-formed.mjs';

/** Waits for the event without limit on how slow the machine is, but not for ever. */
function full(profiler) {
  return new Promise((resolve, reject) => {
    const timeout = setTimeout(() => reject(new Error('samplebufferfull did not fire within 20 s')), 20_000);
    profiler.addEventListener('samplebufferfull', (event) => {
      clearTimeout(timeout);
      resolve(event);
    });
  });
}

/** What the thread does for some milliseconds while the buffer fills. */
const LOADS = {
  idle: (ms) => sleep(ms),
  'a busy loop': (ms) => spin(ms),
  'work in small tasks': async (ms) => {
    for (const end = performance.now() + ms; performance.now() < end; await new Promise(setImmediate)) spin(1);
  },
};

for (const [load, work] of Object.entries(LOADS)) {
  suite(`during ${load}`, () => {
    for (const limit of [0, 1, 100]) {
      test(`a buffer for ${limit} samples is full once, with ${limit} samples`, async () => {
        const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: limit });
        let fired = 0;
        profiler.addEventListener('samplebufferfull', () => fired++);
        const event = full(profiler);
        await work(200);
        await event;
        await work(50);
        assert.equal(fired, 1);
        assert.equal(profiler.stopped, false, 'stop() has yet to be called');
        const trace = await profiler.stop();
        assertWellFormed(trace);
        assert.equal(trace.samples.length, limit);
        await sleep(20);
        assert.equal(fired, 1);
      });
    }
  });
}

suite('the event', () => {
  test('is a plain Event of type samplebufferfull at the profiler', async () => {
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1 });
    const event = await full(profiler);
    assert.equal(event.constructor, Event);
    assert.equal(event.type, 'samplebufferfull');
    assert.equal(event.target, profiler);
    assert.equal(event.bubbles, false);
    assert.equal(event.cancelable, false);
    await profiler.stop();
  });

  test('reaches every kind of listener, with the profiler as this', async () => {
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1 });
    const seen = [];
    profiler.addEventListener('samplebufferfull', function () {
      seen.push(this === profiler);
    });
    const object = {
      handleEvent() {
        seen.push(this === object);
      },
    };
    profiler.addEventListener('samplebufferfull', object);
    profiler.addEventListener('samplebufferfull', () => seen.push('once'), { once: true });
    const removed = () => seen.push('removed');
    profiler.addEventListener('samplebufferfull', removed);
    profiler.removeEventListener('samplebufferfull', removed);
    await full(profiler);
    assert.deepEqual(seen, [true, true, 'once']);
    await profiler.stop();
  });

  test('fires at the profiler whose buffer is full and no other', async () => {
    const small = new Profiler({ sampleInterval: 1, maxBufferSize: 3 });
    const large = new Profiler({ sampleInterval: 1, maxBufferSize: Number.MAX_SAFE_INTEGER });
    large.addEventListener('samplebufferfull', () => assert.fail('at the wrong profiler'));
    await full(small);
    spin(30);
    await sleep(30);
    assert.equal((await small.stop()).samples.length, 3);
    assert.ok((await large.stop()).samples.length > 3);
  });

  test('fires even if methods of EventTarget are overridden', async () => {
    class Mine extends Profiler {
      dispatchEvent() {
        assert.fail('firing an event calls no method');
      }
    }
    const profiler = new Mine({ sampleInterval: 1, maxBufferSize: 1 });
    await full(profiler);
    await profiler.stop();
  });

  test('does not fire while there is room', async () => {
    const profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 1_000_000 });
    let fired = 0;
    profiler.addEventListener('samplebufferfull', () => fired++);
    spin(100);
    await sleep(100);
    await profiler.stop();
    assert.equal(fired, 0);
  });

  test('does not fire once the profiler is stopped, even if it was due: as in Chromium', async () => {
    let fired = 0;
    for (let i = 0; i < 20; i++) {
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 2 });
      profiler.addEventListener('samplebufferfull', () => fired++);
      spin(i);
      const { samples } = await profiler.stop();
      assert.ok(samples.length <= 2);
    }
    // This event is sent after all others.
    await full(new Profiler({ sampleInterval: 1, maxBufferSize: 1 }));
    assert.equal(fired, 0);
  });

  test('may have a listener that calls stop()', async () => {
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 5 });
    const stopped = new Promise((resolve) => {
      profiler.addEventListener('samplebufferfull', () => resolve(profiler.stop()));
    });
    await full(profiler);
    assert.equal(profiler.stopped, true);
    assert.equal((await stopped).samples.length, 5);
  });
});

suite('after the buffer is full', () => {
  test('no sample is taken, however long it takes until stop()', async () => {
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 10 });
    await full(profiler);
    const fullAt = performance.now();
    (function afterwards() {
      spin(50);
    })();
    const trace = await profiler.stop();
    assert.equal(trace.samples.length, 10);
    assert.ok(trace.samples.at(-1).timestamp < fullAt + 1);
    assert.ok(!trace.frames.some(({ name }) => name === 'afterwards'));
  });

  test('a new profiler takes its own samples', async () => {
    const first = new Profiler({ sampleInterval: 1, maxBufferSize: 2 });
    await full(first);
    const second = new Profiler({ sampleInterval: 1, maxBufferSize: 1000 });
    spin(50);
    assert.ok((await second.stop()).samples.length > 2);
    assert.equal((await first.stop()).samples.length, 2);
  });
});

suite('a buffer that lasts long', () => {
  test('never exceeds its limit when several samples are due between two checks', async () => {
    for (const limit of [2, 7, 50, 333]) {
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: limit });
      spin(limit * 2 + 50);
      const { samples } = await profiler.stop();
      // Of a thread that never yields the sampler may miss some ticks, but never exceeds the limit.
      assert.ok(samples.length <= limit && samples.length > limit / 10, `${samples.length} of ${limit}`);
    }
  });
});

suite('an unreferenced profiler', () => {
  for (const load of ['', 'for (const end = performance.now() + 100; performance.now() < end; );']) {
    test(`has its listener called after a garbage collection (${load ? 'busy' : 'idle'})`, async () => {
      const { stdout, code } = await runProgram(
        `
        new Profiler({ sampleInterval: 10, maxBufferSize: 10 })
          .addEventListener('samplebufferfull', () => { console.log('full'); clearTimeout(alive); });
        const alive = setTimeout(() => {}, 30_000);
        gc();
        ${load}
        setTimeout(gc, 20);
        setTimeout(gc, 60);
      `,
        { execArgv: ['--expose-gc', '--require', REGISTER] },
      );
      assert.equal(stdout, 'full\n');
      assert.equal(code, 0);
    });
  }

  test('does not keep the program alive', async () => {
    const begin = performance.now();
    const { code } = await runProgram(`
      globalThis.held = new Profiler({ sampleInterval: 1000, maxBufferSize: 1000 });
      held.addEventListener('samplebufferfull', () => console.log('never'));
    `);
    assert.equal(code, 0);
    assert.ok(performance.now() - begin < 30_000);
  });

  test('reports what a listener throws as any event target does', async () => {
    const { code, stderr, stdout } = await runProgram(`
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1 });
      profiler.addEventListener('samplebufferfull', () => { throw new Error('from the listener'); });
      profiler.addEventListener('samplebufferfull', () => console.log('the next'));
      setTimeout(() => {}, 20_000);
    `);
    assert.equal(code, 1);
    assert.match(stderr, /from the listener/);
    assert.equal(stdout, 'the next\n');
  });
});
