// Forced samples: each started session of the realm takes one at once, and no other session does.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';

import { CONTEXTS, NEVER, Realm, Session, native, open } from './realm-sessions.mjs';
import { spin } from '../../../selfprof/test/spin.mjs';

/** How many samples each session has after its first one. */
async function counts(sessions) {
  return (await Promise.all(sessions.map((session) => session.stop()))).map(({ samples }) => samples.length - 1);
}

test('a forced sample is taken by each started session of the realm', async () => {
  const [a, b] = open({}, {});
  const sessions = [new Session(a), new Session(a), new Session(b), new Session(undefined)];
  assert.equal(a.forceSample(), 2);
  assert.equal(b.forceSample(), 1);
  assert.equal(a.forceSample(), 2);
  assert.equal(native.forceSample(), 1);
  assert.deepEqual(await counts(sessions), [2, 2, 1, 1]);
  assert.deepEqual([a.forceSample(), b.forceSample(), native.forceSample()], [0, 0, 0]);
  a.close();
  b.close();
});

test('a thousand forced samples are a thousand samples, in order', async () => {
  const [realm] = open({});
  const session = new Session(realm);
  const begin = native.now();
  for (let i = 0; i < 1_000; i++) realm.forceSample();
  const each = (native.now() - begin) / 1_000;
  const { samples } = await session.stop();
  realm.close();
  assert.equal(samples.length, 1_001);
  for (const [index, { timestamp }] of samples.entries())
    assert.ok(index === 0 || timestamp >= samples[index - 1].timestamp);
  assert.ok(each < 1, `a forced sample takes ${each} ms`);
});

test('no forced sample is lost or goes to another session while the clock samples too', async () => {
  const [quiet, busy] = open({}, {});
  const sessions = [
    new Session(quiet),
    new Session(busy, { sampleInterval: 1 }),
    new Session(quiet, { sampleInterval: 1 }),
  ];
  const begin = performance.now();
  const forced = 1_000;
  for (let i = 0; i < forced; i++) {
    quiet.forceSample();
    spin(0.2);
  }
  const elapsed = performance.now() - begin;
  const [ofQuiet, ofBusy, ofBoth] = await counts(sessions);
  quiet.close();
  busy.close();
  assert.equal(ofQuiet, forced);
  assert.ok(ofBusy <= elapsed + 2, `${ofBusy} samples in ${elapsed} ms`);
  assert.ok(ofBoth > forced && ofBoth <= forced + elapsed + 2, `${ofBoth} samples, ${forced} of them forced`);
});

test('paused and stopped sessions take no forced samples', async () => {
  const [realm] = open({});
  const [paused, stopped] = [new Session(realm), new Session(realm)];
  const ofStopped = counts([stopped]);
  realm.pause(true);
  assert.equal(realm.forceSample(), 0);
  const later = new Session(realm);
  assert.equal(realm.forceSample(), 1);
  realm.pause(false);
  assert.equal(realm.forceSample(), 2);
  assert.deepEqual(await counts([paused, later]), [1, 2]);
  assert.deepEqual(await ofStopped, [0]);
  realm.close();
});

test('a full buffer is reported without delay', async () => {
  const realm = new Realm(CONTEXTS[0]());
  const full = [];
  const listener = { onFull: (id) => full.push(id), onChunk() {} };
  const { id } = realm.open({ sampleInterval: NEVER, maxBufferSize: 3 }, listener);
  // One sample was taken at the start.
  assert.deepEqual([realm.forceSample(), realm.forceSample()], [1, 1]);
  for (let i = 0; i < 50; i++) await turn();
  assert.deepEqual(full, []);
  realm.forceSample();
  while (full.length === 0) await turn();
  assert.deepEqual(full, [id]);
  assert.equal(realm.forceSample(), 0);
  const { trace } = await native.close(id, 'object');
  realm.close();
  assert.equal(trace.timestamps.length, 3);
});

test('a forced sample shows the stack, with the marker of a script', async () => {
  const realms = open({}, { crossOriginIsolated: false });
  for (const realm of realms) realm.run('function f() { g(); } function g() { sample(); }', 'https://a.example/');
  const sessions = realms.map((realm) => new Session(realm));
  realms[0].global.f();
  realms[1].global.f();
  realms[0].forceSample();
  const samples = await Promise.all(sessions.map((session) => session.samples()));
  for (const realm of realms) realm.close();
  // To the realm, a thread that runs the code of other realms looks idle. Realms that are not isolated get no markers.
  assert.deepEqual(samples, [
    ['script f g', '-', '-'],
    ['-', '- f g'],
  ]);
});
