'use strict';

/** @typedef {import('../any-realm/thread-messages.js').FromDomRealm} FromDomRealm */

/** Members that may be objects. Whoever reads them checks them. */
const STRUCTURED = new Set(['record', 'to']);

/** Messages whose members are read elsewhere: `evaluated` by the promise that awaits it. */
const READ_ELSEWHERE = new Set(['evaluated', 'unread']);

/**
 * Reads a message of a DOM realm, which a page can take over. Converting an object of a page to text or to a number may throw, which would
 * end the program of the page's user, so other members than the listed ones are primitives or missing.
 *
 * @param {unknown} received
 * @returns {FromDomRealm | undefined}
 */
function readDomMessage(received) {
  if (typeof received !== 'object' || received === null) return undefined;
  if (!('type' in received) || typeof received.type !== 'string') return undefined;
  const message = /** @type {FromDomRealm} */ (received);
  if (READ_ELSEWHERE.has(message.type)) return message;
  /** @type {{ type: string, [member: string]: unknown }} */
  const read = { type: message.type };
  for (const [name, value] of Object.entries(message)) {
    if (value === null || typeof value !== 'object' || STRUCTURED.has(name)) read[name] = value;
  }
  return read;
}

module.exports = { readDomMessage };
