'use strict';

// What this thread tells whoever opened the page. The port was moved into this realm: messages are made and read here.

const { newCounter, sizeOf } = require('./channels.cjs');

const { Atomics, Set } = globalThis;
const { add, load, sub } = Atomics;

/** How much may wait to be heard, in units of a kilobyte, or of a message that is smaller. */
const LIMIT = 64 << 10;
/** What a page may say as often as it likes: beyond the limit, it is not heard. */
const LIMITED = new Set(['console', 'exception', 'navigate', 'post', 'problem']);

let port;
const unheard = newCounter();

/** Sends plain data, with the pipes that are in its record. */
exports.tell = (message) => {
  const weight = message.record === undefined ? 1 : 1 + (sizeOf(message.record) >> 10);
  if (LIMITED.has(message.type) && load(unheard, 0) + weight > LIMIT) return;
  add(unheard, 0, weight);
  port.postMessage({ ...message, weight }, pipesIn(message.record));
};

/** The pipes of ports that a record transfers: they have to be named to travel. */
function pipesIn(record) {
  const pipes = [];
  for (const node of record?.nodes ?? []) if (node.type === 'Transferred') pipes.push(node.value.pipe);
  return pipes;
}
exports.pipesIn = pipesIn;

exports.connect = (given, onMessage) => {
  port = given;
  port.postMessage({ type: 'unheard', unheard });
  let untaken;
  port.onmessage = ({ data }) => {
    if (data.type === 'untaken') untaken = data.untaken;
    else if (untaken !== undefined && data.weight !== undefined) sub(untaken, 0, data.weight);
    onMessage(data);
  };
  port.start?.();
};
