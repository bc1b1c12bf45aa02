'use strict';

// The program of the thread that asks name servers: see name-thread.cjs.

const { parentPort } = require('node:worker_threads');

const { resolveName } = require('../fetch/name-resolver.cjs');

/** @typedef {import('node:dns').LookupAddress} Address */
/** What is asked for; without a host, that nobody waits for it any more. @typedef {{ id: number, host?: string, servers?: string[] }} Question */
/** @typedef {{ id: number, addresses: Address[] } | { id: number, code: string, message: string }} Answer */

/** @type {Map<number, AbortController>} */
const controllers = new Map();

/** @param {string} host @param {AbortSignal} signal @param {string[] | undefined} servers */
async function ask(host, signal, servers) {
  try {
    return { addresses: await resolveName(host, signal, servers) };
  } catch (error) {
    const { code = 'EAI_AGAIN', message } = /** @type {NodeJS.ErrnoException} */ (error);
    return { code, message };
  }
}

parentPort?.on('message', async (/** @type {Question} */ { id, host, servers }) => {
  if (host === undefined) {
    controllers.get(id)?.abort();
    return;
  }
  const controller = new AbortController();
  controllers.set(id, controller);
  const answer = await ask(host, controller.signal, servers);
  controllers.delete(id);
  parentPort?.postMessage({ id, ...answer });
});
