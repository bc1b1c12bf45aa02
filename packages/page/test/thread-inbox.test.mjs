// The messages of a page thread.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { suite, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { MessageChannel } from 'node:worker_threads';

import { setClock } from './clock.mjs';
import { eventually } from './server.mjs';

const require = createRequire(import.meta.url);
const { ThreadInbox } = require('../src/host/thread-inbox.cjs');

/** An inbox of a thread that has sent `sent` messages. */
function inbox(t, { sent = 0 } = {}) {
  const { port1, port2 } = new MessageChannel();
  const handled = [];
  const counter = { sent };
  const made = new ThreadInbox(
    port1,
    () => counter.sent,
    ({ type }) => handled.push(type),
  );
  // Messages do not keep a program alive.
  const timer = setInterval(() => {}, 1_000);
  t.after(() => {
    made.end();
    clearInterval(timer);
  });
  const thread = {
    postMessage(message, transferList) {
      port2.postMessage(message, transferList);
      made.ring();
    },
  };
  return { made, handled, counter, thread };
}

/** Whether something is to run at once, again and again. */
async function isSpinning() {
  for (let turn = 0; turn < 20; turn++) await setImmediate();
  return process.getActiveResourcesInfo().includes('Immediate');
}

suite('messages of a page thread', () => {
  test('are handled in their order, in slices of time', async (t) => {
    const { made, handled, counter, thread } = inbox(t);
    const types = Array.from({ length: 30_000 }, (_, at) => `message ${at}`);
    for (const type of types) thread.postMessage({ type });
    counter.sent = types.length;
    await made.caughtUp();
    assert.deepEqual(handled, types);
    assert.equal(await isSpinning(), false);
  });

  test('of all threads share a slice', async (t) => {
    const all = [];
    const inboxes = Array.from({ length: 20 }, (_, number) => {
      const { port1, port2 } = new MessageChannel();
      const made = new ThreadInbox(
        port1,
        () => 5,
        () => {
          all.push(number);
          time += 8;
        },
      );
      t.after(() => made.end());
      for (let count = 0; count < 5; count++) port2.postMessage({ type: 'x' });
      return made;
    });
    const timer = setInterval(() => {}, 1_000);
    t.after(() => clearInterval(timer));
    let time = 0;
    await setClock(t, () => time);
    for (const made of inboxes) made.ring();
    // Each message takes 8 ms of the 10.
    const lengths = [all.length];
    while (all.length < 100) {
      await setImmediate();
      if (all.length !== lengths.at(-1)) lengths.push(all.length);
    }
    assert.deepEqual(
      lengths.map((length, at) => length - (lengths[at - 1] ?? 0)),
      Array(50).fill(2),
    );
    // One of each thread after the other.
    assert.deepEqual(
      all.slice(2, 22).sort((a, b) => a - b),
      [...inboxes.keys()],
    );
  });

  test('are awaited without keeping a processor busy', async (t) => {
    const { made, handled, thread } = inbox(t, { sent: 2 });
    thread.postMessage({ type: 'first' });
    const caughtUp = made.caughtUp().then(() => handled.push('caught up'));
    await eventually(() => handled.length === 1);
    assert.equal(await isSpinning(), false);
    thread.postMessage({ type: 'second' });
    await caughtUp;
    assert.deepEqual(handled, ['first', 'second', 'caught up']);
  });

  test('do not keep a program alive, however many there are', async () => {
    const program = `
      const { ThreadInbox } = require(${JSON.stringify(require.resolve('../src/host/thread-inbox.cjs'))});
      const { port1, port2 } = new MessageChannel();
      let handled = 0;
      const inbox = new ThreadInbox(port1, () => 3_000, () => {
        handled += 1;
        for (const end = performance.now() + 1; performance.now() < end; );
      });
      for (let count = 0; count < 3_000; count++) port2.postMessage({ type: 'x' });
      inbox.ring();
      process.on('exit', () => console.log(handled > 0 && handled < 3_000));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', program]);
    assert.equal(stdout, 'true\n');
  });

  test('are not kept after the end of the thread', async (t) => {
    const { made, handled, thread } = inbox(t, { sent: 2 });
    const caughtUp = made.caughtUp();
    made.end();
    thread.postMessage({ type: 'late' });
    await caughtUp;
    assert.equal(await isSpinning(), false);
    assert.deepEqual(handled, []);
  });

  test('that are dropped leave no port open', async (t) => {
    const { made, handled, thread } = inbox(t);
    const open = new Set();
    t.after(() => {
      for (const port of open) port.close();
    });
    const newPort = () => {
      const { port1, port2 } = new MessageChannel();
      open.add(port1);
      port1.on('close', () => open.delete(port1));
      return port2;
    };
    const send = () => {
      const [pipe, port] = [newPort(), newPort()];
      thread.postMessage({ type: 'dom', message: { type: 'post', record: { ports: [{ pipe }] } } }, [pipe]);
      thread.postMessage({ type: 'worker', port }, [port]);
    };
    // A slice has a few messages only, so that the others wait in the inbox.
    let time = 0;
    await setClock(t, () => ++time);
    for (let count = 0; count < 100; count++) send();
    while (handled.length === 0) await setImmediate();
    made.end();
    const wereHandled = handled.length;
    assert.ok(wereHandled < 100, `${wereHandled}`);
    send();
    await eventually(() => open.size <= wereHandled);
    assert.equal(open.size, wereHandled);
  });
});
