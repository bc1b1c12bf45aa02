// The interface object, its members and its conversions, as WebIDL has them.

import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';

import 'selfprof/register';

import { runProgram } from './program.mjs';
import { spin } from './spin.mjs';

const { Profiler } = globalThis;
const OPTIONS = { sampleInterval: 10, maxBufferSize: 10 };

const made = [];
function make(options, Constructor = Profiler) {
  const profiler = new Constructor(options);
  made.push(profiler);
  return profiler;
}
after(() => Promise.allSettled(made.map((profiler) => profiler.stop())));

/** The descriptor of an own property, with functions shown by name and length. */
function describe(object, key) {
  const { value, get, set, ...attributes } = Object.getOwnPropertyDescriptor(object, key);
  const show = (member) => (typeof member === 'function' ? `${member.name}/${member.length}` : member);
  return 'writable' in attributes ? { value: show(value), ...attributes } : { get: show(get), set, ...attributes };
}

suite('the interface object', () => {
  test('is a property of the global object as interfaces are', () => {
    assert.deepEqual(describe(globalThis, 'Profiler'), {
      value: 'Profiler/1',
      writable: true,
      enumerable: false,
      configurable: true,
    });
  });

  test('has the own properties of an interface object and no more', () => {
    assert.deepEqual(Reflect.ownKeys(Profiler).sort(), ['capabilities', 'length', 'name', 'prototype']);
    for (const key of ['length', 'name']) {
      const { writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(Profiler, key);
      assert.deepEqual([writable, enumerable, configurable], [false, false, true], key);
    }
    const { writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(Profiler, 'prototype');
    assert.deepEqual([writable, enumerable, configurable], [false, false, false]);
  });

  test('inherits from EventTarget', () => {
    assert.equal(Object.getPrototypeOf(Profiler), EventTarget);
    assert.equal(Object.getPrototypeOf(Profiler.prototype), EventTarget.prototype);
    assert.ok(make(OPTIONS) instanceof EventTarget);
  });

  test('has capabilities as a static operation', () => {
    assert.deepEqual(describe(Profiler, 'capabilities'), {
      value: 'capabilities/0',
      writable: true,
      enumerable: true,
      configurable: true,
    });
    assert.throws(() => new Profiler.capabilities(), TypeError);
  });

  test('cannot be called without new', () => {
    assert.throws(() => Profiler(OPTIONS), TypeError);
    assert.throws(() => Profiler.call(make(OPTIONS), OPTIONS), TypeError);
  });

  test('is the same class however it was reached', async () => {
    assert.equal((await import('selfprof')).Profiler, Profiler);
  });
});

suite('the prototype', () => {
  test('has the members of the interface and no more', () => {
    assert.deepEqual(
      new Set(Reflect.ownKeys(Profiler.prototype)),
      new Set([
        'constructor',
        'sampleInterval',
        'stopped',
        'cancel',
        'chunks',
        'stop',
        Symbol.asyncIterator,
        Symbol.toStringTag,
      ]),
    );
  });

  for (const name of ['sampleInterval', 'stopped']) {
    test(`${name} is a read-only attribute`, () => {
      assert.deepEqual(describe(Profiler.prototype, name), {
        get: `get ${name}/0`,
        set: undefined,
        enumerable: true,
        configurable: true,
      });
      const profiler = make(OPTIONS);
      const before = profiler[name];
      assert.throws(() => (profiler[name] = 'anything'), TypeError);
      assert.equal(profiler[name], before);
      assert.equal(Reflect.set(profiler, name, 'anything'), false);
    });

    test(`${name} throws a TypeError on anything that is not a Profiler`, () => {
      const { get } = Object.getOwnPropertyDescriptor(Profiler.prototype, name);
      for (const foreign of foreigners()) assert.throws(() => Reflect.apply(get, foreign, []), TypeError);
    });
  }

  test('stop is an operation', () => {
    assert.deepEqual(describe(Profiler.prototype, 'stop'), {
      value: 'stop/0',
      writable: true,
      enumerable: true,
      configurable: true,
    });
    assert.throws(() => new Profiler.prototype.stop(), TypeError);
  });

  for (const name of ['cancel', 'chunks']) {
    test(`${name} is an operation`, () => {
      assert.deepEqual(describe(Profiler.prototype, name), {
        value: `${name}/0`,
        writable: true,
        enumerable: true,
        configurable: true,
      });
      const operation = Profiler.prototype[name];
      assert.throws(() => new operation(), TypeError);
      for (const foreign of foreigners()) assert.throws(() => Reflect.apply(operation, foreign, []), TypeError);
    });
  }

  test('Symbol.asyncIterator is chunks', () => {
    assert.deepEqual(describe(Profiler.prototype, Symbol.asyncIterator), {
      value: 'chunks/0',
      writable: true,
      enumerable: false,
      configurable: true,
    });
    assert.equal(Profiler.prototype[Symbol.asyncIterator], Profiler.prototype.chunks);
  });

  test('stop rejects with a TypeError on anything that is not a Profiler, and does not throw', async () => {
    for (const foreign of foreigners()) {
      const promise = Reflect.apply(Profiler.prototype.stop, foreign, []);
      assert.ok(promise instanceof Promise);
      await assert.rejects(promise, TypeError);
    }
  });

  test('constructor leads back to the interface object', () => {
    assert.deepEqual(describe(Profiler.prototype, 'constructor'), {
      value: 'Profiler/1',
      writable: true,
      enumerable: false,
      configurable: true,
    });
    assert.equal(Profiler.prototype.constructor, Profiler);
  });

  test('Symbol.toStringTag names the interface', () => {
    assert.deepEqual(describe(Profiler.prototype, Symbol.toStringTag), {
      value: 'Profiler',
      writable: false,
      enumerable: false,
      configurable: true,
    });
    assert.equal(Object.prototype.toString.call(make(OPTIONS)), '[object Profiler]');
  });

  test('a profiler has no own properties with string keys, and enumerates its members', () => {
    const profiler = make(OPTIONS);
    assert.deepEqual(Object.keys(profiler), []);
    const seen = [];
    for (const key in profiler) seen.push(key);
    for (const key of ['sampleInterval', 'stopped', 'cancel', 'chunks', 'stop']) assert.ok(seen.includes(key), key);
  });
});

function foreigners() {
  return [
    undefined,
    null,
    1,
    'text',
    {},
    new EventTarget(),
    Profiler,
    Profiler.prototype,
    Object.create(make(OPTIONS)),
  ];
}

suite('the options', () => {
  test('are required', () => {
    assert.throws(() => new Profiler(), TypeError);
  });

  test('are a dictionary', () => {
    for (const value of [1, NaN, 'text', '', true, false, Symbol('s'), 1n]) {
      assert.throws(() => new Profiler(value), TypeError, typeof value);
    }
    // These convert to an empty dictionary, which lacks its required members.
    for (const value of [undefined, null, {}, [], () => {}]) assert.throws(() => new Profiler(value), TypeError);
    const callable = Object.assign(() => {}, OPTIONS);
    assert.equal(make(callable).sampleInterval, 10);
    assert.equal(make(Object.create(OPTIONS)).sampleInterval, 10, 'inherited members count');
  });

  test('require both members', () => {
    for (const options of [
      { sampleInterval: 10 },
      { maxBufferSize: 10 },
      { sampleInterval: undefined, maxBufferSize: 10 },
      { sampleInterval: 10, maxBufferSize: undefined },
    ]) {
      assert.throws(() => new Profiler(options), TypeError, JSON.stringify(options));
    }
  });

  test('are read and converted once each, in lexicographical order', () => {
    const log = [];
    const member = (name) => {
      log.push(`get ${name}`);
      return { valueOf: () => (log.push(`convert ${name}`), 10) };
    };
    const profiler = make({
      get sampleInterval() {
        return member('sampleInterval');
      },
      get maxBufferSize() {
        return member('maxBufferSize');
      },
    });
    assert.deepEqual(log, [
      'get maxBufferSize',
      'convert maxBufferSize',
      'get sampleInterval',
      'convert sampleInterval',
    ]);
    assert.equal(profiler.sampleInterval, 10);
  });

  test('are looked up by no other key', () => {
    const keys = [];
    make(new Proxy(OPTIONS, { get: (target, key) => (keys.push(key), target[key]) }));
    assert.deepEqual(keys, [
      'bufferPolicy',
      'includeEntries',
      'includeSameOriginFrames',
      'maxBufferSize',
      'maxChunks',
      'sampleInterval',
    ]);
  });

  test('stop converting at the first failure', () => {
    const log = [];
    const options = {
      get maxBufferSize() {
        log.push('maxBufferSize');
        return undefined;
      },
      get sampleInterval() {
        log.push('sampleInterval');
        return -1;
      },
    };
    assert.throws(() => new Profiler(options), TypeError);
    assert.deepEqual(log, ['maxBufferSize']);
  });

  test('pass on what their getters and conversions throw', () => {
    const error = new Error('mine');
    const fail = () => {
      throw error;
    };
    for (const options of [
      { maxBufferSize: { valueOf: fail }, sampleInterval: 10 },
      { maxBufferSize: 10, sampleInterval: { valueOf: fail } },
      Object.defineProperty({ sampleInterval: 10 }, 'maxBufferSize', { get: fail }),
      Object.defineProperty({ maxBufferSize: 10 }, 'sampleInterval', { get: fail }),
    ]) {
      assert.throws(
        () => new Profiler(options),
        (thrown) => thrown === error,
      );
    }
  });

  test('are not numbers when they are symbols or BigInts', () => {
    for (const value of [Symbol('s'), 1n]) {
      assert.throws(() => new Profiler({ ...OPTIONS, sampleInterval: value }), TypeError);
      assert.throws(() => new Profiler({ ...OPTIONS, maxBufferSize: value }), TypeError);
    }
  });

  test('convert what is not a number', () => {
    for (const [value, expected] of [
      ['7', 7],
      [' 7 ', 7],
      [null, 1],
      [true, 1],
      ['', 1],
      [[7], 7],
      [new Date(7), 7],
      [{ toString: () => '7' }, 7],
    ]) {
      assert.equal(make({ ...OPTIONS, sampleInterval: value }).sampleInterval, expected, String(value));
    }
  });

  test('refuse a sampleInterval that is not finite with a TypeError', () => {
    for (const value of [NaN, Infinity, -Infinity, 'ten', {}, () => {}]) {
      assert.throws(() => new Profiler({ ...OPTIONS, sampleInterval: value }), TypeError, String(value));
    }
  });

  test('refuse a sampleInterval out of range with a RangeError', () => {
    for (const value of [-1, -0.001, -Number.MIN_VALUE, 1e9, Number.MAX_VALUE, '-1']) {
      assert.throws(() => new Profiler({ ...OPTIONS, sampleInterval: value }), RangeError, String(value));
    }
    assert.equal(make({ ...OPTIONS, sampleInterval: -0 }).sampleInterval, 1);
  });

  test('say in the message what failed, as browsers do', () => {
    const failure = /^Failed to construct 'Profiler': .*sampleInterval/;
    assert.throws(() => new Profiler({ maxBufferSize: 1 }), { name: 'TypeError', message: failure });
    assert.throws(() => new Profiler({ maxBufferSize: 1, sampleInterval: NaN }), {
      name: 'TypeError',
      message: failure,
    });
    assert.throws(() => new Profiler({ maxBufferSize: 1, sampleInterval: -1 }), {
      name: 'RangeError',
      message: failure,
    });
    assert.throws(() => new Profiler({ maxBufferSize: Symbol('s'), sampleInterval: 1 }), TypeError);
  });
});

suite('the options that are extensions', () => {
  test('have defaults', () => {
    make({ ...OPTIONS, bufferPolicy: undefined, includeEntries: undefined, maxChunks: undefined });
  });

  test('are read and converted in the order of all members', () => {
    const log = [];
    const member = (name, value) => {
      log.push(`get ${name}`);
      return {
        toString: () => (log.push(`convert ${name}`), value),
        valueOf: () => (log.push(`convert ${name}`), value),
      };
    };
    make({
      get sampleInterval() {
        return member('sampleInterval', 10);
      },
      get bufferPolicy() {
        return member('bufferPolicy', 'stop');
      },
      get includeEntries() {
        // A boolean is converted without a call.
        return member('includeEntries', true);
      },
      get maxChunks() {
        return member('maxChunks', 10);
      },
      get maxBufferSize() {
        return member('maxBufferSize', 10);
      },
    });
    assert.deepEqual(log, [
      'get bufferPolicy',
      'convert bufferPolicy',
      'get includeEntries',
      'get maxBufferSize',
      'convert maxBufferSize',
      'get maxChunks',
      'convert maxChunks',
      'get sampleInterval',
      'convert sampleInterval',
    ]);
  });

  test('must have a maxChunks in range', () => {
    for (const maxChunks of [-1, 2 ** 32, NaN, Infinity, -Infinity, 'many', {}, Symbol('s'), 1n]) {
      assert.throws(() => new Profiler({ ...OPTIONS, maxChunks }), TypeError, String(maxChunks));
    }
    for (const maxChunks of [0, -0.9, 1.9, '7', true, null, [7], 2 ** 32 - 1]) make({ ...OPTIONS, maxChunks });
    const options = {
      ...OPTIONS,
      maxChunks: -1,
      get sampleInterval() {
        return assert.fail('it comes after maxChunks');
      },
    };
    assert.throws(() => new Profiler(options), {
      name: 'TypeError',
      message: /^Failed to construct 'Profiler': .*maxChunks/,
    });
  });

  test('must have a value of their enumeration', () => {
    for (const bufferPolicy of ['', 'Stop', 'stop ', 'ring', null, 0, true, {}, ['stop', 'stop'], Symbol('stop')]) {
      assert.throws(() => new Profiler({ ...OPTIONS, bufferPolicy }), TypeError, String(bufferPolicy));
    }
    make({ ...OPTIONS, bufferPolicy: { toString: () => 'stop' } });
    make({ ...OPTIONS, bufferPolicy: ['stop'] });
    assert.throws(() => new Profiler({ ...OPTIONS, bufferPolicy: 'ring' }), {
      name: 'TypeError',
      message: /^Failed to construct 'Profiler': .*bufferPolicy.*'ring'/,
    });
  });

  test('complain before the members that follow are looked at', () => {
    const log = [];
    const options = {
      bufferPolicy: 'ring',
      get maxBufferSize() {
        log.push('maxBufferSize');
        return 10;
      },
    };
    assert.throws(() => new Profiler(options), TypeError);
    assert.deepEqual(log, []);
  });
});

suite('the options of stop()', () => {
  const fresh = () => make(OPTIONS);

  test('may be absent', async () => {
    for (const options of [undefined, null, {}, () => {}, { format: undefined }, { format: 'object' }]) {
      assert.ok(Array.isArray((await fresh().stop(options)).samples));
    }
  });

  test('have a value of an enumeration, or the profiler goes on', async () => {
    for (const options of [{ format: 'gzip' }, { format: null }, { format: Symbol('s') }]) {
      const profiler = fresh();
      const promise = profiler.stop(options);
      assert.ok(promise instanceof Promise);
      await assert.rejects(promise, TypeError);
      assert.equal(profiler.stopped, false);
      assert.ok(Array.isArray((await profiler.stop()).samples));
    }
  });

  test('are converted before the state is looked at, and after this', async () => {
    const profiler = fresh();
    profiler.cancel();
    await assert.rejects(profiler.stop({ format: 'gzip' }), TypeError);
    await assert.rejects(profiler.stop({ format: 'json-gzip' }), { name: 'InvalidStateError' });
    const options = Object.defineProperty({}, 'format', {
      get: () => assert.fail('options of a foreign this are not read'),
    });
    await assert.rejects(Reflect.apply(Profiler.prototype.stop, {}, [options]), TypeError);
  });

  test('pass on what their getter throws', async () => {
    const error = new Error('mine');
    const options = Object.defineProperty({}, 'format', {
      get() {
        throw error;
      },
    });
    const profiler = fresh();
    await assert.rejects(profiler.stop(options), (thrown) => thrown === error);
    assert.equal(profiler.stopped, false);
  });
});

suite('maxBufferSize is an unsigned long', () => {
  /** How many of about ten samples or more a buffer of this size keeps, at most 3. */
  async function kept(maxBufferSize) {
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize });
    spin(80);
    const { samples } = await profiler.stop();
    return Math.min(samples.length, 3);
  }
  for (const [given, expected] of [
    [NaN, 0],
    [Infinity, 0],
    [-Infinity, 0],
    ['many', 0],
    [null, 0],
    [0.9, 0],
    [-0.9, 0],
    [1.9, 1],
    ['2', 2],
    [true, 1],
    [2 ** 32, 0],
    [2 ** 32 + 1, 1],
    [-(2 ** 32) + 2, 2],
    [2 ** 53, 0],
    [-1, 3],
    [2 ** 32 - 1, 3],
    [Number.MAX_SAFE_INTEGER, 3],
  ]) {
    test(`${typeof given} ${given}`, async () => assert.equal(await kept(given), expected));
  }
});

