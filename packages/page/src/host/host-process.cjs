'use strict';

// The process that hosts the pages of a `PageHost`. Its client, in the user's process, sends
// `{ id, method, parameters }` over the IPC channel and gets `{ id, result }` or `{ id, error }`, in any order; what
// happens in pages comes as `{ event, window, ... }`. Values cross by structured clone.
//
// It ends when the channel closes, however the user's process has ended. Threads of pages can be in functions that V8
// does not interrupt, so it ends by a signal.

const os = require('node:os');
const { setInterval } = require('node:timers');

const { TimeoutError } = require('../client/errors.cjs');
const { toRecord } = require('../client/error-records.cjs');
const { CommandError } = require('./command-error.cjs');
const { HostMethods } = require('./methods.cjs');

/** How often the memory of the process is looked at, in milliseconds. */
const MEMORY_INTERVAL = 100;

/** @typedef {{ id: number, method: string, parameters: any }} Call */

/** @param {object} message @param {() => void} [onSent] */
function send(message, onSent) {
  // The client may have gone: then `disconnect` follows.
  process.send?.(message, undefined, {}, () => onSent?.());
}

function end() {
  process.kill(process.pid, 'SIGKILL');
}

/** Half of the memory that the machine or the container has, in bytes. */
function defaultLimit() {
  const constrained = process.constrainedMemory();
  return Math.min(os.totalmem(), constrained > 0 ? constrained : Infinity) / 2;
}

/**
 * Ends the process when it takes more than this: a page has a limit, but V8 does not count all that it can allocate.
 * @param {number} bytes
 */
function limitMemory(bytes) {
  setInterval(() => {
    if (process.memoryUsage.rss() <= bytes) return;
    send({ event: 'ending', reason: `the pages took more than ${Math.floor(bytes / 2 ** 20)} MB of memory` }, end);
  }, MEMORY_INTERVAL).unref();
}

/** @param {unknown} error */
function describe(error) {
  if (!(error instanceof CommandError)) return toRecord(error);
  const { code, message } = error;
  if (code === 'timeout' || code === 'script timeout') return toRecord(new TimeoutError(message));
  return { ...toRecord(error), code };
}

const methods = new HostMethods(send);

/** @param {Call} call */
async function answer({ id, method, parameters }) {
  try {
    if (method === 'start') {
      const { processMemoryLimit } = parameters;
      limitMemory(processMemoryLimit === undefined ? defaultLimit() : processMemoryLimit * 2 ** 20);
    }
    send({ id, result: await methods.call(method, parameters) });
  } catch (error) {
    send({ id, error: describe(error) });
  }
}

process.on('disconnect', end);
process.on('message', (/** @type {Call} */ call) => answer(call));
