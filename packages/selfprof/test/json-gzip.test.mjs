// stop({ format: 'json-gzip' }): the trace as compressed JSON, made away from this thread.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { Profiler } from 'selfprof';

import { growthOf } from './growth.mjs';
import { runProgram } from './program.mjs';
import { spin } from './spin.mjs';
import { assertWellFormed, hasCalls } from './well-formed.mjs';

const JSON_GZIP = { format: 'json-gzip' };

function parse(buffer) {
  return JSON.parse(gunzipSync(buffer).toString());
}

suite("stop({ format: 'json-gzip' })", () => {
  test('gives an ArrayBuffer with the trace', async () => {
    const before = performance.now();
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 100_000 });
    (function wörk() {
      spin(200);
    })();
    const promise = profiler.stop(JSON_GZIP);
    assert.equal(profiler.stopped, true);
    const buffer = await promise;
    const after = performance.now();
    assert.ok(buffer instanceof ArrayBuffer);
    assert.ok(!(buffer instanceof SharedArrayBuffer));
    const trace = parse(buffer);
    assertWellFormed(trace);
    assert.ok(hasCalls(trace, ['spin', 'wörk']));
    assert.ok(trace.resources.includes(import.meta.url));
    assert.ok(trace.samples.length > 20);
    assert.ok(trace.samples[0].timestamp > before - 1 && trace.samples.at(-1).timestamp < after + 1);
  });

  test('gives the same as the object', async () => {
    // Two profilers of one interval: all but the samples of their beginnings and ends are the same ones.
    const profilers = [1, 2].map(() => new Profiler({ sampleInterval: 5, maxBufferSize: 100_000 }));
    const begin = performance.now();
    (function both() {
      spin(300);
    })();
    const end = performance.now();
    const [object, json] = await Promise.all([profilers[0].stop(), profilers[1].stop(JSON_GZIP).then(parse)]);
    const shared = ({ samples, frames, stacks }) =>
      samples
        .filter(({ timestamp }) => timestamp > begin + 20 && timestamp < end - 20)
        .map(({ stackId, ...sample }) => ({
          ...sample,
          leaf: stackId !== undefined && frames[stacks[stackId].frameId].name,
        }));
    const common = new Set(shared(object).map(({ timestamp }) => timestamp));
    const inBoth = shared(json).filter(({ timestamp }) => common.has(timestamp));
    assert.ok(inBoth.length > 5, `${inBoth.length} of ${common.size}`);
    for (const sample of inBoth) {
      assert.deepEqual(
        sample,
        shared(object).find(({ timestamp }) => timestamp === sample.timestamp),
      );
    }
    const find = ({ frames, resources }) => {
      const { resourceId, ...frame } = frames.find(({ name }) => name === 'both');
      return { ...frame, resource: resources[resourceId] };
    };
    assert.deepEqual(find(json), find(object));
  });

  test('gives a full buffer, and an empty one', async () => {
    for (const maxBufferSize of [0, 7]) {
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize });
      spin(80);
      const trace = parse(await profiler.stop(JSON_GZIP));
      assertWellFormed(trace);
      assert.equal(trace.samples.length, maxBufferSize);
    }
  });

  test('gives a buffer that can be sent to another thread and away from this one', async () => {
    const buffer = await new Profiler({ sampleInterval: 1, maxBufferSize: 10 }).stop(JSON_GZIP);
    const { byteLength } = buffer;
    const sent = structuredClone(buffer, { transfer: [buffer] });
    assert.deepEqual([buffer.byteLength, sent.byteLength], [0, byteLength]);
    assertWellFormed(parse(sent));
    const response = new Response(sent).body.pipeThrough(new DecompressionStream('gzip'));
    assertWellFormed(await new Response(response).json());
  });

  test('keeps the program alive until it has delivered', async () => {
    const { stdout } = await runProgram(`
      const { gunzipSync } = require('node:zlib');
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1000 });
      profiler.stop({ format: 'json-gzip' }).then((buffer) => {
        console.log(JSON.parse(gunzipSync(buffer)).samples.length > 0);
      });
    `);
    assert.equal(stdout, 'true\n');
  });

  test('works beside stop() and cancel() of others', async () => {
    const make = () => new Profiler({ sampleInterval: 1, maxBufferSize: 1000 });
    const profilers = Array.from({ length: 9 }, make);
    spin(50);
    const stopped = profilers.map((profiler, index) => {
      if (index % 3 === 0) return profiler.stop(JSON_GZIP).then(parse);
      if (index % 3 === 1) return profiler.stop();
      return profiler.cancel();
    });
    for (const [index, trace] of (await Promise.all(stopped)).entries()) {
      if (index % 3 === 2) assert.equal(trace, undefined);
      else assertWellFormed(trace);
    }
  });

  test('of thousands leaves no memory behind', async () => {
    const { megabytes } = await growthOf(`
      for (let i = 0; i < 1500; i++) {
        if (i === 500) warm();
        await new Profiler({ sampleInterval: 1, maxBufferSize: 100 }).stop({ format: 'json-gzip' });
      }
    `);
    assert.ok(megabytes < 15, `1,000 profilers left ${megabytes} MB behind`);
  });
});
