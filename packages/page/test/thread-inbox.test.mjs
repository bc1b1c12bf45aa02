// The messages of a page thread, and how much of them waits.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { suite, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { MessageChannel } from 'node:worker_threads';

import { eventually } from './server.mjs';

const require = createRequire(import.meta.url);
const { ThreadInbox } = require('../src/host/thread-inbox.cjs');
const { messageSize } = require('../src/host/message-size.cjs');

/** An inbox whose main realm has sent `sent` messages. */
function inbox(t, { sent = 0, isAwaited = () => false } = {}) {
  const [main, dom] = [new MessageChannel(), new MessageChannel()];
  const handled = [];
  const counter = { sent };
  const made = new ThreadInbox({ main: main.port1, dom: dom.port1 }, () => counter.sent, {
    onMain: ({ type }) => handled.push(`main ${type}`),
    onDom: ({ type }) => handled.push(`dom ${type}`),
    onAnswer: ({ id }) => handled.push(`answer ${id}`),
    isAwaited,
  });
  t.after(() => {
    made.end();
    for (const { port1 } of [main, dom]) port1.close();
  });
  return { made, handled, counter, main: main.port2, dom: dom.port2 };
}

/** Whether something is to run at once, again and again. */
async function isSpinning() {
  for (let turn = 0; turn < 20; turn++) await setImmediate();
  return process.getActiveResourcesInfo().includes('Immediate');
}

suite('messages of a page thread', () => {
  test('are handled after what the main realm sent before', async (t) => {
    const { handled, main, dom } = inbox(t, { sent: 2 });
    dom.postMessage({ type: 'third' });
    main.postMessage({ type: 'first' });
    main.postMessage({ type: 'second' });
    await eventually(() => handled.length === 3);
    assert.deepEqual(handled, ['main first', 'main second', 'dom third']);
  });

  test('come before an answer that was given later', async (t) => {
    const { handled, main, dom } = inbox(t);
    dom.postMessage({ type: 'first' });
    main.postMessage({ type: 'done', id: 7 });
    await eventually(() => handled.length === 2);
    assert.deepEqual(handled, ['dom first', 'answer 7']);
  });

  test('keep no processor busy while they wait for others', async (t) => {
    const { handled, main, dom } = inbox(t, { sent: 1 });
    dom.postMessage({ type: 'second' });
    await setImmediate();
    assert.equal(await isSpinning(), false);
    main.postMessage({ type: 'first' });
    await eventually(() => handled.length === 2);
    assert.deepEqual(handled, ['main first', 'dom second']);
  });

  test('are not kept after the end of the thread', async (t) => {
    const { made, handled, dom } = inbox(t);
    made.end();
    dom.postMessage({ type: 'late' });
    await setImmediate();
    assert.equal(await isSpinning(), false);
    assert.deepEqual(handled, []);
  });

  test('wait up to a size; later ones are lost, but for answers that are awaited', async (t) => {
    const { handled, counter, main, dom } = inbox(t, { sent: 1, isAwaited: ({ type }) => type === 'evaluated' });
    const large = 'x'.repeat(20 << 20);
    for (const type of ['a', 'b', 'c', 'd', 'evaluated']) dom.postMessage({ type, large });
    dom.postMessage({ type: 'e' });
    dom.postMessage({ type: 'f', map: new Map([['unknown', 'size']]) });
    main.postMessage({ type: 'first' });
    await eventually(() => handled.length === 6);
    assert.deepEqual(handled, ['main first', 'dom a', 'dom b', 'dom c', 'dom evaluated', 'dom e']);
    counter.sent = 2;
    for (const type of ['g', 'h']) dom.postMessage({ type, large });
    main.postMessage({ type: 'second' });
    await eventually(() => handled.length === 9);
    assert.deepEqual(handled.slice(6), ['main second', 'dom g', 'dom h']);
  });
});

test('the size of a message counts its texts, its names and its buffers, wherever they are', () => {
  const text = 'x'.repeat(1_000);
  const cyclic = { text };
  cyclic.self = cyclic;
  const shared = new Uint8Array(1_000);
  for (const [message, least] of [
    [{ type: text }, 2_000],
    [{ [text]: 1 }, 2_000],
    [{ record: { objects: [{ text }, [text]] } }, 4_000],
    [cyclic, 2_000],
    [{ bytes: new ArrayBuffer(5_000) }, 5_000],
    [{ shared: new SharedArrayBuffer(5_000) }, 5_000],
    [[shared, shared, shared.subarray(1)], 1_000],
  ]) {
    const size = messageSize(message);
    assert.ok(size >= least && size < least + 500, `${size} of ${least}`);
  }
  for (const strange of [10n, new Map(), new Error('x'), new Date(), /x/, Object(1n)])
    assert.equal(messageSize({ strange }), Number.POSITIVE_INFINITY);
});
