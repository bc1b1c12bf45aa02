// bufferPolicy 'chunks': full buffers as traces of their own, while the profiler goes on.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';

import { Profiler } from 'selfprof';

import { growthOf } from './growth.mjs';
import { REGISTER, runProgram, SAMPLER_THREADS } from './program.mjs';
import { spin, spinUntil } from './spin.mjs';
import { assertWellFormed, hasCalls } from './well-formed.mjs';

const make = (options) => new Profiler({ sampleInterval: 1, maxBufferSize: 50, bufferPolicy: 'chunks', ...options });

/** Works for so many milliseconds, with turns of the event loop. */
async function work(ms) {
  for (let left = ms; left > 0; left -= 10) {
    spin(10);
    await new Promise(setImmediate);
  }
}

/** Collects all chunks of a profiler until it ends. */
async function collect(profiler) {
  const chunks = [];
  for await (const chunk of profiler) chunks.push(chunk);
  return chunks;
}

/** Fails unless these are traces of `size` samples whose times rise over all of them. Returns the times. */
function assertSeamless(chunks, rest, size) {
  for (const chunk of chunks) {
    assertWellFormed(chunk);
    assert.equal(chunk.samples.length, size);
  }
  assertWellFormed(rest);
  assert.ok(rest.samples.length <= size);
  const times = [...chunks, rest].flatMap(({ samples }) => samples.map(({ timestamp }) => timestamp));
  for (let i = 1; i < times.length; i++) assert.ok(times[i] >= times[i - 1], `${times[i]} comes after ${times[i - 1]}`);
  return times;
}

suite('chunks', () => {
  for (const size of [1, 7, 100]) {
    test(`of ${size} samples come one after another, without a seam`, async () => {
      const profiler = make({ maxBufferSize: size, maxChunks: 1000 });
      const collected = collect(profiler);
      await work(3 * size + 250);
      const rest = await profiler.stop();
      const chunks = await collected;
      assert.ok(chunks.length >= 2, `${chunks.length} chunks`);
      assert.ok(rest.samples.length >= 1, 'a chunk is full when one more sample is due');
      assertSeamless(chunks, rest, size);
    });
  }

  test('together have as many samples as another profiler at the same time', async () => {
    const whole = make({ bufferPolicy: 'stop', maxBufferSize: 2 ** 32 - 1, sampleInterval: 5 });
    const profiler = make({ maxBufferSize: 10, sampleInterval: 5 });
    const collected = collect(profiler);
    await work(1000);
    const [rest, { samples }] = await Promise.all([profiler.stop(), whole.stop()]);
    const times = assertSeamless(await collected, rest, 10);
    const otherTimes = samples.map(({ timestamp }) => timestamp);
    // The two have phases of their own, so each may take a tick that the other does not: at both ends, and where ticks
    // came late.
    const late = [times, otherTimes].flatMap((list) => list.filter((time, i) => time - list[i - 1] > 7.5)).length;
    assert.ok(
      Math.abs(times.length - samples.length) <= 3 + late,
      `${times.length} and ${samples.length} samples, ${late} late`,
    );
    const others = new Set(otherTimes);
    const shared = times.filter((time) => others.has(time)).length;
    assert.ok(shared > samples.length / 2, `${shared} of ${samples.length} are the same`);
  });

  test('have tables of their own, with no more than they use', async () => {
    const profiler = make({ maxBufferSize: 60 });
    const collected = collect(profiler);
    await (async function early() {
      for (let i = 0; i < 15; i++, await new Promise(setImmediate)) spin(10);
    })();
    await (async function late() {
      for (let i = 0; i < 30; i++, await new Promise(setImmediate)) spin(10);
    })();
    const rest = await profiler.stop();
    const chunks = await collected;
    assert.ok(hasCalls(chunks[0], ['spin', 'early']));
    const last = chunks.at(-1);
    assert.ok(hasCalls(last, ['spin', 'late']));
    assert.ok(!last.frames.some(({ name }) => name === 'early'));
    for (const { frames, samples, stacks } of [...chunks, rest]) {
      const used = new Set();
      for (const { stackId } of samples) {
        for (let id = stackId; id !== undefined && !used.has(id); id = stacks[id].parentId) used.add(id);
      }
      assert.equal(used.size, stacks.length);
      assert.equal(new Set(stacks.map(({ frameId }) => frameId)).size, frames.length);
    }
  });

  test('come while the thread is idle', async () => {
    const profiler = make({ maxBufferSize: 20 });
    const iterator = profiler.chunks();
    const chunks = [];
    const alive = setInterval(() => {}, 1_000);
    while (chunks.length < 3) chunks.push((await iterator.next()).value);
    clearInterval(alive);
    const rest = await profiler.stop();
    chunks.push(...(await collect(profiler)));
    assertSeamless(chunks, rest, 20);
  });

  test('are built from all that a thread did that had no turn of its event loop', async () => {
    const profiler = make({ maxBufferSize: 20, maxChunks: 1000 });
    spin(400);
    const rest = await profiler.stop();
    const chunks = await collect(profiler);
    assert.ok(chunks.length >= 3, `${chunks.length} chunks`);
    assertSeamless(chunks, rest, 20);
  });

  test('of two profilers are their own', async () => {
    const [small, large] = [make({ maxBufferSize: 10 }), make({ maxBufferSize: 40, sampleInterval: 2 })];
    const collected = [collect(small), collect(large)];
    await work(400);
    const rests = await Promise.all([small.stop(), large.stop()]);
    assertSeamless(await collected[0], rests[0], 10);
    assertSeamless(await collected[1], rests[1], 40);
  });

  test('come in a worker too', async () => {
    const worker = new Worker(
      `
      const { parentPort } = require('node:worker_threads');
      ${spin}
      (async () => {
        const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 20, bufferPolicy: 'chunks' });
        const chunks = [];
        const ended = (async () => { for await (const chunk of profiler) chunks.push(chunk); })();
        for (let i = 0; i < 30; i++, await new Promise(setImmediate)) spin(10);
        const rest = await profiler.stop();
        await ended;
        parentPort.postMessage({ chunks, rest });
      })();
    `,
      { eval: true, execArgv: ['--require', REGISTER] },
    );
    const { chunks, rest } = await new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    assert.ok(chunks.length > 1);
    assertSeamless(chunks, rest, 20);
  });
});

