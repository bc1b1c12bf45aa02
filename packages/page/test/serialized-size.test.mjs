// What V8's serializer has written, by its size.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { suite, test } from 'node:test';
import v8, { setFlagsFromString } from 'node:v8';
import vm from 'node:vm';

const require = createRequire(import.meta.url);
const { ShapeTree } = require('../src/cloning/object-shapes.cjs');
const { serializedSize } = require('../src/cloning/serialized-size.cjs');

function bytesOf(value) {
  const serializer = new v8.Serializer();
  serializer.writeHeader();
  serializer.writeValue(value);
  return serializer.releaseBuffer();
}

/** Memory that reads as the tags of maps. */
const memory = new Uint8Array(1_000).fill(0x3b).buffer;
const resizable = () => new ArrayBuffer(8, { maxByteLength: 16 });
const cyclic = { list: [1, 2] };
cyclic.self = cyclic;

/** A text that is copied at once, of tags. */
const LONG = ';'.repeat(20_000);

/** An error with errors, values of all kinds and their tags in it. */
const error = new TypeError("ü'n;", {
  cause: [new Error('', { cause: /ü;'€/gi }), new DataView(memory), 1, { s: 'm' }, null],
});
error.stack = ";'";

/** Values of all kinds. */
const VALUES = {
  numbers: [1, -1, 1.5, 2 ** 40, 10n, -(2n ** 200n)],
  objects: { a: 1, list: [1, 3], c: undefined, d: null, e: true, f: cyclic, 7: 1, [2 ** 32 - 2]: 2 },
  texts: ["x;'y", "ü'n;", "𝒳;'", Object('x;'), Object('ü€'), ''],
  dates: [new Date(), new Date(Number.NaN)],
  wrappers: [Object(5), Object(1n), Object(true)],
  collections: [new Set([1.5, 'a']), new Map([[1n, new Map([['x', 7]])]])],
  memory: [memory, new Uint8Array(memory, 10, 100), new DataView(memory), new Uint8Array(8)],
  'resizable memory': [resizable(), new Uint8Array(resizable())],
  errors: [error, new Error('x', { cause: new Error('y', { cause: new Uint8Array(8) }) }), 1, RangeError('z')],
  'regular expressions': [/x/, /;'/u, /ü€/gv, /ü€ü/, /(?:)/],
  lists: [[], Object.assign([1], { length: 3 }), Object.assign([1], { x: 1, 1000: ';' }), Object.assign([], { x: 1 })],
};

/** One of many values, by its number, that takes more than its bytes. */
const DEAR = {
  'a boolean object': () => new Boolean(true),
  'an empty map': () => new Map(),
  'a map': (n) => new Map([[n, n]]),
  'an object with an index': () => ({ 0: true }),
  'a key of its own': (n) => ({ [`k${n}`]: 1 }),
  'keys in an order of its own': (n) => {
    const keys = [...'abcdefgh'];
    const object = {};
    for (let rest = n; keys.length > 0; rest = Math.floor(rest / 8)) object[keys.splice(rest % keys.length, 1)[0]] = 1;
    return object;
  },
  'a sparse list': () => Object.assign([], { length: 16 }),
  'a long sparse list': () => Object.assign([], { length: 2 ** 32 - 1 }),
  'an object with a far index': () => {
    class Far {}
    return Object.assign(new Far(), { 1020: true });
  },
  'a regular expression': (n) => new RegExp(`a${n}`),
  'a date': () => new Date(0),
  'a short text': () => 'ab',
  'a number': (n) => n + 0.5,
  'an error': () => new Error('x'),
};

setFlagsFromString('--expose-gc');
const gc = vm.runInNewContext('gc');

/** The bytes of a list of values, of which nothing else is left. */
function bytesOfList(make, length) {
  return bytesOf(Array.from({ length }, (_, n) => make(n)));
}

suite('bytes of a value', () => {
  for (const [name, value] of Object.entries(VALUES)) {
    test(`are understood to their end: ${name}`, () => {
      // What comes after it is read, too.
      const { isComplete, heap, longTextBytes } = serializedSize(bytesOf([value, new Set(['text']), LONG]));
      assert.equal(isComplete, true);
      assert.equal(longTextBytes, LONG.length);
      assert.ok(heap > LONG.length && heap < LONG.length + 20_000, `${heap}`);
    });
  }

  for (const [name, make] of Object.entries(DEAR)) {
    test(`fill no more of a heap than estimated: many times ${name}`, () => {
      const length = name.includes('far') ? 2_000 : 20_000;
      const bytes = bytesOfList(make, length);
      gc();
      gc();
      const before = v8.getHeapStatistics().used_heap_size;
      const deserializer = new v8.Deserializer(bytes);
      deserializer.readHeader();
      const value = deserializer.readValue();
      gc();
      const filled = v8.getHeapStatistics().used_heap_size - before;
      const { heap } = serializedSize(bytes);
      assert.equal(value.length, length);
      assert.ok(filled < heap * 1.1 + 50_000, `${filled} of ${heap}`);
    });
  }

  test('have keys that are long', () => {
    const { longKeys, longTextBytes } = serializedSize(
      bytesOf([{ [LONG]: LONG, a: LONG }, new Map([[`${LONG}x`, 1]])]),
    );
    assert.deepEqual({ longKeys, longTextBytes }, { longKeys: 1, longTextBytes: 4 * LONG.length + 1 });
  });

  test('take less if they are as those before', () => {
    const alike = bytesOfList((n) => ({ id: n, name: 'a', other: true }), 1_000);
    const others = bytesOfList((n) => ({ [`a${n}`]: n, [`b${n}`]: 'a', [`c${n}`]: true }), 1_000);
    assert.ok(serializedSize(alike).heap < serializedSize(others).heap / 2);
    const withLists = bytesOfList((n) => (n % 2 ? [n, 'a', true] : { id: n, name: 'a', other: true }), 1_000);
    assert.ok(serializedSize(withLists).heap < serializedSize(others).heap / 2);
  });

  test('cost as much as the shapes of its objects, but those that are known', () => {
    const costs = (...values) => {
      const shapes = new ShapeTree();
      return values.map((value) => serializedSize(bytesOf(value), shapes).shapeCost);
    };
    assert.deepEqual(costs({ a: 1, b: 2 }, { a: 3 }, [{ a: 1, b: 'x', c: 3 }], { b: 1, a: 2 }), [201, 0, 102, 201]);
    // In turns, nested, and in other orders.
    assert.deepEqual(costs([{ a: 1 }, { b: 1 }, { a: 1 }, { b: { a: { b: 1 } } }], { b: 1 }), [200, 0]);
    assert.deepEqual(
      costs(Object.assign([1, 2], { a: 1 }), { a: 1 }, Object.assign([], { a: 1, 7: 1 })),
      [100, 100, 0],
    );
    assert.deepEqual(costs({ 1: 1, 2: 2 }, new Map([['a', 1]]), [1, 2], 'a'), [0, 0, 0, 0]);
    const large = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`k${n}`, n]));
    assert.deepEqual(costs(large, { ...large, more: 1 }), [1_020 * 100 + (1_019 * 1_020) / 2, 0]);
  });

  test('cost no less for shapes that were forgotten', () => {
    const shapes = new ShapeTree();
    const cost = (value) => serializedSize(bytesOf(value), shapes).shapeCost;
    const many = Array.from({ length: 110_000 }, (_, n) => ({ [`k${n}`]: n }));
    assert.deepEqual([cost(many), cost(many), cost({ k0: 1 })], [11_000_000, 11_000_000, 100]);
    shapes.forget();
    assert.equal(cost({ k0: 1 }), 100);
    // What costs too much is counted no further.
    const more = Array.from({ length: 400_000 }, (_, n) => ({ [`k${n}`]: n }));
    assert.equal(cost(more), 30_000_100);
  });

  test('are incomplete if they are not understood', () => {
    for (const tag of 'wm#')
      assert.equal(serializedSize(Buffer.from([0xff, 15, tag.charCodeAt(0), 0])).isComplete, false);
    const bytes = bytesOf(['text']);
    for (let length = 3; length < bytes.length; length++) serializedSize(bytes.subarray(0, length));
    assert.equal(serializedSize(bytes.subarray(0, 8)).isComplete, false);
  });
});
