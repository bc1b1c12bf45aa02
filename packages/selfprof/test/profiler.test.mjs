// A session from its construction to its trace.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite, test } from 'node:test';

import { Profiler } from 'selfprof';

import { PACKAGE, runProgram } from './program.mjs';
import { spin } from './spin.mjs';
import { assertWellFormed, framesOf, hasCalls } from './well-formed.mjs';

const UNLIMITED = 2 ** 32 - 1;

/** Profiles `work` at the finest interval and returns its trace, which was checked. */
async function profile(work, options) {
  const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: UNLIMITED, ...options });
  await work();
  const trace = await profiler.stop();
  assertWellFormed(trace);
  return trace;
}

suite('sampleInterval', () => {
  for (const [asked, expected] of [
    [0, 1],
    [0.25, 1],
    [1, 1],
    [1.001, 2],
    [1.5, 2],
    [10, 10],
    [16.6, 17],
    [100, 100],
    [2147483, 2147483],
  ]) {
    test(`is ${expected} when ${asked} is requested`, async () => {
      const profiler = new Profiler({ sampleInterval: asked, maxBufferSize: 10 });
      assert.equal(profiler.sampleInterval, expected);
      await profiler.stop();
      assert.equal(profiler.sampleInterval, expected);
    });
  }

  test('sets the rate of samples', async () => {
    const begin = performance.now();
    const { samples } = await profile(() => spin(500), { sampleInterval: 50 });
    const elapsed = performance.now() - begin;
    assert.ok(samples.length <= elapsed / 50 + 2, `${samples.length} samples in ${elapsed} ms`);
    assert.ok(samples.length >= 4);
  });

  test('can be so long that only the first sample is taken', async () => {
    const { samples } = await profile(() => spin(150), { sampleInterval: 2147483 });
    assert.equal(samples.length, 1);
  });
});

suite('a changed Object.prototype', () => {
  const OPTIONS = { sampleInterval: 10, maxBufferSize: 10 };
  for (const [name, property] of Object.entries({
    sampleInterval: { value: 'wrong' },
    required: { value: true },
    fallback: { value: 'wrong' },
    convert: { value: 5 },
    format: { value: 'wrong' },
    message: { value: 'wrong' },
    maxBufferSize: {
      get: () => 5,
      set() {
        throw new Error('the setter was called');
      },
    },
  })) {
    test(`does not matter to a profiler: ${name}`, async () => {
      Object.defineProperty(Object.prototype, name, { ...property, configurable: true });
      try {
        const profiler = new Profiler(OPTIONS);
        assert.equal(profiler.sampleInterval, 10);
        const trace = await profiler.stop();
        assert.ok(Array.isArray(trace.samples));
      } finally {
        delete Object.prototype[name];
      }
    });
  }
});

suite('replaced methods', () => {
  for (const [name, prototype, methods] of [
    ['Map', Map.prototype, ['get', 'set', 'delete']],
    ['Set', Set.prototype, ['add', 'delete']],
    ['WeakRef', WeakRef.prototype, ['deref']],
    ['FinalizationRegistry', FinalizationRegistry.prototype, ['register', 'unregister']],
  ]) {
    test(`do not matter to a profiler: those of ${name}`, async () => {
      const properties = methods.map((method) => Object.getOwnPropertyDescriptor(prototype, method));
      const replaced = [];
      for (const method of methods)
        Object.defineProperty(prototype, method, {
          value: () => {
            replaced.push(method);
            throw new Error('the replaced method was called');
          },
          writable: true,
          configurable: true,
        });
      let profiler;
      let outcome;
      try {
        profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 10 });
        outcome = profiler.stop();
      } catch (error) {
        outcome = Promise.reject(error);
      } finally {
        for (const [at, method] of methods.entries()) Object.defineProperty(prototype, method, properties[at]);
      }
      assert.ok(Array.isArray((await outcome).samples));
      assert.deepEqual(replaced, []);
    });
  }
});

