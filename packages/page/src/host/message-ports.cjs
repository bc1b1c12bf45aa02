'use strict';

// Ports in messages of a page thread. Each is open until it is passed on or closed, and both ends of a channel may have been sent.

/** @typedef {import('node:worker_threads').MessagePort} MessagePort */
/** @typedef {import('../any-realm/thread-messages.js').FromMainRealm} FromMainRealm */

/** The ports in a cloned value, which have to be listed for the message that carries them. @param {unknown} record see main-realm/dom-messages.cjs @returns {MessagePort[]} */
function transferredPorts(record) {
  const { ports = [] } = /** @type {Partial<import('../any-realm/realm-contracts.js').CloneRecord>} */ (Object(record));
  return ports.map(({ pipe }) => pipe);
}

/** @param {unknown} record a cloned value that nobody gets */
function closeTransferredPorts(record) {
  for (const port of transferredPorts(record)) port.close();
}

/** @param {FromMainRealm} message one that nobody gets */
function closePorts(message) {
  if (message.type === 'dom') closeTransferredPorts(message.message.record);
  else if ('port' in message) message.port.close();
}

module.exports = { closePorts, closeTransferredPorts, transferredPorts };
