// includeEntries: the marks and measures of a session's time, in its trace.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { performance, PerformanceObserver } from 'node:perf_hooks';
import { suite, test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { Profiler, performance as ours } from 'selfprof';

import { PACKAGE, REGISTER, runProgram } from './program.mjs';
import { spin, spinUntil } from './spin.mjs';
import { assertWellFormed } from './well-formed.mjs';

const { addSource, observedBy } = createRequire(import.meta.url)('../src/entries.cjs');

const OPTIONS = { sampleInterval: 10, maxBufferSize: 1000, includeEntries: true };

/** Profiles `work` with entries; gives the trace as an object, and the text of the same as JSON. */
async function profile(work, options) {
  const profilers = [1, 2].map(() => new Profiler({ ...OPTIONS, ...options }));
  await work();
  const [trace, json] = await Promise.all([profilers[0].stop(), profilers[1].stop({ format: 'json-gzip' })]);
  const text = gunzipSync(json).toString();
  const { droppedEntriesCount, entries, ...rest } = trace;
  assertWellFormed(rest);
  assert.deepEqual(Object.keys(trace), Object.keys(trace).toSorted());
  assertSame(JSON.parse(text), { droppedEntriesCount, entries });
  return trace;
}

/** Both formats have the same entries, number for number. */
function assertSame(parsed, { droppedEntriesCount, entries }) {
  assert.deepEqual(parsed.entries, JSON.parse(JSON.stringify(entries).replaceAll(/\\ud[89a-f]../g, '\ufffd')));
  assert.equal(parsed.droppedEntriesCount, droppedEntriesCount);
}

const spell = ({ entries }) => entries.map(({ entryType, name }) => `${entryType} ${name}`).join();

suite('a trace', () => {
  test('has the marks and measures of its time, in time order', async () => {
    performance.mark('before');
    const trace = await profile(() => {
      const a = performance.mark('a', { detail: { any: 1 } });
      spin(5);
      const b = performance.mark('b');
      performance.measure('a to b', 'a', 'b');
      performance.measure('since before', 'before');
      return [a, b];
    });
    performance.mark('after');
    assert.equal(spell(trace), 'measure since before,mark a,measure a to b,mark b');
    const expected = ['since before', 'a', 'a to b', 'b'].map((name) => {
      const { detail, ...entry } = performance.getEntriesByName(name)[0].toJSON();
      return entry;
    });
    assert.deepEqual(trace.entries, expected);
    for (const entry of trace.entries) {
      assert.deepEqual(Object.keys(entry), ['duration', 'entryType', 'name', 'startTime']);
      assert.equal(Object.getPrototypeOf(entry), Object.prototype);
    }
  });

  test('shares its clock with its samples', async () => {
    const { entries, samples } = await profile(() => {
      spin(50);
      performance.mark('middle');
      spin(50);
    });
    const at = entries[0].startTime;
    assert.ok(samples[0].timestamp < at && at < samples.at(-1).timestamp);
  });

  test('has no entries unless they are wanted', async () => {
    for (const includeEntries of [undefined, false, 0, '']) {
      const profiler = new Profiler({ ...OPTIONS, includeEntries });
      performance.mark('a');
      assertWellFormed(await profiler.stop());
    }
  });

  test('has an empty list when the program makes no entries', async () => {
    const trace = await profile(() => {});
    assert.deepEqual(trace.entries, []);
    assert.ok(!('droppedEntriesCount' in trace));
  });

  test('has what overlaps its time, and nothing else', async () => {
    const now = performance.now();
    const trace = await profile(() => {
      const inside = performance.now();
      performance.mark('mark past', { startTime: now - 10 });
      performance.mark('mark inside', { startTime: inside });
      performance.mark('mark future', { startTime: inside + 60_000 });
      performance.measure('past', { start: now - 20, end: now - 10 });
      performance.measure('into', { start: now - 20, end: inside });
      performance.measure('around', { start: 0, duration: 1e9 });
      performance.measure('out of', { start: inside, end: 1e9 });
      performance.measure('future', { start: 1e9, end: 2e9 });
      performance.measure('backwards into', { start: inside, end: now - 20 });
      performance.measure('backwards around', { start: 1e9, end: 0 });
      performance.measure('backwards past', { start: now - 10, end: now - 20 });
      performance.mark('never', { startTime: NaN });
      performance.mark('never', { startTime: Infinity });
      performance.measure('never', { start: 1, end: Infinity });
    });
    assert.deepEqual(spell(trace).split(',').toSorted(), [
      'mark mark inside',
      'measure around',
      'measure backwards around',
      'measure backwards into',
      'measure into',
      'measure out of',
    ]);
  });

  test('has times and names as they were given', async () => {
    const names = ['', 'plain', 'ü 😀', '"\\\n\0\u2028', '\ud83d', 'a\ude00b', '__proto__', 'constructor'];
    const times = [1 / 3, 1.23456789, 5e-324, 1e21, 123456789012345680000];
    const made = [];
    const trace = await profile(() => {
      for (const name of names) performance.measure(name, { start: 0, duration: 1e9 });
      // All of them overlap the session, some of them from their ends to their starts.
      for (const time of times) made.push(performance.measure('time', { start: time, end: time < 100 ? 1e9 : 0 }));
      for (const time of times) made.push(performance.measure('time', { duration: time, end: time + 0.1 }));
    });
    const pair = ({ startTime, duration }) => `${startTime} ${duration}`;
    const there = trace.entries.filter(({ name }) => name === 'time').map(pair);
    const overlapping = made.filter(({ startTime, duration }) => startTime + duration > 100 || startTime > 100);
    assert.ok(overlapping.length >= 7);
    assert.deepEqual(there.toSorted(), overlapping.map(pair).toSorted());
    assert.deepEqual(new Set(trace.entries.map(({ name }) => name)), new Set([...names, 'time']));
  });

  test('has as many entries as samples at most, the first ones, and counts the others', async () => {
    for (const [maxBufferSize, made] of [
      [0, 3],
      [1, 1],
      [3, 5],
      [100, 200_000],
    ]) {
      const trace = await profile(
        () => {
          for (let i = 0; i < made; i++) performance.mark(`m${i % 1000}`);
          performance.clearMarks();
        },
        { maxBufferSize },
      );
      assert.deepEqual(
        trace.entries.map(({ name }) => name),
        Array.from({ length: Math.min(made, maxBufferSize) }, (_, i) => `m${i}`),
      );
      assert.equal(trace.droppedEntriesCount, made > maxBufferSize ? made - maxBufferSize : undefined);
    }
  });

  test('of a circular buffer has the last entries, of the time of its samples', async () => {
    const options = { bufferPolicy: 'circular', sampleInterval: 1 };
    for (const maxBufferSize of [0, 1, 10, 200]) {
      const made = 1000;
      const { entries, droppedEntriesCount } = await profile(
        () => {
          for (let i = 0; i < made; i++) performance.measure(`m${i}`, { start: 0, duration: 1e9 });
        },
        { ...options, maxBufferSize },
      );
      assert.deepEqual(
        entries.map(({ name }) => name),
        Array.from({ length: maxBufferSize }, (_, i) => `m${made - maxBufferSize + i}`),
      );
      assert.equal(droppedEntriesCount, undefined);
    }
    let longAgo;
    const { entries, samples } = await profile(
      () => {
        longAgo = performance.mark('long ago').startTime;
        spin(300);
        performance.measure('since long ago', 'long ago');
        performance.mark('late');
        spin(20);
      },
      { ...options, maxBufferSize: 50 },
    );
    // Where the sampler is late all the time, fifty samples reach back that far.
    const expected =
      samples[0].timestamp > longAgo ? ['since long ago', 'late'] : ['long ago', 'since long ago', 'late'];
    assert.deepEqual(
      entries.map(({ name }) => name),
      expected,
    );
  });

  for (const format of ['object', 'json-gzip']) {
    test(`of chunks has each entry in one of them, and the rest in the last trace (${format})`, async () => {
      const profiler = new Profiler({ ...OPTIONS, bufferPolicy: 'chunks', sampleInterval: 1, maxBufferSize: 20 });
      const made = [];
      const early = [];
      const iterator = profiler.chunks();
      for (let i = 0; i < 20; i++) {
        made.push(performance.mark(`m${i}`).startTime);
        spin(10);
        performance.measure(`since m${i}`, `m${i}`);
        // Some chunks are taken while it goes on, others wait until after its end.
        if (i === 9) {
          const two = await spinUntil(Promise.all([iterator.next(), iterator.next()]));
          early.push(...two.map(({ value }) => value));
        }
      }
      performance.measure('all', { start: made[0], end: 1e9 });
      const stopped = await profiler.stop({ format });
      const last = format === 'object' ? stopped : JSON.parse(gunzipSync(stopped));
      const traces = [...early];
      for await (const chunk of profiler) traces.push(chunk);
      assert.ok(traces.length > 4, `${traces.length} chunks`);
      traces.push(last);

      const all = traces.flatMap(({ entries }) => entries.map(({ name }) => name));
      const expected = made.flatMap((_, i) => [`m${i}`, `since m${i}`]);
      assert.deepEqual(all.toSorted(), [...expected, 'all'].toSorted());
      assert.ok(last.entries.some(({ name }) => name === 'all'));
      // Each is where it ended.
      let seam = -Infinity;
      for (const { entries, samples } of traces) {
        const end = traces.at(-1).samples === samples ? Infinity : samples.at(-1).timestamp;
        for (const { startTime, duration } of entries) {
          assert.ok(startTime + duration > seam && startTime + duration <= end);
        }
        seam = end;
      }
    });
  }

  test('counts the entries of a chunk that did not fit', async () => {
    const options = { ...OPTIONS, bufferPolicy: 'chunks', sampleInterval: 1, maxBufferSize: 5, maxChunks: 1 };
    const profiler = new Profiler(options);
    for (let i = 0; i < 100; i++) performance.mark(`m${i}`);
    const first = await spinUntil(profiler.chunks().next());
    const traces = [first.value, await profiler.stop()];
    // On a busy machine the first chunk may end before the marks, and a further one may be waiting.
    for await (const chunk of profiler) traces.push(chunk);
    assert.equal(traces.flatMap(({ entries }) => entries).length, 10);
    assert.equal(
      traces.reduce((sum, { droppedEntriesCount = 0 }) => sum + droppedEntriesCount, 0),
      90,
    );
  });

  test('has many entries', async () => {
    const trace = await profile(
      () => {
        for (let i = 0; i < 10_000; i++) performance.mark(`m${i}`);
      },
      { maxBufferSize: 2 ** 32 - 1 },
    );
    assert.equal(trace.entries.length, 10_000);
    performance.clearMarks();
  });

  test('has all entries, even if they are cleared or observed meanwhile', async () => {
    const seen = [];
    const observer = new PerformanceObserver((list) => seen.push(...list.getEntries().map(({ name }) => name)));
    observer.observe({ entryTypes: ['mark', 'measure'] });
    const trace = await profile(async () => {
      performance.mark('a');
      performance.clearMarks();
      await new Promise((resolve) => setTimeout(resolve, 20));
      performance.mark('b');
    });
    assert.equal(spell(trace), 'mark a,mark b');
    await new Promise((resolve) => setTimeout(resolve, 20));
    observer.disconnect();
    assert.deepEqual(seen, ['a', 'b']);
  });

  test('has only the entries of its own session', async () => {
    const first = new Profiler(OPTIONS);
    performance.mark('a');
    const second = new Profiler(OPTIONS);
    performance.mark('b');
    const trace = await first.stop();
    performance.mark('c');
    assert.deepEqual([spell(trace), spell(await second.stop())], ['mark a,mark b', 'mark b,mark c']);
  });

  test('of a worker has the entries of that worker', async () => {
    const { stdout, stderr } = await runProgram(`
      const { isMainThread, Worker } = require('node:worker_threads');
      const profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 1000, includeEntries: true });
      performance.mark('in main');
      const source = \`
        const profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 1000, includeEntries: true });
        performance.mark('in worker');
        profiler.stop().then(({ entries: [entry, ...rest] }) => {
          console.log(entry.name, entry.startTime <= performance.now(), rest.length);
        });
      \`;
      new Worker(source, { eval: true, execArgv: ['--require', ${JSON.stringify(REGISTER)}] }).on('exit', () => {
        profiler.stop().then(({ entries }) => console.log(entries.map(({ name }) => name).join()));
      });
    `);
    assert.equal(stdout, 'in worker true 0\nin main\n', stderr);
  });
});

suite("this package's performance", () => {
  test("gets its entries into the trace beside Node's", async () => {
    ours.mark('before');
    const trace = await profile(() => {
      ours.mark('a', { detail: { any: 1 } });
      spin(1);
      performance.mark('b');
      spin(1);
      ours.measure('a to c', 'a', ours.mark('c').name);
      ours.clearMarks();
    });
    assert.equal(spell(trace), 'mark a,measure a to c,mark b,mark c');
  });

  test('may make up names', async () => {
    const names = ['toString', '', '\ud83d', 'x'.repeat(10_000)];
    const trace = await profile(
      () => {
        for (const name of names) ours.mark(name);
        // New for the timeline each time, and again.
        for (let i = 0; i < 3000; i++) ours.mark(`m${i % 1500}`);
      },
      { maxBufferSize: 10_000 },
    );
    const there = trace.entries.map(({ name }) => name);
    assert.deepEqual(there.slice(0, 4), names);
    assert.deepEqual(
      there.slice(4),
      Array.from({ length: 3000 }, (_, i) => `m${i % 1500}`),
    );
    ours.clearMarks();
  });
});

suite('profileThreads()', () => {
  /**
   * Profiles a program with a worker. Both have `spin`, `performance` and `turn()`, which awaits a turn of the event
   * loop.
   *
   * @returns the entries of the threads as `type name`, by the names of the threads
   */
  async function profileBoth({ inMain = '', inWorker = '', options = {}, stop = '{}' }) {
    const common = `
      const { parentPort, Worker } = require('node:worker_threads');
      const { performance: ours, profileThreads } = require(${JSON.stringify(PACKAGE)});
      const turn = (ms = 5) => new Promise((resolve) => setTimeout(resolve, ms));
      ${spin}
    `;
    const { stdout, stderr } = await runProgram(
      `${common}
      const { gunzipSync } = require('node:zlib');
      const worker = new Worker(${JSON.stringify(`${common}
        parentPort.once('message', async () => { ${inWorker}; parentPort.postMessage('done'); });
        parentPort.postMessage('ready');
        setInterval(() => {}, 1000).unref();
      `)}, { eval: true });
      const message = () => new Promise((resolve) => worker.once('message', resolve).once('exit', resolve));
      (async () => {
        await message();
        const options = { sampleInterval: 1, maxBufferSize: 1000, includeEntries: true, ...${JSON.stringify(options)} };
        const profiling = await profileThreads(options);
        // The other thread starts collecting from its event loop.
        await turn(50);
        worker.postMessage('go');
        const done = message();
        ${inMain};
        await done;
        const { threads } = await profiling.stop(${stop});
        performance.mark('too late');
        worker.terminate();
        const traces = threads.map(({ name, trace }) => [
          name,
          trace instanceof ArrayBuffer ? JSON.parse(gunzipSync(trace)) : trace,
        ]);
        console.log(JSON.stringify({ now: performance.now(), traces: Object.fromEntries(traces) }));
      })();
    `,
      { execArgv: [] },
    );
    assert.ok(stdout, stderr);
    return JSON.parse(stdout);
  }

  for (const stop of ['{}', "{ format: 'json-gzip' }"]) {
    test(`gives each thread its own entries, on one time axis (stop(${stop}))`, async () => {
      const { now, traces } = await profileBoth({
        inMain: `performance.mark('a'); ours.mark('b'); spin(20);`,
        inWorker: `performance.mark('c'); spin(20); performance.measure('d', 'c'); ours.measure('e', { start: 0, duration: 1e9 });`,
        stop,
      });
      assert.equal(spell(traces.main), 'mark a,mark b');
      const worker = traces['worker-1'];
      assert.equal(spell(worker), 'measure e,mark c,measure d');
      const [e, c, d] = worker.entries;
      assert.ok(c.startTime > traces.main.samples[0].timestamp && c.startTime < now);
      assert.deepEqual([d.startTime, e.startTime, e.duration], [c.startTime, 0, 1e9]);
      for (const trace of Object.values(traces)) assert.deepEqual(Object.keys(trace), Object.keys(trace).toSorted());
    });
  }

  test('gives entries only with includeEntries, and an empty list when there are none', async () => {
    const without = await profileBoth({ inMain: `performance.mark('a');`, options: { includeEntries: false } });
    for (const trace of Object.values(without.traces)) assert.ok(!('entries' in trace));
    const { traces } = await profileBoth({});
    for (const { entries } of Object.values(traces)) assert.deepEqual(entries, []);
  });

  test('keeps as many entries of a thread as samples', async () => {
    const inWorker = `for (let i = 0; i < 5000; i++) performance.measure('m' + i, { start: 0, duration: 1e9 });`;
    const names = ({ entries }) => entries.map(({ name }) => name);
    const range = (from, to) => Array.from({ length: to - from }, (_, i) => `m${from + i}`);
    const first = (await profileBoth({ inWorker, options: { maxBufferSize: 2000 } })).traces['worker-1'];
    assert.deepEqual([names(first), first.droppedEntriesCount], [range(0, 2000), 3000]);
    const circular = { maxBufferSize: 1500, bufferPolicy: 'circular' };
    const last = (await profileBoth({ inWorker, options: circular })).traces['worker-1'];
    assert.deepEqual([names(last), last.droppedEntriesCount], [range(3500, 5000), undefined]);
  });

  test('has the entries of a thread that has ended', async () => {
    const { traces } = await profileBoth({ inWorker: `performance.mark('last words'); spin(20); process.exit();` });
    assert.equal(spell(traces['worker-1']), 'mark last words');
  });

  test('collects nothing more when it is over', async () => {
    const { stdout, stderr } = await runProgram(
      `
      const { profileThreads } = require(${JSON.stringify(PACKAGE)});
      const native = require(${JSON.stringify(`${PACKAGE}src/native.cjs`)});
      const options = { sampleInterval: 1, maxBufferSize: 1000, includeEntries: true };
      (async () => {
        const wanted = [native.entriesAreWanted()];
        for (const end of ['stop', 'cancel']) {
          const profilings = [await profileThreads(options), await profileThreads(options)];
          wanted.push(native.entriesAreWanted());
          for (const profiling of profilings) await profiling[end]();
          wanted.push(native.entriesAreWanted());
        }
        console.log(wanted.join());
      })();
    `,
      { execArgv: [] },
    );
    assert.equal(stdout, 'false,true,false,true,false\n', stderr);
  });
});

/** A performance of its own, which hands over what it makes as it makes it. */
class Source {
  sinks = new Set();
  constructor(timeShift) {
    this.timeShift = timeShift;
  }
  observe(sink) {
    this.sinks.add(sink);
    return { flush() {}, stop: () => this.sinks.delete(sink) };
  }
  mark(name, startTime = performance.now()) {
    for (const sink of this.sinks) sink({ entryType: 'mark', name, startTime, duration: 0 });
  }
}

suite('a further source of entries', () => {
  test("gets its entries into the trace beside Node's", async (t) => {
    const source = new Source();
    t.after(addSource(source));
    const trace = await profile(() => {
      source.mark('a');
      performance.mark('b');
      source.mark('c');
      source.mark('never', NaN);
    });
    assert.equal(spell(trace), 'mark a,mark b,mark c');
  });

  test('may come and go while sessions go on', async () => {
    const source = new Source();
    const trace = await profile(() => {
      source.mark('too early');
      const remove = addSource(source);
      source.mark('a');
      remove();
      source.mark('too late');
    });
    assert.equal(spell(trace), 'mark a');
    assert.equal(source.sinks.size, 0);
  });

  test('may have its own time origin', async (t) => {
    const source = new Source(1000);
    t.after(addSource(source));
    let time;
    const { entries } = await profile(() => {
      time = performance.now() - 1000;
      source.mark('a', time);
    });
    assert.deepEqual(entries, [{ duration: 0, entryType: 'mark', name: 'a', startTime: time + 1000 }]);
  });

  test('may be any class that is used like PerformanceObserver', async (t) => {
    // Node's observers hand over entries as they are made; this one does what others do, and waits.
    class Observer {
      #observer;
      constructor(callback) {
        this.#observer = new PerformanceObserver(callback);
      }
      observe = (options) => this.#observer.observe(options);
      takeRecords = () => this.#observer.takeRecords();
      disconnect = () => this.#observer.disconnect();
    }
    t.after(addSource(observedBy(Observer)));
    const twice = await profile(() => {
      performance.mark('a');
      performance.timerify(() => {})();
    });
    assert.equal(spell(twice), 'mark a,mark a');
    const trace = await profile(async () => {
      performance.mark('a');
      await new Promise((resolve) => setTimeout(resolve, 20));
      performance.mark('b');
    });
    assert.equal(spell(trace), 'mark a,mark a,mark b,mark b');
  });

  test('is left alone when the session ends, however it ends', async (t) => {
    const source = new Source();
    t.after(addSource(source));
    const profiler = new Profiler(OPTIONS);
    assert.equal(source.sinks.size, 1);
    await profiler.stop();
    assert.equal(source.sinks.size, 0);
    const cancelled = new Profiler(OPTIONS);
    assert.equal(source.sinks.size, 1);
    cancelled.cancel();
    assert.equal(source.sinks.size, 0);
    assert.throws(() => new Profiler({ ...OPTIONS, sampleInterval: -1 }), RangeError);
    assert.equal(source.sinks.size, 0);
  });

  test('is left alone when the profiler is no longer referenced', async () => {
    const { stdout, stderr } = await runProgram(
      `
      const { addSource } = require(${JSON.stringify(createRequire(import.meta.url).resolve('../src/entries.cjs'))});
      let observed = 0;
      addSource({ observe: () => (observed++, { flush() {}, stop: () => observed-- }) });
      (async () => {
        for (let i = 0; i < 10; i++) new Profiler({ sampleInterval: 1, maxBufferSize: 10_000, includeEntries: true });
        const before = observed;
        for (let i = 0; i < 1000 && observed > 0; i++) {
          gc();
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        console.log(before, observed);
      })();
    `,
      { execArgv: ['--expose-gc', '--require', REGISTER] },
    );
    assert.equal(stdout, '10 0\n', stderr);
  });
});
