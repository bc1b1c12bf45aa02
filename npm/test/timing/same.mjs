import assert from 'node:assert/strict';

/** Asserts that a list has these very objects. Entries have no properties of their own, so that deepEqual finds all alike. */
export function assertSame(actual, expected) {
  assert.equal(actual.length, expected.length);
  actual.forEach((object, index) => assert.equal(object, expected[index], `at ${index}`));
}