suite('stop()', () => {
  test('sets stopped at once', async () => {
    const profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 10 });
    assert.equal(profiler.stopped, false);
    const promise = profiler.stop();
    assert.equal(profiler.stopped, true);
    assert.ok(promise instanceof Promise);
    await promise;
    assert.equal(profiler.stopped, true);
  });

  for (const argument of [5, 'text', true, Symbol('s'), 10n, null, undefined]) {
    test(`ignores an argument that is no object: ${String(argument)}`, async () => {
      const profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 10 });
      assert.ok(Array.isArray((await profiler.stop(argument)).samples));
      assert.equal(profiler.stopped, true);
    });
  }

  test('can be passed as a callback', async () => {
    const profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 10 });
    const trace = await Promise.resolve(5).then(profiler.stop.bind(profiler));
    assert.ok(Array.isArray(trace.samples));
  });

  test('rejects with an InvalidStateError when it was called before', async () => {
    const profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 10 });
    const first = profiler.stop();
    for (const second of [profiler.stop(), first.then(() => profiler.stop())]) {
      await assert.rejects(second, (error) => {
        assert.ok(error instanceof DOMException);
        assert.equal(error.name, 'InvalidStateError');
        assert.equal(error.code, DOMException.INVALID_STATE_ERR);
        return true;
      });
    }
    assertWellFormed(await first);
  });

  test('settles after the code that called it', async () => {
    const profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 10 });
    const order = [];
    const stopped = profiler.stop().then(() => order.push('trace'));
    order.push('caller');
    await stopped;
    assert.deepEqual(order, ['caller', 'trace']);
  });

  test('keeps the program alive until it has delivered', async () => {
    const { stdout } = await runProgram(`
      const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1000 });
      profiler.stop().then(({ samples }) => console.log(samples.length > 0));
    `);
    assert.equal(stdout, 'true\n');
  });

  test('works after a signal that the program sent itself without harm', async () => {
    const { code, stdout, stderr } = await runProgram(`
      ${spin}
      const early = new Profiler({ sampleInterval: 1, maxBufferSize: 10_000 });
      process.kill(process.pid, 'SIGWINCH');
      const late = new Profiler({ sampleInterval: 1, maxBufferSize: 10_000 });
      (function afterwards() { spin(400); })();
      Promise.all([early.stop(), late.stop()]).then((traces) => {
        console.log(traces.map(({ frames }) => frames.some(({ name }) => name === 'afterwards')).join());
      });
    `);
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: 'true,true\n', stderr: '' });
  });

  test('gives no sample of what came after it', async () => {
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: UNLIMITED });
    spin(20);
    const promise = profiler.stop();
    const end = performance.now();
    (function afterwards() {
      spin(150);
    })();
    const trace = await promise;
    assert.ok(trace.samples.at(-1).timestamp < end + 1);
    assert.ok(!trace.frames.some(({ name }) => name === 'afterwards'));
  });

  test('gives each profiler its own trace', async () => {
    const profilers = [1, 2].map(() => new Profiler({ sampleInterval: 1, maxBufferSize: UNLIMITED }));
    spin(20);
    const [one, two] = await Promise.all(profilers.map((profiler) => profiler.stop()));
    one.samples.length = 0;
    one.frames[0].name = 'changed';
    assert.notEqual(two.samples.length, 0);
    assert.ok(!two.frames.some(({ name }) => name === 'changed'));
  });
});

