// The tracing runtime where things go wrong, in a context of its own. packages/instrument/test/tracing.test.mjs has it
// in browsers.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import vm from 'node:vm';

const NAMES = {
  SELFPROF_ACTIVE: '$on',
  SELFPROF_ENTRY: '$e',
  SELFPROF_EXIT: '$t',
  SELFPROF_FIRST: '$h',
  SELFPROF_FUNCTIONS: 'selfprof-functions.json',
};
const template = fs.readFileSync(path.join(import.meta.dirname, '..', 'dist', 'tracing.js'), 'utf8');
const RUNTIME = template.replace(/\bSELFPROF_\w+/g, (name) => NAMES[name]);
const SITE = 'https://shop.example/';
const TABLE = {
  version: 1,
  files: {
    'app.js': {
      functions: [
        ['', 1, 1, 1, 1, 9, 1, -1, 70],
        ['f', 3, 11, 1, 1, 1, 1, 0],
      ],
    },
  },
};

/** A page with the runtime, and a clock that `tick` moves. */
function page(globals = {}, table = TABLE) {
  const state = { time: 1_000, timers: [], warnings: [] };
  const { EventTarget, Event, URL, AbortSignal, DOMException } = globalThis;
  const context = vm.createContext({
    ...{ EventTarget, Event, URL, AbortSignal, DOMException },
    console: { warn: (...values) => state.warnings.push(values.join(' ')) },
    performance: { now: () => state.time },
    setTimeout: (act) => state.timers.push(act),
    async fetch() {
      if (table instanceof Error) throw table;
      return { json: async () => table };
    },
    tick: (ms) => {
      state.time += ms;
    },
    ...globals,
  });
  vm.runInContext(RUNTIME, context, { filename: `${SITE}selfprof-polyfill.js` });
  const run = (code) => vm.runInContext(code, context, { filename: `${SITE}page.js` });
  run('function f(act) {let $n=$on&&$e(71);try{ tick(1); act?.() }finally{$on&&$t(71,$n)}}');
  return { run, state };
}

const start = (maxBufferSize) => `new ProfilerPolyfill({ mode: 'trace', maxBufferSize: ${maxBufferSize} })`;

/** The trace of what code does, as plain objects. */
async function traced(it, code, maxBufferSize = 1e6) {
  it.run(`globalThis.profiler = ${start(maxBufferSize)}`);
  it.run(code);
  return JSON.parse(JSON.stringify(await it.run('profiler.stop()')));
}

describe('the tracing runtime', () => {
  it('has the functions of the table', async () => {
    const it = page();
    const trace = await traced(it, 'f(() => f())');
    assert.deepEqual(trace.frames, [{ column: 11, line: 3, name: 'f', resourceId: 0 }]);
    assert.deepEqual(trace.resources, [`${SITE}app.js`]);
    assert.deepEqual(trace.calls, {
      end: 1_002,
      frameIds: [0, 0, 0, 0],
      start: 1_000,
      timestamps: [1_000, 1_001, 1_002, 1_002],
      truncated: false,
      types: [0, 0, 1, 1],
    });
    assert.deepEqual(Object.keys(trace), ['calls', 'frames', 'resources', 'samples', 'stacks']);
  });

  it('has numbers if there is no table, or a wrong one', async () => {
    const wrong = [[], [['', 1, 1]], [['', 1, 1, 1, 1, 1, 1, -1, 'x']], [['', 1, 1, 1, 1, 1, 1, -1, 72]]];
    const tables = wrong.map((functions) => ({ version: 1, files: { a: { functions } } }));
    for (const table of [new TypeError('Failed to fetch'), null, {}, { version: 2 }, ...tables]) {
      const trace = await traced(page({}, table), 'f()');
      assert.deepEqual([trace.frames, trace.resources], [[{ name: 'function 71' }], []], JSON.stringify(table));
    }
  });

  it('keeps to its buffer, in several blocks and for several profilers', async () => {
    const it = page();
    it.run(`globalThis.other = ${start(3)}; globalThis.fired = 0`);
    it.run(`other.addEventListener('samplebufferfull', () => fired++)`);
    const calls = 100_000;
    const trace = await traced(it, `for (let i = 0; i < ${calls}; i++) f()`);
    assert.equal(trace.calls.types.length, 2 * calls);
    assert.ok(trace.calls.timestamps.every((time, index) => time === 1_000 + Math.ceil(index / 2)));
    const other = JSON.parse(JSON.stringify(await it.run('other.stop()')));
    assert.deepEqual([other.calls.types, other.calls.truncated, other.calls.end], [[0, 1, 0], true, 1_002]);
    assert.equal(it.run('fired'), 0);
    for (const act of it.state.timers) act();
    assert.equal(it.run('fired'), 1);
    const none = await traced(it, 'f()', 0);
    assert.deepEqual([none.calls.types, none.calls.truncated], [[], true]);
  });

  it('ends where memory does', async () => {
    class Scarce extends Uint32Array {
      constructor(size) {
        if (size > 1_500) throw new RangeError('Array buffer allocation failed');
        super(size);
      }
    }
    const it = page({ Uint32Array: Scarce });
    const trace = await traced(it, 'for (let i = 0; i < 2000; i++) f()');
    assert.deepEqual([trace.calls.types.length, trace.calls.truncated], [1_024, true]);
  });

  it('is not confused by what a page replaces', async () => {
    const it = page();
    it.run(`
      Array.prototype.push = Array.prototype[Symbol.iterator] = () => { throw new Error('replaced') };
      Math.max = Math.min = Math.floor = () => 0; performance.now = () => -1; Uint32Array = Float64Array = undefined;
      Object.prototype[8] = 70; globalThis.Map = undefined;
    `);
    const trace = await traced(it, 'f()');
    assert.deepEqual([trace.calls.types, trace.frames[0].name], [[0, 1], 'f']);
  });

  it('adds exits that are missing', async () => {
    const it = page();
    it.run('function broken() { $e(71); f() }');
    const trace = await traced(it, 'f(broken); broken(); f()');
    const types = trace.calls.types.join('');
    // The last two calls are inside of one that has no end.
    assert.equal(types, '00' + '011' + '1' + '001' + '01');
  });

  it('knows functions of an earlier recording', async () => {
    const it = page();
    it.run(`globalThis.first = ${start(100)}; globalThis.n = $e(71); f`);
    const first = JSON.parse(JSON.stringify(await it.run('first.stop()')));
    assert.deepEqual(first.calls.types, [0]);
    const trace = await traced(it, 'f(() => {}); $t(71, n); f()');
    assert.deepEqual(trace.calls.types, [0, 1, 1, 0, 1]);
  });
});
