// The object URLs of a page's threads.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { BlobRegistry } from '../src/host/blob-registry.cjs';

const threadOf = (origin) => ({ document: { origin } });
const blob = (url, media) => ({ url, media, bytes: new Uint8Array() });

test('object URLs are those of the origin whose thread made them, whatever other threads make', () => {
  const blobs = new BlobRegistry();
  const [own, other] = [threadOf('http://a.test'), threadOf('http://b.test')];
  blobs.add(own, blob('blob:http://a.test/1', 'text/a'));
  blobs.add(other, blob('blob:http://a.test/1', 'text/b'));
  blobs.remove(other, 'blob:http://a.test/2');
  assert.equal(blobs.get('blob:http://a.test/1', 'http://a.test').media, 'text/a');
  assert.equal(blobs.get('blob:http://a.test/1', 'http://b.test').media, 'text/b');
  assert.equal(blobs.get('blob:http://a.test/1', 'http://c.test'), undefined);
  blobs.remove(other, 'blob:http://a.test/1');
  assert.equal(blobs.get('blob:http://a.test/1', 'http://a.test').media, 'text/a');
  assert.equal(blobs.size, 1);
});

test('object URLs end with the thread that made them', () => {
  const blobs = new BlobRegistry();
  const threads = Array.from({ length: 3 }, () => threadOf('http://a.test'));
  for (const [at, thread] of threads.entries())
    for (let count = 0; count < 10; count++) blobs.add(thread, blob(`blob:http://a.test/${at}-${count}`, `${at}`));
  blobs.forget(threads[1]);
  blobs.forget(threadOf('http://a.test'));
  assert.equal(blobs.size, 20);
  const kept = [0, 1, 2].map((at) => blobs.get(`blob:http://a.test/${at}-5`, 'http://a.test')?.media);
  assert.deepEqual(kept, ['0', undefined, '2']);
});