suite('timestamps', () => {
  test('are readings of performance.now()', async () => {
    const before = performance.now();
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: UNLIMITED });
    const constructed = performance.now();
    spin(100);
    const stopping = performance.now();
    const promise = profiler.stop();
    const stopped = performance.now();
    const { samples } = await promise;
    const times = samples.map(({ timestamp }) => timestamp);
    assert.ok(times[0] > before - 1, `${times[0]} is before ${before}`);
    assert.ok(times[0] < constructed + 1, `the first sample at ${times[0]} is not of the construction, ${constructed}`);
    assert.ok(times.at(-1) < stopped + 1, `${times.at(-1)} is after ${stopped}`);
    // A busy machine may take no samples for a while.
    const middle = (constructed + stopping) / 2;
    assert.ok(times.at(-1) > middle, `the last sample at ${times.at(-1)} is before the middle, ${middle}`);
  });

  test('of the first sample lie within the construction', async () => {
    for (let i = 0; i < 500; i++) {
      const before = performance.now();
      const profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 1 });
      const after = performance.now();
      const first = (await profiler.stop()).samples[0].timestamp;
      // Timestamps are rounded down to multiples of 5 microseconds; the two clocks are tied together to one or two.
      assert.ok(first >= before - 0.007, `${first} is ${before - first} ms before the construction`);
      assert.ok(first <= after + 0.002, `${first} is ${first - after} ms after the construction`);
    }
  });

  test("of the first sample come with the stack of the constructor's caller", async () => {
    const trace = await (function begin() {
      return new Profiler({ sampleInterval: 1_000, maxBufferSize: 1 });
    })().stop();
    assert.equal(framesOf(trace, trace.samples[0].stackId)[0]?.name, 'begin');
    assert.ok(!trace.frames.some(({ name }) => name === 'Profiler'));
  });

  test('lie on a grid of 5 microseconds', async () => {
    const { samples } = await profile(() => spin(200));
    assert.ok(samples.length > 20);
    for (const { timestamp } of samples) {
      assert.equal(timestamp, Math.round(timestamp * 200) / 200, `${timestamp} is a multiple of 0.005`);
    }
  });

  test('go on through a wait', async () => {
    const begin = performance.now();
    const { samples } = await profile(async () => {
      spin(30);
      await sleep(150);
      spin(30);
    });
    assert.ok(samples.some(({ timestamp }) => timestamp > begin + 170));
  });
});

suite('the trace', () => {
  test('has a sample even when it is stopped at once', async () => {
    const trace = await profile(() => {});
    assert.ok(trace.samples.length >= 1);
  });

  test('survives JSON and structured cloning unchanged', async () => {
    const trace = await profile(() => spin(150));
    assert.deepEqual(JSON.parse(JSON.stringify(trace)), trace);
    assert.deepEqual(structuredClone(trace), trace);
  });

  test('lists frames from the root to the leaf', async () => {
    const trace = await profile(function outer() {
      (function inner() {
        spin(150);
      })();
    });
    assert.ok(hasCalls(trace, ['spin', 'inner', 'outer']));
    const sample = trace.samples.find(
      ({ stackId }) => framesOf(trace, stackId)[0]?.name === 'inner' || framesOf(trace, stackId)[1]?.name === 'inner',
    );
    const names = framesOf(trace, sample.stackId).map(({ name }) => name);
    assert.ok(names.indexOf('inner') < names.indexOf('outer'));
  });

  test('shows each call of a recursion', async () => {
    const DEPTH = 40;
    const trace = await profile(function root() {
      (function again(depth) {
        if (depth > 1) again(depth - 1);
        else spin(150);
      })(DEPTH);
    });
    assert.ok(hasCalls(trace, ['spin', ...new Array(DEPTH).fill('again'), 'root']));
    assert.equal(trace.frames.filter(({ name }) => name === 'again').length, 1, 'one function is one frame');
  });

  test('stays well-formed when the stack is deeper than V8 looks', async () => {
    const trace = await profile(() => {
      (function deep(depth) {
        if (depth > 1) deep(depth - 1);
        else spin(150);
      })(3000);
    });
    assert.ok(hasCalls(trace, ['spin', ...new Array(100).fill('deep')]));
  });

  test('shows an async function after it was resumed', async () => {
    const trace = await profile(async () => {
      await (async function resumed() {
        await sleep(5);
        spin(150);
      })();
    });
    assert.ok(hasCalls(trace, ['spin', 'resumed']));
  });

  test('shows a function that was optimised before the profiler started', async () => {
    function hot(ms) {
      let sum = 0;
      for (const end = performance.now() + ms; performance.now() < end; ) for (let i = 0; i < 1e5; i++) sum += i & 7;
      return sum;
    }
    for (let i = 0; i < 5; i++) hot(20);
    const trace = await profile(() => hot(50));
    assert.ok(trace.frames.some(({ name }) => name === 'hot'));
  });
});