suite('the iterator', () => {
  const profiler = make();
  const iterator = profiler.chunks();
  const prototype = Object.getPrototypeOf(iterator);

  test('is an asynchronous iterator as WebIDL has them', () => {
    const AsyncIteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype);
    assert.equal(Object.getPrototypeOf(prototype), AsyncIteratorPrototype);
    assert.deepEqual(new Set(Reflect.ownKeys(prototype)), new Set(['next', 'return', Symbol.toStringTag]));
    for (const [name, length] of [
      ['next', 0],
      ['return', 1],
    ]) {
      const { value, ...attributes } = Object.getOwnPropertyDescriptor(prototype, name);
      assert.deepEqual([value.name, value.length], [name, length]);
      assert.deepEqual(attributes, { writable: true, enumerable: true, configurable: true });
    }
    assert.equal(Object.prototype.toString.call(iterator), '[object Profiler AsyncIterator]');
    assert.equal(iterator[Symbol.asyncIterator](), iterator);
    assert.notEqual(profiler.chunks(), iterator);
    assert.deepEqual(Reflect.ownKeys(iterator), []);
  });

  test('rejects on a foreign this', async () => {
    for (const name of ['next', 'return']) {
      for (const foreign of [undefined, {}, prototype, profiler]) {
        await assert.rejects(Reflect.apply(prototype[name], foreign, []), TypeError);
      }
    }
  });

  test('answers calls of next() in their order', async () => {
    const profiler = make({ maxBufferSize: 10 });
    const iterator = profiler.chunks();
    const promises = [iterator.next(), iterator.next(), iterator.next()];
    const results = await spinUntil(Promise.all(promises));
    assert.deepEqual(
      results.map(({ done }) => done),
      [false, false, false],
    );
    const late = [iterator.next(), iterator.next()];
    const rest = await profiler.stop();
    const ends = await Promise.all(late);
    // On a busy machine, more than one chunk may have been ready when the profiler was stopped.
    while (!ends.at(-1).done) ends.push(await iterator.next());
    assert.deepEqual(
      ends.map(({ done }) => done),
      ends.map(({ done }) => done).sort((a, b) => a - b),
      'no chunk comes after the end',
    );
    const chunks = [...results, ...ends].filter(({ done }) => !done).map(({ value }) => value);
    assertSeamless(chunks, rest, 10);
    assert.deepEqual(await iterator.next(), { value: undefined, done: true });
  });

  test('gives each chunk once, however many iterators there are', async () => {
    const profiler = make({ maxBufferSize: 5, maxChunks: 100 });
    const collected = [collect(profiler), collect(profiler), collect(profiler)];
    await work(300);
    const rest = await profiler.stop();
    const chunks = (await Promise.all(collected)).flat();
    chunks.sort((a, b) => a.samples[0].timestamp - b.samples[0].timestamp);
    assert.ok(chunks.length > 5);
    assertSeamless(chunks, rest, 5);
  });

  test('may be broken off and taken up again', async () => {
    const profiler = make({ maxBufferSize: 5, maxChunks: 100 });
    const chunks = [];
    for (let i = 0; i < 3; i++) {
      await work(30);
      for await (const chunk of profiler) {
        chunks.push(chunk);
        break;
      }
    }
    assert.equal(chunks.length, 3);
    await work(30);
    const rest = await profiler.stop();
    assertSeamless([...chunks, ...(await collect(profiler))], rest, 5);
  });

  test('ends with return(), which settles after all earlier requests', async () => {
    const profiler = make({ maxBufferSize: 10 });
    const iterator = profiler.chunks();
    const [next, end, after] = [iterator.next(), iterator.return('mine'), iterator.next()];
    assert.equal((await spinUntil(next)).value.samples.length, 10);
    assert.deepEqual(await end, { value: 'mine', done: true });
    assert.deepEqual(await after, { value: undefined, done: true });
    assert.deepEqual(await iterator.return('again'), { value: 'again', done: true });
    // The profiler goes on.
    assert.equal((await spinUntil(profiler.chunks().next())).done, false);
    profiler.cancel();
  });

  test('is given by no profiler with another bufferPolicy', () => {
    for (const bufferPolicy of ['stop', 'circular', undefined]) {
      const profiler = make({ bufferPolicy });
      assert.throws(() => profiler.chunks(), { name: 'InvalidStateError' });
      assert.throws(() => profiler[Symbol.asyncIterator](), { name: 'InvalidStateError' });
      profiler.cancel();
    }
  });

  test('of this suite ends', () => profiler.cancel());
});

