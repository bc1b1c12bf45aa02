// Which values may have maps or sets of numbers, by what V8's serializer has written.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { suite, test } from 'node:test';
import v8 from 'node:v8';

const { mayHaveNumericKeys } = createRequire(import.meta.url)('../src/cloning/numeric-keys.cjs');

function bytesOf(value) {
  const serializer = new v8.Serializer();
  serializer.writeHeader();
  serializer.writeValue(value);
  return serializer.releaseBuffer();
}

/** Memory that reads as the tags of maps. */
const memory = new Uint8Array(1_000).fill(0x3b).buffer;
const cyclic = { list: [1, 2] };
cyclic.self = cyclic;

/** Values without a map or a set in which there is a number, and how many numbers they have. */
const OTHERS = {
  numbers: [[1, -1, 1.5, 2 ** 40, 10n, -(2n ** 200n)], 6],
  objects: [{ a: 1, list: [1, 3], c: undefined, d: null, e: true, f: cyclic }, 5],
  texts: [["x;'y", "ü'n;", "𝒳;'", Object('x;'), /a;b/gu, ''], 0],
  dates: [[new Date(), new Date(Number.NaN)], 0],
  wrappers: [[Object(5), Object(1n), Object(true)], 0],
  memory: [[memory, new Uint8Array(memory, 10, 100), new DataView(memory), new Float64Array(8)], 0],
  // Their indexes count, too.
  'sparse lists': [Object.assign([1], { x: 1, 1000000: ';' }), 4],
};

suite('bytes of a value', () => {
  for (const [name, [value, count]] of Object.entries(OTHERS)) {
    test(`are understood to their end: ${name}`, () => {
      assert.equal(mayHaveNumericKeys(bytesOf(value), 0), false);
      // With a set after it, what came before is counted.
      const withSet = bytesOf([value, new Set(['text'])]);
      assert.equal(mayHaveNumericKeys(withSet, count), false);
      if (count > 0) assert.equal(mayHaveNumericKeys(withSet, count - 1), true);
    });
  }

  for (const [name, value] of Object.entries({
    'a set': new Set([1.5]),
    'a map': new Map([[1n, 'x']]),
    'a map in a map': new Map([['x', new Map([[7, 'x']])]]),
  })) {
    test(`show numbers in ${name}`, () => {
      assert.equal(mayHaveNumericKeys(bytesOf(value), 0), true);
      assert.equal(mayHaveNumericKeys(bytesOf(value), 1), false);
    });
  }

  test('count as having them if they are not understood', () => {
    assert.equal(mayHaveNumericKeys(bytesOf(new Error('x')), 1_000), true);
    const bytes = bytesOf(['text']);
    for (let length = 3; length < bytes.length; length++)
      assert.equal(typeof mayHaveNumericKeys(bytes.subarray(0, length), 0), 'boolean');
    assert.equal(mayHaveNumericKeys(bytes.subarray(0, 8), 0), true);
  });
});
