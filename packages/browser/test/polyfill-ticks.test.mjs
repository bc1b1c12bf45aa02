// Which samples the runtime takes when.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import v8 from 'node:v8';
import vm from 'node:vm';

import { brief, page } from './polyfill.mjs';

/** The samples of jobs, each of which is code. Numbers are milliseconds in which nothing happens. */
async function check(jobs, expected, { interval = 10, ...options } = {}) {
  const it = page(options);
  const profiler = it.start(interval);
  for (const job of jobs) typeof job === 'number' ? it.wait(job) : it.job(job);
  const trace = await it.job(() => profiler.stop());
  assert.deepEqual(brief(trace), expected);
  return { ...it, trace };
}

describe('the runtime', () => {
  it('charges the time before an entry to the caller', async () => {
    await check(['inner(() => { pass(25); inner(() => {}) })'], ['?', 'inner', 'inner']);
  });

  it('charges the time before an exit to the function', async () => {
    await check(['outer(() => inner(() => pass(20)))'], ['?', 'outer > inner', 'outer > inner']);
  });

  it('charges rounds of loops and native calls to the function', async () => {
    await check(['inner(() => loop(3, 10))'], ['?', 'inner > loop', 'inner > loop', 'inner > loop']);
    await check(['inner(() => native(20))'], ['?', 'inner > native', 'inner > native']);
  });

  it('has samples without a stack in idle time', async () => {
    await check([35, 'inner(() => pass(20))', 20], ['?', '-', '-', '-', 'inner', 'inner', '-', '-']);
  });

  it('does not say what ran after the last event of a job, but that something did', async () => {
    await check(['inner(() => {}); pass(20)', 10], ['?', '?', '?', '-']);
  });

  it('does not invent what ran before an entry that no instrumented function called', async () => {
    await check(['inner(() => pass(1)); pass(20); inner(() => {})'], ['?', '?', '?']);
  });

  it('charges what runs after an await to the function, and not to idle time', async () => {
    const it = page({ globals: { queueMicrotask } });
    const profiler = it.start();
    await it.run('later(20)');
    await it.run('later(20)');
    assert.deepEqual(brief(await profiler.stop()), ['?', 'later', 'later', 'later', 'later']);
  });

  it('charges what runs from the end of a wait to the next check to the function, and the wait to nobody', async () => {
    const it = page({ globals: { queueMicrotask } });
    const profiler = it.start();
    let resolve;
    const promise = new Promise((fulfill) => {
      resolve = fulfill;
    });
    const done = it.run('wake')(promise, 20);
    await new Promise(setImmediate);
    it.time += 20;
    resolve();
    await done;
    assert.deepEqual(brief(await profiler.stop()), ['?', '-', '-', 'wake', 'wake']);
  });

  it('charges the time before a generator goes on to what called it', async () => {
    const it = page();
    const profiler = it.start();
    it.job('consume(4, 20)');
    const samples = brief(await it.job(() => profiler.stop()));
    // The first time passes where the runtime does not look at the clock at each event.
    assert.deepEqual(samples.slice(3), new Array(6).fill('consume'));
  });

  it('takes the first sample when it is constructed', async () => {
    const it = page();
    const stopped = it.job(`
      let profiler;
      outer(() => inner(() => profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 10 })));
      profiler.stop()`);
    const trace = await stopped;
    assert.deepEqual(brief(trace), ['outer > inner']);
    assert.deepEqual(trace.samples[0].timestamp, 1_001);
  });

  it('has no sample of what came after stop()', async () => {
    const it = page();
    const profiler = it.start();
    const stopped = it.job(() => profiler.stop());
    it.job('inner(() => pass(50))');
    assert.deepEqual(brief(await stopped), ['?']);
  });

  it('has timestamps one interval apart', async () => {
    const { trace } = await check(['inner(() => pass(77))', 31], ['?', ...new Array(3).fill('inner'), '-', '-'], {
      interval: 20,
    });
    assert.deepEqual(
      Array.from(trace.samples, ({ timestamp }) => timestamp),
      [1_000, 1_020, 1_040, 1_060, 1_080, 1_100],
    );
  });

  it('reads the clock seldom where events are dense, and at once after a pause', async () => {
    const it = page();
    it.start();
    it.clockReads = 0;
    // 10,000 events in a millisecond.
    it.job('inner(() => loop(1e6, 0.0001))');
    const dense = it.clockReads;
    assert.ok(dense > 1_000 && dense < 30_000, `${dense} of 1,000,000 events read the clock`);
    it.clockReads = 0;
    it.job('inner(() => loop(100, 1))');
    assert.ok(it.clockReads >= 100, `${it.clockReads} of 100 events read the clock`);
  });

  it('reads the clock seldom in dense code that is interrupted, as by garbage collections', async () => {
    const it = page();
    it.start();
    it.job('inner(() => loop(1e6, 0.0001))');
    it.clockReads = 0;
    it.job('inner(() => { for (let i = 0; i < 10; i++) { loop(1e5, 0.0001); pass(5) } })');
    assert.ok(it.clockReads < 30_000, `${it.clockReads} of 1,000,000 events read the clock`);
  });

  it('does not wait for the countdown of dense code in code with few events', async () => {
    const it = page();
    const profiler = it.start();
    it.job(
      'inner(() => { loop(1e5, 0.0001); for (let i = 0; i < 50; i++) { loop(3, 0.0001); inner(() => pass(2)) } })',
    );
    const stacks = brief(await it.job(() => profiler.stop()));
    // A countdown of dense code is at most 16 of these rounds.
    assert.ok(stacks.length > 10);
    assert.deepEqual(new Set(stacks.slice(4)), new Set(['inner > inner']));
  });

  it('stops to count when no profiler records', async () => {
    const it = page();
    const isActive = () => it.run('$e !== undefined');
    assert.equal(isActive(), false);
    const [first, second] = [it.start(), it.start(10, 3)];
    assert.equal(isActive(), true);
    it.job(() => first.stop());
    assert.equal(isActive(), true);
    // The buffer of the other becomes full.
    it.job('inner(() => pass(100))');
    assert.equal(isActive(), false);
    assert.deepEqual(brief(await second.stop()), ['?', 'inner', 'inner']);
    it.clockReads = 0;
    it.job('inner(() => native(100))');
    assert.equal(it.clockReads, 0);
  });
});

