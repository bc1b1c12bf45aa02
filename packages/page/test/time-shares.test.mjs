// How pages share the time of the user's thread.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { suite, test } from 'node:test';

const require = createRequire(import.meta.url);
const { TimeShares } = require('../src/fetch/time-shares.cjs');

/** What has each turn, until there have been so many. `times`: how long work takes, in milliseconds. */
function turns(shares, count, times) {
  return Array.from({ length: count }, () => {
    const [owner, work] = shares.next();
    shares.putLast(owner, work);
    shares.charge(owner, times[work]);
    return work;
  });
}

suite('pages share the time of a thread', () => {
  const [one, other] = [{}, {}];

  test('equally, however much work one of them has', () => {
    const shares = new TimeShares();
    for (const work of ['a', 'b', 'c']) shares.add(one, work);
    shares.add(other, 'x');
    assert.deepEqual(turns(shares, 8, { a: 1, b: 1, c: 1, x: 1 }), ['a', 'x', 'b', 'x', 'c', 'x', 'a', 'x']);
    assert.deepEqual(turns(shares, 8, { a: 4, b: 4, c: 4, x: 1 }), ['b', 'x', 'x', 'x', 'x', 'c', 'x', 'x']);
  });

  test('also with one that begins, or that comes back, after long', () => {
    const shares = new TimeShares();
    shares.add(one, 'a');
    turns(shares, 1_000, { a: 10 });
    shares.add(other, 'x');
    const times = { a: 1, x: 1 };
    turns(shares, 20, times);
    assert.equal(turns(shares, 20, times).filter((work) => work === 'a').length, 10);
    shares.remove(other, 'x');
    turns(shares, 1_000, { a: 10 });
    shares.add(other, 'x');
    turns(shares, 20, times);
    assert.equal(turns(shares, 20, times).filter((work) => work === 'a').length, 10);
  });

  test('also with one that had work and did not do it', () => {
    const shares = new TimeShares();
    shares.add(one, 'a');
    shares.add(other, 'x');
    // Such as a connection that has received nothing.
    for (let turn = 0; turn < 1_000; turn++) shares.charge(one, 10);
    const times = { a: 1, x: 1 };
    turns(shares, 20, times);
    assert.equal(turns(shares, 20, times).filter((work) => work === 'a').length, 10);
  });

  test('until they have no more work', () => {
    const shares = new TimeShares();
    assert.equal(shares.isEmpty, true);
    assert.equal(shares.next(), undefined);
    shares.add(one, 'a');
    shares.add(one, 'a');
    assert.equal(shares.has(one, 'a'), true);
    shares.putLast(other, 'a');
    shares.remove(other, 'a');
    shares.remove(one, 'a');
    assert.equal(shares.has(one, 'a'), false);
    assert.equal(shares.isEmpty, true);
    assert.deepEqual(shares.inTurn(), []);
  });
});
