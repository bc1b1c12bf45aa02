// What the page shows, as its URL and as parameters of the API.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { condition, filterOf, linkOf, periodOf, readQuery, releaseIn } from '../src/query.ts';
import { newestFirst } from '../src/sides.ts';

describe('a query', () => {
  it('is the same after a round trip through the URL', () => {
    const query = {
      ...readQuery(''),
      view: 'compare',
      app: 'shop',
      from: '2026-11-20',
      to: '2026-11-23',
      values: { release: '', page: "/a?b=c&d#e'f" },
      where: "marker != 'gc' and page like '/%'",
      base: "release = '1.3'",
      search: 'a b+c',
      selected: 'f\nhttps://a.test/app.js:1:2',
    };
    assert.deepEqual(readQuery(linkOf(query)), query);
    assert.equal(linkOf(readQuery('')), '?');
    assert.equal(readQuery('?view=nothing&from=').view, 'functions');
  });

  it('becomes one condition, in which texts stay texts', () => {
    const query = { ...readQuery(''), values: { page: "it's" } };
    assert.equal(filterOf(query), "page = 'it''s'");
    assert.equal(filterOf({ ...query, where: "a = 'b' or c = 'd'" }), "page = 'it''s' and (a = 'b' or c = 'd')");
    assert.equal(filterOf({ ...query, values: { release: '1' } }), "release = '1'");
    // A comparison has its own releases.
    assert.equal(filterOf({ ...query, values: { release: '1' }, view: 'compare' }), '');
  });

  it('includes the last day', () => {
    const days = { ...readQuery(''), app: 'shop', from: '2026-11-30', to: '2026-11-30' };
    assert.deepEqual(periodOf(days), { app: 'shop', from: '2026-11-30', to: '2026-12-01' });
    assert.deepEqual(periodOf({ ...days, to: '' }), { app: 'shop', from: '2026-11-30' });
    assert.equal(periodOf({ ...days, to: '2026-99-99' }).to, '2026-99-99');
  });
});

describe('releases', () => {
  it('are found in conditions', () => {
    for (const release of ['1.4', '', "it's"]) assert.equal(releaseIn(condition('release', release)), release);
    for (const text of ["page = '/'", "release = '1' or release = '2'", 'release'])
      assert.equal(releaseIn(text), undefined);
  });

  it('are sorted by their first profiles, and then by their numbers', () => {
    const seen = (value, firstSeen) => ({ value, firstSeen, lastSeen: 9, profiles: 1 });
    assert.deepEqual(newestFirst([seen('1.9', 1), seen('1.10', 1), seen('0.1', 2)]), ['0.1', '1.10', '1.9']);
  });
});