suite('names', () => {
  class Names {
    method() {
      spin(150);
    }
    get getter() {
      return spin(150);
    }
    set setter(_) {
      spin(150);
    }
    static fixed() {
      spin(150);
    }
    #secret() {
      spin(150);
    }
    callSecret() {
      this.#secret();
    }
    static get fixedGetter() {
      return spin(150);
    }
    // biome-ignore lint/correctness/useYield: it only has to run
    *generator() {
      spin(150);
    }
    async asynchronous() {
      spin(150);
    }
    constructor(busy) {
      if (busy) spin(150);
    }
  }
  const names = new Names(false);
  const literal = {
    // biome-ignore lint/complexity/useArrowFunction: how V8 names each kind of function
    property: function () {
      spin(150);
    },
    shorthand() {
      spin(150);
    },
    arrow: () => spin(150),
  };
  function declaration() {
    spin(150);
  }
  // biome-ignore lint/complexity/useArrowFunction: how V8 names each kind of function
  const expression = function () {
    spin(150);
  };
  const named = function itsOwnName() {
    spin(150);
  };
  const arrow = () => spin(150);
  function anonymous() {
    // biome-ignore lint/complexity/useArrowFunction: how V8 names each kind of function
    return function () {
      spin(150);
    };
  }

  for (const [what, work, name] of [
    ['a method', () => names.method(), 'method'],
    ['a getter', () => names.getter, 'get getter'],
    ['a setter', () => (names.setter = 1), 'set setter'],
    ['a static method', () => Names.fixed(), 'fixed'],
    ['a static getter', () => Names.fixedGetter, 'get fixedGetter'],
    ['a private method', () => names.callSecret(), '#secret'],
    ['a generator', () => names.generator().next(), 'generator'],
    ['an async method', () => names.asynchronous(), 'asynchronous'],
    ['a constructor', () => new Names(true), 'Names'],
    ['a property', () => literal.property(), 'property'],
    ['a shorthand method', () => literal.shorthand(), 'shorthand'],
    ['an arrow property', () => literal.arrow(), 'arrow'],
    ['a declaration', declaration, 'declaration'],
    ['an expression that a variable names', expression, 'expression'],
    ['an expression with a name', named, 'itsOwnName'],
    ['an arrow function', arrow, 'arrow'],
    ['a bound function', () => declaration.bind(null)(), 'declaration'],
    ['an anonymous function', () => anonymous()(), ''],
    ['an anonymous callback', () => [1].map(() => spin(150)), ''],
  ]) {
    test(`${what} is '${name}'`, async () => {
      const trace = await profile(work);
      assert.ok(hasCalls(trace, ['spin', name]), JSON.stringify(trace.frames));
    });
  }

  // V8 names its samples by the source alone.
  test('a name that is computed at run time is itself or empty, never a guess', async () => {
    const computed = {
      [['com', 'puted'].join('')]() {
        spin(150);
      },
    };
    const trace = await profile(() => computed.computed());
    assert.ok(hasCalls(trace, ['spin', 'computed']) || hasCalls(trace, ['spin', '']), JSON.stringify(trace.frames));
  });
});

