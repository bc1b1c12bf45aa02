// The interface `Profiler` of the runtime: https://wicg.github.io/js-self-profiling/#the-profiler-interface

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';

import { brief, page, POLYFILL } from './polyfill.mjs';

/** What `new Profiler()` does with arguments, which are code: the interval, or the name of the error. */
function check(argument, expected) {
  const { run } = page();
  const result = run(`(() => {
    try {
      return new Profiler(${argument}).sampleInterval;
    } catch (error) {
      return error.name;
    }
  })()`);
  assert.equal(result, expected, argument);
}

describe('new Profiler()', () => {
  it('converts its options', () => {
    check('{ sampleInterval: 10, maxBufferSize: 10 }', 10);
    check('{ sampleInterval: "10", maxBufferSize: "10" }', 10);
    check('{ sampleInterval: null, maxBufferSize: null }', 10);
    check('{ sampleInterval: { valueOf: () => 20 }, maxBufferSize: -1 }', 20);
    check('Object.assign(() => {}, { sampleInterval: 10, maxBufferSize: NaN })', 10);
    check('Object.create({ sampleInterval: 10, maxBufferSize: 2 ** 40 })', 10);
    for (const argument of [
      ...['', 'undefined', 'null', '{}', '5', '"text"', 'Symbol()'],
      ...['{ sampleInterval: 10 }', '{ maxBufferSize: 10 }', '{ sampleInterval: undefined, maxBufferSize: 10 }'],
      ...['NaN', 'Infinity', '-Infinity', '1n', 'Symbol()', '"10 ms"'].map(
        (value) => `{ sampleInterval: ${value}, maxBufferSize: 10 }`,
      ),
      ...['1n', 'Symbol()'].map((value) => `{ sampleInterval: 10, maxBufferSize: ${value} }`),
    ])
      check(argument, 'TypeError');
    check(
      '{ get maxBufferSize() { throw new SyntaxError() }, get sampleInterval() { throw new EvalError() } }',
      'SyntaxError',
    );
    check('{ maxBufferSize: 1n, get sampleInterval() { throw new EvalError() } }', 'TypeError');
    check('{ maxBufferSize: 1, get sampleInterval() { throw new EvalError() } }', 'EvalError');
  });

  it('rounds intervals up to multiples of 10 ms', () => {
    const intervals = { 0: 10, '-0': 10, 0.1: 10, 9.9: 10, 10: 10, 10.1: 20, 16: 20, 95: 100, 2147480: 2_147_480 };
    for (const [interval, expected] of Object.entries(intervals))
      check(`{ sampleInterval: ${interval}, maxBufferSize: 10 }`, expected);
  });

  it('refuses intervals out of range', () => {
    for (const interval of [-1, -0.1, 2_147_484, 1e300])
      check(`{ sampleInterval: ${interval}, maxBufferSize: 10 }`, 'RangeError');
  });

  it('says what tracing needs', () => {
    assert.throws(() => page().run("new Profiler({ mode: 'trace', maxBufferSize: 10 })"), {
      name: 'TypeError',
      message: "Failed to construct 'Profiler': mode 'trace' needs scripts instrumented with --mode trace.",
    });
  });

  it('ignores members that it does not know, as WebIDL does', () => {
    check('{ sampleInterval: 10, maxBufferSize: 10, sampelInterval: 20, mode: "other" }', 10);
  });

  it('needs new', () => {
    assert.throws(() => page().run('Profiler({ sampleInterval: 10, maxBufferSize: 10 })'), { name: 'TypeError' });
  });

  it('leaves nothing behind when it fails', async () => {
    const it = page();
    for (let count = 0; count < 200; count++) {
      assert.throws(() => it.run('new Profiler({ sampleInterval: -1, maxBufferSize: 10 })'), { name: 'RangeError' });
      assert.throws(() => it.run('new Profiler({ sampleInterval: 10 })'), { name: 'TypeError' });
    }
    assert.equal(it.run('$e'), undefined);
    await it.start().stop();
  });
});

