// Pages that change what the runtime uses, and what they may not notice of it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { brief, page } from './polyfill.mjs';

/** What a page has after it has run code, and whether it is still sampled. */
async function check(after, isAsBefore = 'true') {
  const it = page({ after });
  const profiler = it.start();
  it.job('outer(() => inner(() => pass(25)))');
  const trace = await it.job(() => profiler.stop());
  assert.deepEqual(brief(trace), ['?', 'outer > inner', 'outer > inner'], after);
  assert.equal(it.run(isAsBefore), true, after);
}

describe('a page', () => {
  it('may replace what the runtime uses', async () => {
    const fail = "() => { throw 'replaced' }";
    await check(`
      const list = [
        [Array.prototype, ['push', 'pop', 'splice', 'slice', 'map', 'forEach', 'indexOf', Symbol.iterator]],
        [String.prototype, ['split', 'slice', 'indexOf', 'lastIndexOf', 'replace', 'match', 'endsWith', Symbol.iterator]],
        [RegExp.prototype, ['exec', 'test', Symbol.match, Symbol.replace, Symbol.split]],
        [Reflect, ['apply', 'set', 'defineProperty', 'deleteProperty', 'getOwnPropertyDescriptor']],
        [Function.prototype, ['call', 'apply', 'bind']],
        [Math, ['min', 'floor', 'ceil']],
        [Map.prototype, ['get', 'set']],
        [performance, ['now']],
        [globalThis, ['queueMicrotask', 'setTimeout', 'clearTimeout', 'Event', 'URL', 'fetch', 'AbortSignal', 'Reflect', 'Error']],
      ];
      for (let i = 0; i < list.length; i++)
        for (let j = 0; j < list[i][1].length; j++) list[i][0][list[i][1][j]] = ${fail};
    `);
  });

  it('may add to all objects', async () => {
    await check(`
      for (const key of ['place', 'node', 'caller', 'callees', 'stack', 'leaf', 'state', 'text', 'stackId', 'parentId', 'found'])
        Object.defineProperty(Object.prototype, key, { get() { return undefined }, set(value) {
          Object.defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true }) }, configurable: true });
      Object.prototype['    at inner (https://shop.example/app.js:1:1)'] = 7;
    `);
  });

  it('keeps the properties of its Error', async () => {
    const same = (key) => `JSON.stringify(Object.getOwnPropertyDescriptor(Error, '${key}')) === before`;
    const note = (key) => `var before = JSON.stringify(Object.getOwnPropertyDescriptor(Error, '${key}'));`;
    for (const [change, key] of [
      ['', 'stackTraceLimit'],
      ['Error.stackTraceLimit = 1;', 'stackTraceLimit'],
      ['Error.stackTraceLimit = "none";', 'stackTraceLimit'],
      ['delete Error.stackTraceLimit;', 'stackTraceLimit'],
      ["Object.defineProperty(Error, 'stackTraceLimit', { value: 0, writable: false });", 'stackTraceLimit'],
      ["Object.defineProperty(Error, 'stackTraceLimit', { get() { throw 1 }, set() { throw 2 } });", 'stackTraceLimit'],
      ['Error.prepareStackTrace = () => { throw 3 };', 'prepareStackTrace'],
      [
        "Object.defineProperty(Error, 'prepareStackTrace', { get() { throw 4 }, set() { throw 5 }, configurable: true });",
        'prepareStackTrace',
      ],
      ['Object.freeze(Error);', 'stackTraceLimit'],
    ]) {
      await check(`${change} ${note(key)}`, same(key));
      await check(`${change} ${note('prepareStackTrace')}`, same('prepareStackTrace'));
    }
    await check(
      'var calls = 0; Object.prototype.prepareStackTrace = () => { calls++ }; var own = Object.keys(Error).join()',
      'calls === 0 && Object.keys(Error).join() === own',
    );
  });

  it('may have code that runs while the stack is read', async () => {
    // V8 reads the name of the error.
    await check(`
      Object.defineProperty(Error.prototype, 'name', { get() { inner(() => {}); native(0); return 'Error' } });
    `);
  });

  it('meets the end of the stack as it would without the runtime, and keeps its Error', async () => {
    const it = page();
    const limit = it.run('Error.stackTraceLimit');
    const profiler = it.start();
    for (let count = 0; count < 300; count++) {
      // Each event reads the clock, and each sample is due where there is no room for it.
      it.job(`
        {
          let name = '';
          try { endless() } catch (error) { name = error.name }
          if (name !== 'RangeError') throw new Error(name);
          pass(${count % 12})
        }`);
      assert.equal(it.run('Error.stackTraceLimit'), limit);
    }
    it.job('outer(() => pass(20))');
    const stacks = brief(await it.job(() => profiler.stop()));
    assert.deepEqual(stacks.slice(-1), ['outer']);
  });

  it('may have a clock that tells nothing', async () => {
    const it = page({ globals: { performance: { now: () => Number.NaN } } });
    const profiler = it.run('new Profiler({ sampleInterval: 10, maxBufferSize: 10 })');
    assert.equal(it.run('let n = 0; outer(() => inner(() => n++)); n'), 1);
    assert.ok((await profiler.stop()).samples.length <= 10);
  });
});
