// URLs of pages and servers, as text that may be anything.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

const { urlOf } = createRequire(import.meta.url)('../src/fetch/url-text.cjs');

const LONG = 'é.'.repeat(600);

test('URLs are those of the platform', () => {
  const long = 'x'.repeat(100_000);
  for (const text of [
    'http://example.test/a?b#c',
    ' \thttps:\\\\user@example.test/',
    'file:///tmp/x',
    `http://example.test/${long}`,
    `http://example.test?${long}`,
    `data:text/html,${long}`,
    `about:blank#${long}`,
    `blob:http://example.test/${long}`,
    `http://${'x.'.repeat(500)}test/`,
  ])
    assert.equal(urlOf(text)?.href, new URL(text).href);
  const base = new URL('http://example.test/folder/page');
  for (const text of ['', 'x', long, '/x', `/${long}`, '//other.test/', '?x', `#${long}`])
    assert.equal(urlOf(text, base)?.href, new URL(text, base).href);
  for (const text of ['', 'x', 'http://', 'http://a b/', '//x']) assert.equal(urlOf(text), undefined);
});

test('URLs with long hosts are none, however they are written', () => {
  for (const text of [
    `http://${LONG}/`,
    `HTTPS:${LONG}`,
    ` \0http:/\\/${LONG}`,
    `ht\ntp:\t//${LONG}`,
    `ws://a:b@${LONG}:1/`,
    `file://${LONG}/`,
    `blob:http://${LONG}/`,
    `blob: \0http://${LONG}/`,
    `b\tlob:\n http:${LONG}/`,
  ])
    assert.equal(urlOf(text), undefined, text.slice(0, 20));
  const base = new URL('http://example.test/');
  for (const text of [`//${LONG}`, `\\/${LONG}/`, `/\t/${LONG}`]) assert.equal(urlOf(text, base), undefined);
});