describe('the interface', () => {
  it('is defined as WebIDL defines interfaces', () => {
    const { run } = page();
    const found = run(`
      const describe = (object, key) => {
        const { value, get, set, ...flags } = Object.getOwnPropertyDescriptor(object, key);
        return JSON.stringify([typeof value, typeof get, typeof set, flags.enumerable, flags.configurable, flags.writable]);
      };
      JSON.stringify({
        name: Profiler.name,
        length: Profiler.length,
        inherits: [Object.getPrototypeOf(Profiler) === EventTarget, Profiler.prototype instanceof EventTarget],
        members: Reflect.ownKeys(Profiler.prototype).map(String).sort(),
        text: String(Object.prototype.toString.call(Profiler.prototype)),
        global: describe(globalThis, 'Profiler'),
        prototype: describe(Profiler, 'prototype'),
        sampleInterval: describe(Profiler.prototype, 'sampleInterval'),
        stopped: describe(Profiler.prototype, 'stopped'),
        stop: describe(Profiler.prototype, 'stop'),
        stopLength: Profiler.prototype.stop.length,
      })`);
    assert.deepEqual(JSON.parse(found), {
      name: 'Profiler',
      length: 1,
      inherits: [true, true],
      members: ['Symbol(Symbol.toStringTag)', 'constructor', 'sampleInterval', 'stop', 'stopped'],
      text: '[object Profiler]',
      global: '["function","undefined","undefined",false,true,true]',
      prototype: '["object","undefined","undefined",false,false,false]',
      sampleInterval: '["undefined","function","undefined",true,true,null]',
      stopped: '["undefined","function","undefined",true,true,null]',
      stop: '["function","undefined","undefined",true,true,true]',
      stopLength: 0,
    });
  });

  it('is that of the browser, if there is one', () => {
    const { run } = page({ before: 'class Native {}; globalThis.Profiler = Native' });
    assert.equal(run('Profiler === Native'), true);
    assert.equal(run('ProfilerPolyfill.polyfilled'), true);
    assert.equal(page().run('Profiler === ProfilerPolyfill && Profiler.polyfilled'), true);
  });

  it('has members for profilers only', async () => {
    const { run } = page();
    for (const member of ['sampleInterval', 'stopped'])
      assert.throws(() => run(`Profiler.prototype.${member}`), { name: 'TypeError' });
    await assert.rejects(run('Profiler.prototype.stop.call({})'), { name: 'TypeError' });
  });

  it('declares the names that instrumented code uses, for modules and other scripts', () => {
    assert.match(POLYFILL, /^let \$x=/);
    assert.equal(
      page().run('[$e, $t, typeof $x, typeof $h, typeof $s, typeof $r] + ""'),
      ',,function,function,function,function',
    );
    for (const name of ['$x', '$h', '$s', '$r']) assert.equal(page().run(`${name}(7)`), 7);
  });

  it('hides the names that change from loops over the global object, and defines them anew', async () => {
    const it = page();
    const keys = () => it.run('Object.keys(globalThis).filter((key) => key[0] === "$") + ""');
    assert.equal(keys(), '');
    const profiler = it.start();
    assert.equal(it.run('typeof $e + typeof $t'), 'functionfunction');
    assert.equal(keys(), '');
    await it.job(() => profiler.stop());
    assert.equal(it.run('[$e, $t] + ""'), ',');
    assert.equal(keys(), '');
  });

  it('keeps instrumented code from failing if the global object takes no new properties', () => {
    // As in workers: windows and contexts of Node refuse to become such objects.
    const program = `${POLYFILL}
      Object.preventExtensions(globalThis);
      const profiler = new ProfilerPolyfill({ sampleInterval: 10, maxBufferSize: 10 });
      const during = typeof $e;
      profiler.stop();
      console.log(during, typeof $e);`;
    const { stdout } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
    assert.equal(stdout, 'function undefined\n');
  });
});

describe('stop()', () => {
  it('stops at once, and fails when it is called again', async () => {
    const it = page();
    const profiler = it.start();
    assert.equal(profiler.stopped, false);
    const stopped = profiler.stop();
    assert.equal(profiler.stopped, true);
    await assert.rejects(profiler.stop(), { name: 'InvalidStateError' });
    assert.deepEqual(brief(await stopped), ['?']);
    await assert.rejects(profiler.stop(), { name: 'InvalidStateError' });
    assert.equal(profiler.sampleInterval, 10);
  });
});