suite('positions', () => {
  const source = fs.readFileSync(new URL(import.meta.url), 'utf8');
  /** The 1-based position at which the parameters of a function begin, where V8 holds a function to be defined. */
  function positionOf(text, code) {
    const before = code.slice(0, code.indexOf(text) + text.length - 1).split('\n');
    return { line: before.length, column: before.at(-1).length + 1 };
  }

  test('are where the function is defined, in a module', async () => {
    function positioned() {
      spin(150);
    }
    const trace = await profile(positioned);
    const frame = trace.frames.find(({ name }) => name === 'positioned');
    assert.equal(trace.resources[frame.resourceId], import.meta.url);
    assert.deepEqual({ line: frame.line, column: frame.column }, positionOf('function positioned(', source));
  });

  test('are where the function is defined, in a CommonJS module', async (t) => {
    const directory = fs.realpathSync(fs.mkdtempSync('/tmp/selfprof-'));
    t.after(() => fs.rmSync(directory, { recursive: true }));
    const file = `${directory}/pläce.cjs`;
    const text = `exports.first = function atStart(spin) { spin(150) };
      /* ünï */ exports.second = (a,
        spin) => spin(150);\n`;
    fs.writeFileSync(file, text);
    const { first, second } = createRequire(import.meta.url)(file);
    const trace = await profile(() => {
      first(spin);
      second(null, spin);
    });
    const resourceId = trace.resources.indexOf(file);
    assert.notEqual(resourceId, -1, String(trace.resources));
    const find = (name) => trace.frames.find((frame) => frame.name === name && frame.resourceId === resourceId);
    assert.deepEqual(find('atStart'), { column: 33, line: 1, name: 'atStart', resourceId });
    assert.deepEqual(find('exports.second') ?? find(''), { column: 34, line: 2, name: '', resourceId });
  });

  test('of two functions with one name tell them apart', async () => {
    const [one, two] = [
      function twin() {
        spin(150);
      },
      function twin() {
        spin(150);
      },
    ];
    const trace = await profile(() => {
      one();
      two();
    });
    assert.equal(trace.frames.filter(({ name }) => name === 'twin').length, 2);
  });

  test('are absent for code that eval or new Function made', async () => {
    const trace = await profile(() => {
      // biome-ignore lint/security/noGlobalEval: how code of eval shows in a trace
      (0, eval)('(function inEval(spin) { spin(150); })')(spin);
      new Function('spin', 'return function inFunction() { spin(150); }')(spin)();
    });
    for (const name of ['inEval', 'inFunction']) {
      assert.deepEqual(
        trace.frames.filter((frame) => frame.name === name),
        [{ name }],
      );
      assert.ok(hasCalls(trace, ['spin', name]));
    }
    assert.ok(!trace.resources.includes(''));
  });
});

