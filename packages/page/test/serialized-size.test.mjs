// What V8's serializer has written, by its size.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { suite, test } from 'node:test';
import v8 from 'node:v8';

const { serializedSize } = createRequire(import.meta.url)('../src/cloning/serialized-size.cjs');

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

/** A text of which V8 hashes no more than the length. */
const LONG = ';'.repeat(20_000);

/** An error with errors, values of all kinds and their tags in it. */
const error = new TypeError("ü'n;", {
  cause: [new Error('', { cause: /ü;'€/gi }), new DataView(memory), 1, { s: 'm' }, null],
});
error.stack = ";'";

/** Values, and how many numbers they have. */
const VALUES = {
  numbers: [[1, -1, 1.5, 2 ** 40, 10n, -(2n ** 200n)], 6],
  objects: [{ a: 1, list: [1, 3], c: undefined, d: null, e: true, f: cyclic }, 5],
  texts: [["x;'y", "ü'n;", "𝒳;'", Object('x;'), Object('ü€'), ''], 0],
  dates: [[new Date(), new Date(Number.NaN)], 0],
  wrappers: [[Object(5), Object(1n), Object(true)], 0],
  memory: [[memory, new Uint8Array(memory, 10, 100), new DataView(memory), new Uint8Array(8)], 0],
  'resizable memory': [
    [new ArrayBuffer(8, { maxByteLength: 16 }), new Uint8Array(new ArrayBuffer(8, { maxByteLength: 16 }))],
    0,
  ],
  errors: [[error, new Error('x', { cause: new Error('y', { cause: new Uint8Array(8) }) }), 1, RangeError('z')], 2],
  'regular expressions': [[/x/, /;'/u, /ü€/gv, /ü€ü/, /(?:)/], 0],
  // Their indexes count, too.
  'sparse lists': [Object.assign([1], { x: 1, 1000000: ';' }), 4],
};

suite('bytes of a value', () => {
  for (const [name, [value, numbers]] of Object.entries(VALUES)) {
    test(`are understood to their end: ${name}`, () => {
      // What comes after it is read, too.
      const { isComplete, ...size } = serializedSize(bytesOf([value, new Set(['text']), LONG]));
      assert.equal(isComplete, true);
      const { memory, heap, ...others } = size;
      assert.deepEqual(others, { numbers, collections: 1, longTexts: 1, longTextBytes: LONG.length });
      assert.equal(memory, { memory: 1_008, 'resizable memory': 16, errors: 1_008 }[name] ?? 0);
      assert.ok(name === 'sparse lists' ? heap > 8 * 1_000_000 : heap < 50_000, `${heap}`);
    });
  }

  test('have maps and sets, with the numbers in them', () => {
    const value = [new Set([1.5]), new Map([[1n, new Map([['x', 7]])]])];
    const { numbers, collections } = serializedSize(bytesOf(value));
    assert.deepEqual({ numbers, collections }, { numbers: 3, collections: 3 });
  });

  test('are incomplete if they are not understood', () => {
    for (const tag of 'wm#')
      assert.equal(serializedSize(Buffer.from([0xff, 15, tag.charCodeAt(0), 0])).isComplete, false);
    const bytes = bytesOf(['text']);
    for (let length = 3; length < bytes.length; length++) serializedSize(bytes.subarray(0, length));
    assert.equal(serializedSize(bytes.subarray(0, 8)).isComplete, false);
  });
});
