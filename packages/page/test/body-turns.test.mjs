// What takes long for large bodies and for many requests is divided, so that a thread does other things meanwhile.

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { suite, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { setClock } from './clock.mjs';
import { jsdom } from './server.mjs';

const require = createRequire(import.meta.url);
const { Cookies } = require('../src/fetch/cookies.cjs');
const { JoinedBytes, copyInTurns } = require('../src/fetch/joined-bytes.cjs');
const { useJsdom } = require('../src/fetch/jsdom-packages.cjs');
const { Network } = require('../src/fetch/network.cjs');
const slices = require('../src/fetch/time-slices.cjs');
const { Turns } = require('../src/fetch/turns.cjs');
const { AgentThread } = require('../src/host/agent-thread.cjs');
const { movedBody } = require('../src/host/moved-body.cjs');

useJsdom({ folder: jsdom });

/** Does the work, and counts the turns of the event loop meanwhile. */
async function countTurns(work) {
  let isDone = false;
  let turns = 0;
  const result = work().finally(() => {
    isDone = true;
  });
  for (; !isDone; turns++) await nextTurn();
  return [await result, turns];
}

suite('the bytes of a body', () => {
  for (const length of [0, 1, 1_000, 5 << 20, (8 << 20) - 1, 8 << 20, (64 << 20) + 7])
    test(`are copied in turns: ${length}`, async () => {
      const piece = new Uint8Array(999_983).map((_byte, at) => at);
      const joined = new JoinedBytes();
      for (let at = 0; at < length; at += piece.length)
        joined.add(piece.subarray(0, Math.min(piece.length, length - at)));
      const [bytes, turns] = await countTurns(() => joined.take());
      assert.equal(bytes.length, length);
      assert.equal(bytes.buffer.byteLength, length);
      for (let at = 0; at < length; at += piece.length)
        assert.ok(
          Buffer.from(bytes.buffer, at, Math.min(piece.length, length - at)).equals(piece.subarray(0, length - at)),
        );
      assert.ok(turns >= Math.floor(length / (8 << 20)), `${turns} turns`);
      assert.equal((await joined.take()).length, 0);
    });

  test('of a blob are copied in turns, too', async () => {
    const blob = new Uint8Array(new SharedArrayBuffer(20 << 20)).fill(7);
    const [bytes, turns] = await countTurns(() => copyInTurns([blob], blob.length));
    assert.ok(turns >= 2);
    assert.ok(bytes.buffer instanceof ArrayBuffer);
    assert.equal(Buffer.compare(bytes, Buffer.alloc(20 << 20, 7)), 0);
  });

  test('are moved to another thread without a copy, if they have memory of their own', () => {
    const own = Buffer.from(new ArrayBuffer(10));
    assert.equal(movedBody(own).buffer, own.buffer);
    const pooled = Buffer.from('text');
    assert.notEqual(movedBody(pooled).buffer, pooled.buffer);
    assert.deepEqual(movedBody(pooled), new Uint8Array(pooled));
    assert.notEqual(movedBody(new Uint8Array(new SharedArrayBuffer(1))).buffer.constructor, SharedArrayBuffer);
  });
});

suite('requests that wait for their turn', () => {
  test('do nothing when nobody waits for them any more, and let the thread do other things in between', async (t) => {
    let time = 0;
    await setClock(t, () => ++time);
    const turns = new Turns(1);
    const first = Promise.withResolvers();
    const running = turns.run(() => first.promise);
    const controller = new AbortController();
    let runs = 0;
    const given = Array.from({ length: 100 }, () => turns.run(async () => runs++, controller.signal));
    const last = turns.run(async () => 'last');
    controller.abort();
    const [, count] = await countTurns(async () => {
      first.resolve();
      await running;
      assert.ok((await Promise.allSettled(given)).every(({ reason }) => reason?.name === 'AbortError'));
      assert.equal(await last, 'last');
    });
    assert.equal(runs, 0);
    assert.ok(count > 10, `${count} turns`);
  });

  test('are forgotten when their frame goes elsewhere, and are not ended again', async () => {
    const thread = new AgentThread(1, new EventEmitter(), {}, {});
    const given = [];
    const works = Array.from({ length: 100 }, (_, id) =>
      thread.withFrameRequest({ id, frame: 1, window: 0 }, async (signal) => {
        given.push(signal);
        await Promise.withResolvers().promise;
      }),
    );
    assert.equal(works.length, 100);
    assert.equal(thread.frameRequests.size, 1);
    assert.deepEqual(
      given.map(({ aborted }) => aborted),
      [...Array(99).fill(true), false],
    );
    thread.endFrameRequests({ window: 0 });
    assert.equal(thread.frameRequests.size, 0);
    assert.ok(given[99].aborted);
  });
});

test('cookies of requests and responses that come together are handled in slices of time', async () => {
  const cookies = new Cookies();
  const hosts = Array.from({ length: 60 }, (_, at) => `host${at}.test`);
  const fill = (value) => {
    for (const host of hosts)
      for (let at = 0; at < 50; at++) cookies.apply({ url: `http://${host}/`, cookie: `${at}=${value}`, isHttp: true });
  };
  fill('x');
  const headers = Array.from({ length: 50 }, (_, at) => ['set-cookie', `new${at}=x`]);
  const transport = {
    send: async () => ({ status: 200, statusText: '', headers, body: new Uint8Array(), timing: {} }),
  };
  const network = new Network(transport, cookies, 'agent');
  const client = { isUser: true, origin: 'http://host0.test' };
  const [, turns] = await countTurns(() =>
    Promise.all(
      Array.from({ length: 200 }, (_, at) => {
        const url = `http://${hosts[at % hosts.length]}/`;
        return network.fetch({ url, mode: 'navigate', isTopLevel: true, credentials: 'include' }, client);
      }),
    ),
  );
  assert.equal(cookies.list('http://host7.test/').length, 50);
  assert.ok(turns > 20, `${turns} turns`);
});

test('slices of time are shared by pages, however much one of them has to do', async (t) => {
  let time = 0;
  await setClock(t, () => ++time);
  // Unless the test waits, it would end.
  const timer = setInterval(() => {}, 1_000);
  t.after(() => clearInterval(timer));
  const order = [];
  const work = (owner, jobs, pieces) => {
    const page = {};
    for (let count = 0; count < jobs; count++) {
      let left = pieces;
      slices.add(() => {
        order.push(owner);
        left -= 1;
        return left > 0;
      }, page);
    }
  };
  work('much', 300, 10);
  work('little', 1, 20);
  work('late', 2, 10);
  while (order.length < 3_040) await nextTurn();
  assert.ok(order.lastIndexOf('little') < 100, `${order.lastIndexOf('little')}`);
  assert.ok(order.lastIndexOf('late') < 100, `${order.lastIndexOf('late')}`);
});