suite('markers', () => {
  test('script marks running JavaScript', async () => {
    let begin;
    let end;
    const trace = await profile(function compute() {
      begin = performance.now();
      do {
        for (let i = 0; i < 1e6; i++);
        end = performance.now();
      } while (end < begin + 100);
    });
    // On a busy machine, what comes before and after can take as long.
    const during = trace.samples.filter(({ timestamp }) => timestamp >= begin && timestamp <= end);
    const inScript = during.filter(({ marker }) => marker === 'script');
    assert.ok(during.length > 0 && inScript.length > during.length / 2, `${inScript.length} of ${during.length}`);
    // Before and after, V8 may be between two functions: see the next test. So it is for a moment in the loop, when it
    // changes to optimized code. The two clocks agree to some microseconds.
    const inLoop = inScript.filter(({ timestamp }) => timestamp <= end - 0.01);
    const stackless = inLoop.filter(({ stackId }) => stackId === undefined);
    assert.ok(stackless.length <= Math.max(2, inLoop.length / 20), `at ${stackless.map(({ timestamp }) => timestamp)}`);
  });

  // V8's loop over the microtasks runs in the state JS. It is a builtin that native code enters, and builtins have no
  // frames.
  test('script marks the time between two microtasks, without a stack', async () => {
    for (let attempt = 1; ; attempt++) {
      const trace = await profile(async function wait() {
        for (const end = performance.now() + 200; performance.now() < end; ) await null;
      });
      const stackless = trace.samples.filter(({ marker, stackId }) => marker === 'script' && stackId === undefined);
      if (stackless.length > 0) return;
      assert.ok(attempt < 20, `none in ${attempt} attempts`);
    }
  });

  test('gc marks a garbage collection', async () => {
    const trace = await profile(function allocate() {
      const kept = [];
      for (const end = performance.now() + 300; performance.now() < end; ) {
        kept.push(Array.from({ length: 10_000 }, (_, i) => ({ i })));
        if (kept.length > 30) kept.shift();
      }
    });
    assert.ok(trace.samples.some(({ marker }) => marker === 'gc'));
  });

  test('other marks work of the engine and the host', async () => {
    const trace = await profile(function readFiles() {
      for (const end = performance.now() + 100; performance.now() < end; ) fs.readFileSync(new URL(import.meta.url));
    });
    assert.ok(trace.samples.some(({ marker, stackId }) => marker === 'other' && stackId !== undefined));
  });

  test('idle samples have only a timestamp', async () => {
    const trace = await profile(() => sleep(200));
    const idle = trace.samples.filter((sample) => !('marker' in sample));
    assert.ok(idle.length > 10, `${idle.length} idle samples of ${trace.samples.length}`);
    for (const sample of idle) assert.deepEqual(Object.keys(sample), ['timestamp']);
  });

  test('samples of a thread that is blocked in Atomics.wait have no marker', async () => {
    const trace = await profile(() => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    });
    const unmarked = trace.samples.filter((sample) => !('marker' in sample));
    assert.ok(unmarked.length > trace.samples.length / 2, `${unmarked.length} of ${trace.samples.length}`);
  });
});

suite("Node's own frames", () => {
  const program = `
    const fs = require('node:fs');
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 100000 });
    function caller() {
      for (const end = performance.now() + 150; performance.now() < end; ) {
        for (let i = 0; i < 100; i++) fs.readFileSync('/proc/self/status', 'utf8');
      }
    }
    caller();
    profiler.stop().then((trace) => console.log(JSON.stringify(trace)));
  `;
  const run = async (env) => {
    const { stdout, stderr } = await runProgram(program, { env });
    assert.equal(stderr, '');
    const trace = JSON.parse(stdout);
    assertWellFormed(trace);
    return trace;
  };

  test('are folded into the call that the program made', async () => {
    const trace = await run({});
    assert.ok(hasCalls(trace, ['readFileSync', 'caller']));
    assert.deepEqual(
      trace.frames.filter(({ name }) => name === 'readFileSync'),
      [{ name: 'readFileSync' }],
    );
    assert.ok(!trace.resources.some((resource) => resource.startsWith('node:')), String(trace.resources));
    for (const [id] of trace.stacks.entries()) {
      const [callee, caller] = framesOf(trace, id);
      assert.ok(
        !(caller && !('resourceId' in caller) && !('resourceId' in callee)),
        `${callee.name} in ${caller?.name}`,
      );
    }
  });

  test('are shown with SELFPROF_NODE_FRAMES=full', async () => {
    const trace = await run({ SELFPROF_NODE_FRAMES: 'full' });
    assert.ok(trace.resources.includes('node:fs'), String(trace.resources));
    const frame = trace.frames.find(({ name }) => name === 'readFileSync');
    assert.equal(trace.resources[frame.resourceId], 'node:fs');
    assert.ok(frame.line > 1 && frame.column >= 1);
  });

  for (const value of ['fold', 'full']) {
    test(`never show this package's own scripts (${value})`, async () => {
      const trace = await run({ SELFPROF_NODE_FRAMES: value });
      assert.ok(hasCalls(trace, ['caller']));
      assert.ok(!trace.resources.some((resource) => resource.includes(PACKAGE)), String(trace.resources));
    });
  }
});
