import assert from 'node:assert/strict';

/** Asserts that a list has the same objects. Entries have no own properties, so deepEqual would find them all equal. */
export function assertSame(actual, expected) {
  assert.equal(actual.length, expected.length);
  for (const [index, object] of actual.entries()) assert.equal(object, expected[index], `at ${index}`);
}
