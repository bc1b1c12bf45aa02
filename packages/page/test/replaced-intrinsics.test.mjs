// Pages that replace what JavaScript is made of get their traces all the same, as from an API that is native.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { assertWellFormed } from '../../selfprof/test/well-formed.mjs';
import { openHtml } from './server.mjs';
import { namesOf } from './real/traces.mjs';

/** Runs in the page: replaces intrinsics by traps, and returns a function that restores them and says which were called. */
function replaceIntrinsics() {
  const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor } = Reflect;
  // Without a prototype, because an array's methods are traps, too.
  const list = () => ({ __proto__: null, length: 0 });
  const called = list();
  const undo = list();
  const members = `frames resources samples stacks name line column resourceId frameId parentId timestamp stackId marker
    code session names realm muted script url get set message 0 1`.split(/\s+/);
  for (let i = 0; i < members.length; i++) {
    const key = members[i];
    defineProperty(Object.prototype, key, {
      __proto__: null,
      get() {
        called[called.length++] = `get ${key}`;
      },
      set(value) {
        called[called.length++] = `set ${key}`;
        defineProperty(this, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
      },
      configurable: true,
    });
    undo[undo.length++] = () => deleteProperty(Object.prototype, key);
  }
  const holders = [
    [Array.prototype, ['push', 'map', 'forEach', 'filter', 'join', 'slice', 'sort', Symbol.iterator]],
    [Map.prototype, ['get', 'set', 'has']],
    [Set.prototype, ['add', 'has']],
    [WeakMap.prototype, ['get', 'set', 'has']],
    [Promise.prototype, ['then', 'catch', 'finally']],
    [Function.prototype, ['call', 'apply', 'bind']],
    [JSON, ['parse', 'stringify']],
    [Reflect, ['apply', 'construct', 'defineProperty']],
    [Object, ['assign', 'defineProperty', 'entries', 'freeze', 'keys']],
    [String.prototype, ['split', 'startsWith', 'slice']],
    [window, ['Array', 'Map', 'Float64Array', 'Uint32Array', 'Uint8Array']],
    [EventTarget.prototype, ['addEventListener', 'dispatchEvent']],
  ];
  for (let i = 0; i < holders.length; i++) {
    const holder = holders[i][0];
    const names = holders[i][1];
    for (let j = 0; j < names.length; j++) {
      const name = names[j];
      const property = { __proto__: null, ...getOwnPropertyDescriptor(holder, name) };
      const original = property.value;
      holder[name] = function (...parameters) {
        called[called.length++] = String(name);
        return new.target === undefined ? apply(original, this, parameters) : new original(...parameters);
      };
      undo[undo.length++] = () => defineProperty(holder, name, property);
    }
  }
  return () => {
    for (let i = undo.length - 1; i >= 0; i--) undo[i]();
    return Array.from(called);
  };
}

test('a trace is built without what the page has replaced', async (t) => {
  const page = await openHtml(t, `<script>${replaceIntrinsics}</script>`, {
    headers: { 'document-policy': 'js-profiling' },
  });
  const [called, trace, samples, controls] = await page.evaluate(async () => {
    let profiler;
    let chunked;
    // The first sample is taken in the constructor.
    function own() {
      profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1000 });
      chunked = new Profiler({ sampleInterval: 1, maxBufferSize: 5, bufferPolicy: 'chunks' });
    }
    const restore = replaceIntrinsics();
    own();
    const chunks = chunked.chunks();
    const stopping = profiler.stop();
    const next = chunks.next();
    const rest = chunked.stop();
    const called = restore();
    const release = replaceIntrinsics();
    ['x'].join('');
    new window.Array('x');
    ({}).marker;
    const controls = release();
    // With few samples, the last chunk is what stop() returns.
    const parts = [await rest, (await next).value];
    const samples = parts.reduce((sum, part) => sum + (part?.samples.length ?? 0), 0);
    return [called, await stopping, samples, controls];
  });
  assert.deepEqual(called, []);
  // What the page itself does with the traps is seen.
  for (const own of ['join', 'Array', 'get marker']) assert.ok(controls.includes(own), `${own}: ${controls}`);
  assertWellFormed(trace);
  assert.ok(
    trace.samples.some((sample) => namesOf(trace, sample).includes('own')),
    'its own functions are there',
  );
  assert.ok(samples > 0);
  assert.deepEqual(page.problems, []);
});