suite('stop()', () => {
  test('gives the last samples, and chunks that wait are given after it', async () => {
    const profiler = make({ maxBufferSize: 20, maxChunks: 100 });
    await work(200);
    const rest = await profiler.stop();
    const chunks = await collect(profiler);
    assert.ok(chunks.length > 2);
    assertSeamless(chunks, rest, 20);
    assert.deepEqual(await profiler.chunks().next(), { value: undefined, done: true });
  });

  test('gives all there is when no buffer was ever full', async () => {
    const profiler = make({ maxBufferSize: 100_000 });
    const collected = collect(profiler);
    await work(50);
    const rest = await profiler.stop();
    assertWellFormed(rest);
    assert.ok(rest.samples.length > 5);
    assert.deepEqual(await collected, []);
  });

  test('gives compressed JSON of the last samples', async () => {
    const profiler = make({ maxBufferSize: 20 });
    await work(100);
    const rest = JSON.parse(gunzipSync(await profiler.stop({ format: 'json-gzip' })));
    assertSeamless(await collect(profiler), rest, 20);
  });
});

suite('cancel()', () => {
  test('ends the iteration, and chunks that wait are given no more', async () => {
    const profiler = make({ maxBufferSize: 5 });
    const iterator = profiler.chunks();
    assert.equal((await spinUntil(iterator.next())).done, false);
    profiler.cancel();
    assert.deepEqual(await iterator.next(), { value: undefined, done: true });
    assert.deepEqual(await collect(profiler), []);
  });

  test('answers all pending requests', async () => {
    const profiler = make({ maxBufferSize: 100_000 });
    const waiting = [profiler.chunks().next(), profiler.chunks().next()];
    await new Promise(setImmediate);
    profiler.cancel();
    for (const promise of waiting) assert.deepEqual(await promise, { value: undefined, done: true });
  });
});

suite('when no chunk is taken', () => {
  /** Works until the profiler's event has fired, or fails. */
  const full = (profiler) =>
    spinUntil(new Promise((resolve) => profiler.addEventListener('samplebufferfull', resolve, { once: true })));

  for (const maxChunks of [0, 1, 3]) {
    test(`${maxChunks} wait, then samplebufferfull fires, and nothing that was recorded is lost`, async () => {
      const profiler = make({ maxBufferSize: 20, maxChunks });
      let fired = 0;
      profiler.addEventListener('samplebufferfull', () => fired++);
      const event = await full(profiler);
      assert.equal(event.target, profiler);
      const fullAt = performance.now();
      await work(100);
      assert.equal(fired, 1);
      const rest = await profiler.stop();
      const chunks = await collect(profiler);
      assert.equal(chunks.length, maxChunks);
      assert.equal(rest.samples.length, 20);
      const times = assertSeamless(chunks, rest, 20);
      assert.ok(times.at(-1) < fullAt + 1, 'sampling rests');
      assert.equal(fired, 1);
    });
  }

  test('16 wait unless said otherwise', async () => {
    const profiler = make({ maxBufferSize: 2 });
    await full(profiler);
    const rest = await profiler.stop();
    assertSeamless(await collect(profiler), rest, 2);
    assert.equal(rest.samples.length, 2);
  });

  test('it continues when one is taken, and the event may fire again', async () => {
    const profiler = make({ maxBufferSize: 10, maxChunks: 2 });
    const chunks = [];
    for (let round = 0; round < 4; round++) {
      await full(profiler);
      const fullAt = performance.now();
      await work(30);
      chunks.push((await profiler.chunks().next()).value);
      assert.ok(chunks.at(-1).samples.at(-1).timestamp < fullAt);
    }
    await full(profiler);
    const rest = await profiler.stop();
    const left = await collect(profiler);
    assert.equal(left.length, 2);
    assertSeamless([...chunks, ...left], rest, 10);
  });

  test('a consumer that comes back finds it going on for good', async () => {
    const profiler = make({ maxBufferSize: 10, maxChunks: 2 });
    await full(profiler);
    await work(50);
    const back = performance.now();
    const collected = collect(profiler);
    await work(300);
    const rest = await profiler.stop();
    const chunks = await collected;
    const times = assertSeamless(chunks, rest, 10);
    assert.ok(times.filter((time) => time > back).length > 50, `${times.length} samples`);
  });

  test('a buffer for no sample is full at once, as without chunks', async () => {
    const profiler = make({ maxBufferSize: 0 });
    await full(profiler);
    assert.deepEqual((await profiler.stop()).samples, []);
    assert.deepEqual(await collect(profiler), []);
  });
});

