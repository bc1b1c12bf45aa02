// Structured fields, the policies that headers set, and origins.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { suite, test } from 'node:test';

const require = createRequire(import.meta.url);
const { Token, parseDictionary, parseItem } = require('../src/fetch/structured-fields.cjs');
const { readEmbedderPolicy, readOpenerPolicy, readProfilingMode } = require('../src/fetch/policy-headers.cjs');
const {
  isSameOrigin,
  isTrustworthy,
  folderOrigin,
  newOpaqueOrigin,
  originOfUrl,
  serialize,
} = require('../src/fetch/origin.cjs');

suite('a dictionary', () => {
  const token = (text) => new Token(text);

  test('has members with values, lists and parameters', () => {
    const check = (text, expected) => assert.deepEqual(Object.fromEntries(parseDictionary(text)), expected, text);
    check('', {});
    check('a', { a: true });
    check('a, b=?0, c=?1', { a: true, b: false, c: true });
    check('  a=1,\t b=-2.5  ', { a: '1', b: '-2.5' });
    check('a="x \\"y\\" \\\\"', { a: 'x "y" \\' });
    check('a=token/x:y, b=*', { a: token('token/x:y'), b: token('*') });
    check('a=:aGk=:, b=@1659578233, c=%"f%c3%bc"', { a: ':aGk=:', b: '@1659578233', c: '%"f%c3%bc"' });
    check('a=1, b=2, a=3', { a: '3', b: '2' });
    check('a;x=1;y, b=?0;z="s"', { a: true, b: false });
    check('*a-_.*=?1', { '*a-_.*': true });
    check('a=(1 token;q=0.5 "s)");report-to=e, b;x, c=()', { a: ['1', token('token'), 's)'], b: true, c: [] });
  });

  test('is ignored as a whole when it is malformed', () => {
    for (const text of [
      'A',
      'a,',
      ',a',
      'a,,b',
      'a b',
      'a=',
      'a= 1',
      'a =1',
      'a=1 b',
      'a="x',
      'a="x\ny"',
      'a="\\x"',
      'a=?2',
      'a=(1',
      'a=(1,2)',
      'a=(1"x")',
      'a=1.',
      'a=1.2345',
      'a=1234567890123456',
      'a=--1',
      'a=:x',
      'a;',
      'a;B',
      'ä',
      'a=ä',
      'a=%"%FF"',
      'a=@1.5',
      '\ta',
    ]) {
      assert.equal(parseDictionary(text), undefined, JSON.stringify(text));
    }
    assert.equal(parseDictionary(null), undefined);
  });

  test('is parsed in linear time', () => {
    assert.equal(parseDictionary(`a="${'\\\\'.repeat(200_000)}`), undefined);
    assert.equal(parseDictionary(`${'a,'.repeat(200_000)}`), undefined);
  });
});

suite('an item', () => {
  test('is one value with parameters', () => {
    assert.deepEqual(parseItem('same-origin; report-to="x"'), new Token('same-origin'));
    for (const text of ['', 'a, b', 'a b', '"a', null]) assert.equal(parseItem(text), undefined, String(text));
  });
});

suite('Document-Policy', () => {
  const check = (expected, ...values) =>
    assert.equal(readProfilingMode(values.map((value) => ['document-policy', value])), expected, values.join(' | '));

  test('lets a document profile', () => {
    check('eager', 'js-profiling');
    check('eager', 'js-profiling=?1');
    check('eager', 'oversized-images=2.0, js-profiling');
    check('eager', 'js-profiling;report-to=group');
    check('eager', 'unsized-media=?0', 'js-profiling');
    check('eager', 'js-profiling-mode=eager');
    check('lazy', 'js-profiling-mode=lazy');
  });

  test('prefers js-profiling-mode to js-profiling', () => {
    check('lazy', 'js-profiling, js-profiling-mode=lazy');
    check('lazy', 'js-profiling-mode=lazy, js-profiling=?0');
    check('eager', 'js-profiling-mode=eager', 'js-profiling=?0');
    check('eager', 'js-profiling, js-profiling-mode=other');
  });

  test('forbids profiling by default and when it is malformed', () => {
    check(undefined);
    check(undefined, '');
    check(undefined, 'js-profiling=?0');
    check(undefined, 'no-js-profiling');
    check(undefined, 'JS-Profiling');
    check(undefined, 'js-profiling=1');
    check(undefined, 'js-profiling="true"');
    check(undefined, 'js-profiling-mode');
    check(undefined, 'js-profiling-mode="eager"');
    check(undefined, 'js-profiling-mode=Eager');
    check(undefined, 'js-profiling,');
    check(undefined, 'js-profiling', 'x=(');
    check(undefined, 'js-profiling, js-profiling=?0');
  });
});

suite('cross-origin isolation', () => {
  test('is read from its two headers', () => {
    const coop = (value) => readOpenerPolicy([['cross-origin-opener-policy', value]]);
    assert.equal(coop('same-origin'), 'same-origin');
    assert.equal(coop('same-origin; report-to="x"'), 'same-origin');
    assert.equal(coop('same-origin-allow-popups'), 'same-origin-allow-popups');
    for (const value of ['"same-origin"', 'Same-Origin', 'same-origin, same-origin', 'other', ''])
      assert.equal(coop(value), 'unsafe-none', value);
    const coep = (value) => readEmbedderPolicy([['cross-origin-embedder-policy', value]]);
    assert.equal(coep('require-corp'), 'require-corp');
    assert.equal(coep('credentialless;x'), 'credentialless');
    for (const value of ['unsafe-none', 'require-corp, require-corp', '?1'])
      assert.equal(coep(value), 'unsafe-none', value);
    assert.equal(readEmbedderPolicy([]), 'unsafe-none');
  });
});

suite('origins', () => {
  test('are the same or not', () => {
    assert.equal(originOfUrl(new URL('https://a.test:443/x')), 'https://a.test');
    assert.equal(originOfUrl(new URL('blob:https://a.test/uuid')), 'https://a.test');
    for (const url of ['data:,x', 'file:///a', 'about:blank', 'blob:null/uuid'])
      assert.equal(originOfUrl(new URL(url)), undefined, url);
    assert.equal(isSameOrigin(new URL('http://a.test:80/'), 'http://a.test'), true);
    assert.equal(isSameOrigin(new URL('http://a.test:81/'), 'http://a.test'), false);
    assert.equal(isSameOrigin(new URL('data:,x'), newOpaqueOrigin()), false);
    assert.notEqual(newOpaqueOrigin(), newOpaqueOrigin());
  });

  test('of files are their folders', () => {
    const origin = folderOrigin('/srv/site');
    assert.equal(serialize(origin), 'null');
    assert.equal(isSameOrigin(new URL('file:///srv/site/a/b.js'), origin), true);
    for (const url of [
      'file:///srv/site2/b.js',
      'file:///srv/b.js',
      'file:///srv/site/../b.js',
      'file:///srv/site/%2e%2e/b.js',
      'http://a.test/',
      'file://host/srv/site/b.js',
    ]) {
      assert.equal(isSameOrigin(new URL(url), origin), false, url);
    }
  });

  test('are trustworthy by scheme or because they are local', () => {
    for (const origin of [
      'https://a.test',
      'http://localhost:1',
      'http://x.localhost',
      'http://127.1.2.3',
      'http://[::1]',
      folderOrigin('/a'),
    ]) {
      assert.equal(isTrustworthy(origin), true, origin);
    }
    for (const origin of ['http://a.test', 'http://localhost.test', 'http://128.0.0.1', newOpaqueOrigin()])
      assert.equal(isTrustworthy(origin), false, origin);
  });
});