suite('subclassing', () => {
  test('gives a profiler of the subclass', async () => {
    class Mine extends Profiler {
      get twice() {
        return this.sampleInterval * 2;
      }
    }
    const profiler = make({ sampleInterval: 3, maxBufferSize: 10 }, Mine);
    assert.ok(profiler instanceof Mine && profiler instanceof Profiler);
    assert.equal(profiler.twice, 6);
    assert.equal(Object.getPrototypeOf(profiler), Mine.prototype);
    assert.ok((await profiler.stop()).samples.length > 0);
  });

  test('takes the prototype from new.target', async () => {
    function Other() {}
    const profiler = Reflect.construct(Profiler, [OPTIONS], Other);
    assert.equal(Object.getPrototypeOf(profiler), Other.prototype);
    const { get } = Object.getOwnPropertyDescriptor(Profiler.prototype, 'stopped');
    assert.equal(Reflect.apply(get, profiler, []), false);
    // Node holds it for no event target, which must not hurt when it looks for listeners.
    await new Promise(setImmediate);
    await Reflect.apply(Profiler.prototype.stop, profiler, []);
  });

  test('lets a prototype getter throw, and leaves no session behind', async () => {
    const { stdout, stderr } = await runProgram(`
      const { readdirSync, readFileSync } = require('node:fs');
      const error = new Error('mine');
      const newTarget = new Proxy(function () {}, {
        get(target, key) {
          if (key === 'prototype') throw error;
          return target[key];
        },
      });
      try {
        Reflect.construct(Profiler, [{ sampleInterval: 1, maxBufferSize: 10 }], newTarget);
      } catch (thrown) {
        const sampling = readdirSync('/proc/self/task')
          .map((task) => readFileSync('/proc/self/task/' + task + '/comm', 'utf8').trim())
          .filter((name) => name.startsWith('v8:ProfEvntProc'));
        console.log(thrown === error, sampling.length);
      }
    `);
    assert.equal(stdout, 'true 0\n', stderr);
  });
});
