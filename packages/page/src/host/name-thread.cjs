'use strict';

// Asks name servers in a thread of its own. c-ares reads all answers that have arrived in one go. An answer of 64 KB takes it up to 45 ms, and a page
// can ask for hundreds of names.

const dns = require('node:dns');
const path = require('node:path');
const { Worker } = require('node:worker_threads');

const { lookupError } = require('../fetch/name-resolver.cjs');
const { inheritedFlags } = require('../client/inherited-flags.cjs');

/** @typedef {import('node:dns').LookupAddress} Address */

const PROGRAM = path.join(__dirname, 'name-thread-program.cjs');

/** Names that are asked for, by number. @type {Map<number, { host: string } & PromiseWithResolvers<Address[]>>} */
const asked = new Map();
let lastNumber = 0;

/** It lives as long as the process, from the first name on. @type {Worker | undefined} */
let thread;

function startThread() {
  const started = new Worker(PROGRAM, {
    argv: [],
    env: {},
    execArgv: ['--no-warnings', ...inheritedFlags()],
    name: 'selfprof names',
  });
  started.on('message', (/** @type {import('./name-thread-program.cjs').Answer} */ answer) => {
    const question = asked.get(answer.id);
    if ('addresses' in answer) question?.resolve(answer.addresses);
    else question?.reject(Object.assign(new Error(answer.message), { code: answer.code }));
  });
  // Its end tells the same.
  started.on('error', () => {});
  started.on('exit', () => {
    thread = undefined;
    for (const { host, reject } of asked.values()) reject(lookupError('EAI_AGAIN', host));
  });
  // Names that pages ask for do not keep the program alive.
  started.unref();
  return started;
}

/**
 * As `resolveName`, of the name servers of this thread.
 *
 * @param {string} host
 * @param {AbortSignal} [signal]
 * @returns {Promise<Address[]>}
 */
async function resolveInThread(host, signal) {
  signal?.throwIfAborted();
  thread ??= startThread();
  lastNumber += 1;
  const id = lastNumber;
  const question = { host, ...Promise.withResolvers() };
  const cancel = () => {
    thread?.postMessage({ id });
    question.reject(signal?.reason);
  };
  asked.set(id, question);
  signal?.addEventListener('abort', cancel, { once: true });
  thread.postMessage({ id, host, servers: dns.getServers() });
  try {
    return await question.promise;
  } finally {
    signal?.removeEventListener('abort', cancel);
    asked.delete(id);
  }
}

module.exports = { resolveInThread };