describe('several profilers', () => {
  it('get the samples of their own time at their own intervals', async () => {
    const it = page();
    const first = it.start(10);
    it.job('inner(() => pass(20))');
    const second = it.start(30);
    it.job('outer(() => pass(60))');
    const traces = [];
    for (const profiler of [first, second]) traces.push(brief(await it.job(() => profiler.stop())));
    assert.deepEqual(traces, [
      ['?', 'inner', 'inner', ...new Array(6).fill('outer')],
      ['?', 'outer', 'outer'],
    ]);
  });

  it('read the stack once', async () => {
    const it = page({
      before: 'let captured = 0; Error = class extends Error { constructor() { super(); captured++ } }',
    });
    for (let count = 0; count < 50; count++) it.start();
    it.run('captured = 0');
    it.job('inner(() => pass(10))');
    assert.equal(it.run('captured'), 1);
  });

  it('are a hundred at most', async () => {
    const it = page();
    const profilers = Array.from({ length: 100 }, () => it.start());
    assert.throws(() => it.start(), { name: 'TypeError' });
    for (const profiler of profilers) await profiler.stop();
    await it.start().stop();
  });

  it('leave nothing behind', async () => {
    const it = page();
    const references = [];
    for (let count = 0; count < 500; count++) {
      const profiler = it.start();
      it.job('outer(() => inner(() => pass(20)))');
      await it.job(() => profiler.stop());
      references.push(new WeakRef(profiler));
    }
    assert.deepEqual([it.timers.length, it.microtasks.length, it.requests.length], [0, 0, 1]);
    await new Promise((resolve) => setTimeout(resolve));
    v8.setFlagsFromString('--expose-gc');
    vm.runInNewContext('gc')();
    // The last one may still be on the stack.
    assert.ok(references.filter((reference) => reference.deref()).length <= 1);
  });
});

describe('a full buffer', () => {
  it('has as many samples as were asked for, and fires an event once, in a task', async () => {
    const it = page();
    const profiler = it.start(10, 5);
    const events = [];
    profiler.addEventListener('samplebufferfull', ({ type, target }) =>
      events.push(type, target === profiler, it.time),
    );
    it.job('inner(() => pass(80))');
    assert.deepEqual(events, []);
    it.wait(0);
    assert.deepEqual(events, ['samplebufferfull', true, 1_080]);
    it.wait(1_000);
    assert.equal(events.length, 3);
    assert.equal(profiler.stopped, false);
    assert.deepEqual(brief(await profiler.stop()), ['?', ...new Array(4).fill('inner')]);
  });

  it('fires the event in a page that does nothing', async () => {
    const it = page();
    const profiler = it.start(10, 5);
    let time;
    profiler.addEventListener('samplebufferfull', () => (time = it.time));
    it.wait(200);
    assert.equal(time, 1_050);
    assert.deepEqual(brief(await it.job(() => profiler.stop())), ['?', '-', '-', '-', '-']);
  });

  it('fires no event once the profiler is stopped, even if it was due: as in Chromium', async () => {
    for (const ms of [49, 50, 100]) {
      const it = page();
      const profiler = it.start(10, 5);
      let events = 0;
      profiler.addEventListener('samplebufferfull', () => events++);
      it.job(`inner(() => pass(${ms}))`);
      it.job(() => profiler.stop());
      it.wait(1_000);
      assert.equal(events, 0, `${ms} ms`);
      assert.equal(it.timers.length, 0);
    }
  });

  it('fires the event as soon as a task ends, where timers are early and the clock has large steps', async () => {
    for (let ms = 47; ms < 53; ms += 0.25) {
      const performance = { now: () => Math.floor(it.time) };
      const setTimeout = (act, delay) => it.later(act, Math.max(0.25, Math.floor(delay) - 1));
      const it = page({ globals: { performance, setTimeout } });
      const profiler = it.start(10, 5);
      let events = 0;
      profiler.addEventListener('samplebufferfull', () => events++);
      it.wait(ms);
      const isFull = Math.floor(ms) >= 50;
      it.job(() => profiler.stop());
      it.wait(1_000);
      assert.equal(events, Number(isFull), `${ms} ms`);
      assert.equal(it.timers.length, 0);
    }
  });

  it('may have no room at all', async () => {
    const it = page();
    const profiler = it.start(10, 0);
    let events = 0;
    profiler.addEventListener('samplebufferfull', () => events++);
    it.wait(0);
    assert.equal(events, 1);
    assert.deepEqual(JSON.parse(JSON.stringify(await profiler.stop())), {
      frames: [],
      resources: [],
      samples: [],
      stacks: [],
    });
  });

  it('may be too large for a timer', async () => {
    const it = page();
    const profiler = it.start(1_000_000, 2 ** 32 - 1);
    let events = 0;
    profiler.addEventListener('samplebufferfull', () => events++);
    assert.ok(it.timers.every(({ at }) => at <= 1_000 + 2 ** 31));
    it.wait(2 ** 31 + 10);
    assert.equal(events, 0);
    await profiler.stop();
  });
});