suite('an unreferenced profiler', () => {
  const PRELUDE = `
    const { areSampled, untilNoneIsSampled } = require(${JSON.stringify(SAMPLER_THREADS)});
    ${spin}
    const turn = () => new Promise((resolve) => setTimeout(resolve, 5));
    const make = (options) => new Profiler({ sampleInterval: 1, maxBufferSize: 10, bufferPolicy: 'chunks', ...options });
  `;
  async function expect(source, output) {
    const { stdout, stderr, code } = await runProgram(`${PRELUDE} (async () => { ${source} })();`, {
      execArgv: ['--expose-gc', '--require', REGISTER],
    });
    assert.deepEqual({ stdout, code }, { stdout: output, code: 0 }, stderr);
  }

  test('continues while a request for a chunk is pending', () =>
    expect(
      `
      const seen = [];
      (async () => { for await (const chunk of make()) seen.push(chunk.samples.length); })();
      for (let i = 0; i < 100 || seen.length < 10; i++) { gc(); spin(1); await turn(); }
      console.log(seen.every((length) => length === 10), await areSampled());
    `,
      'true true\n',
    ));

  test('continues while its iterator is referenced', () =>
    expect(
      `
      globalThis.iterator = make({ maxChunks: 1000 }).chunks();
      for (let i = 0; i < 50; i++) { gc(); await turn(); }
      console.log((await iterator.next()).value.samples.length, await areSampled());
    `,
      '10 true\n',
    ));

  test('is collected with the chunks that wait', () =>
    expect(
      `
      // Held for as long as it takes to have chunks that wait.
      globalThis.held = Array.from({ length: 20 }, (_, i) => make({ maxBufferSize: 1 + i, sampleInterval: 1 + (i % 3) }));
      for (let i = 0; i < 20; i++) await turn();
      const wasSampling = await areSampled();
      delete globalThis.held;
      console.log(wasSampling, await untilNoneIsSampled());
    `,
      'true true\n',
    ));

  test('is collected after the iteration was broken off', () =>
    expect(
      `
      const alive = setInterval(() => {}, 1000);
      await (async () => { for await (const chunk of make()) break; })();
      clearInterval(alive);
      console.log(await areSampled(), await untilNoneIsSampled());
    `,
      'true true\n',
    ));

  test('is collected when it is paused', () =>
    expect(
      `
      make({ maxBufferSize: 1, maxChunks: 1 });
      for (let i = 0; i < 20; i++) await turn();
      console.log(await untilNoneIsSampled());
    `,
      'true\n',
    ));
});

suite('a program', () => {
  test('that waits for a chunk alone may end', async () => {
    const { stdout, stderr, code } = await runProgram(`
      const profiler = new Profiler({ sampleInterval: 1000, maxBufferSize: 1000, bufferPolicy: 'chunks' });
      (async () => { for await (const chunk of profiler) console.log('never'); })();
      process.on('exit', () => console.log('exit'));
    `);
    assert.deepEqual({ stdout, code }, { stdout: 'exit\n', code: 0 }, stderr);
  });

  test('that takes thousands of chunks keeps no memory of them', async () => {
    const { megabytes, heap } = await growthOf(`
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 2, bufferPolicy: 'chunks', maxChunks: 1000 });
      const alive = setInterval(() => {}, 1000);
      let taken = 0;
      for await (const chunk of profiler) {
        taken++;
        if (taken === 600) warm();
        if (taken === 2400) break;
      }
      clearInterval(alive);
      process.once('beforeExit', () => profiler.stop());
    `);
    assert.ok(megabytes < 25, `1,800 chunks left ${megabytes} MB behind`);
    assert.ok(heap < 3, `1,800 chunks left ${heap} MB of JavaScript's heap behind`);
  });
});
