'use strict';

// Connections that are kept for other requests. One on which more has arrived than the response is closed, as in browsers: it would be taken for the
// response to the next request. Node finds out when it reads that, but by then the connection may have been given away.

const native = require('selfprof/internal/native.cjs');

const { receivedBytes } = require('./received-bytes.cjs');

/** @typedef {import('node:net').Socket & { _handle?: { fd?: number } | null }} Socket */

/** How many may be kept. Node limits those to each server, and a page can name any number of servers. */
const MAX_IDLE = 64;

/** Whether something has arrived on one of them, or it has ended. @param {Socket[]} sockets */
function isAnyReadable(sockets) {
  // What has no file is closed.
  return native.findReadable(Int32Array.from(sockets, ({ _handle }) => _handle?.fd ?? -1)) >= 0;
}

/** @param {Socket} socket */
function hasMore(socket) {
  return receivedBytes(socket).hasParts || socket.readableLength > 0 || isAnyReadable([socket]);
}

/** @type {WeakSet<Socket>} */
const known = new WeakSet();

/** Has a connection closed, after a request, that cannot be used for another one. Its errors are those of its requests. @param {Socket} socket */
function closeUnlessEmpty(socket) {
  if (known.has(socket)) return;
  known.add(socket);
  // What comes after a response can be damaged, and Node listens for errors only while a connection is used or kept.
  socket.on('error', () => {});
  // Before the agent's own listener, which gives it to the next request.
  socket.prependListener('free', () => {
    if (hasMore(socket)) socket.destroy();
  });
}

/** Closes those that are idle and cannot be used. @param {import('node:http').Agent} agent */
function closeIdle({ freeSockets }) {
  /** @type {Socket[]} */
  const idle = Object.values(freeSockets).flatMap((sockets) => sockets ?? []);
  const isFull = idle.length > MAX_IDLE;
  if (!isFull && !isAnyReadable(idle)) return;
  for (const socket of idle) {
    if (!isFull && !hasMore(socket)) continue;
    socket.destroy();
    // The agent has it no longer: what is destroyed it would otherwise keep until a later turn of the event loop, and give to a request.
    socket.emit('agentRemove');
  }
}

module.exports = { closeIdle, closeUnlessEmpty };
