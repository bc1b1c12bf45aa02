'use strict';

const { clearInterval, clearTimeout, setInterval, setTimeout } = require('node:timers');

const { TimeoutError } = require('../client/errors.cjs');

/** The longest delay of a timer, in milliseconds: 24 days. A longer timeout is treated as no timeout. */
const MAX_DELAY = 0x7fff_ffff;

/**
 * Does what the page's user waits for: the program lives at least until then. Nothing else that is done for pages keeps it alive.
 *
 * @template Result
 * @param {() => Promise<Result>} work
 */
async function keepAlive(work) {
  const timer = setInterval(() => {}, MAX_DELAY);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** @param {unknown} milliseconds @throws {TypeError | RangeError} */
function checkTimeout(milliseconds) {
  if (typeof milliseconds !== 'number') throw new TypeError('a timeout is a number of milliseconds');
  if (!(milliseconds >= 0)) throw new RangeError(`a timeout is at least 0 milliseconds, not ${milliseconds}`);
}

/**
 * Does some work for the page's user, and rejects when it takes longer than the timeout. `onTimeout` cleans up before the promise rejects.
 *
 * @template Result
 * @param {number} milliseconds
 * @param {string} what for the message of the error
 * @param {() => Promise<Result>} work
 * @param {() => void | Promise<void>} [onTimeout]
 * @returns {Promise<Result>}
 * @throws {TimeoutError}
 */
async function withTimeout(milliseconds, what, work, onTimeout = () => {}) {
  checkTimeout(milliseconds);
  return await keepAlive(() => (milliseconds > MAX_DELAY ? work() : workInTime(milliseconds, what, work, onTimeout)));
}

/**
 * @template Result
 * @param {number} milliseconds
 * @param {string} what
 * @param {() => Promise<Result>} work
 * @param {() => void | Promise<void>} onTimeout
 * @returns {Promise<Result>}
 */
async function workInTime(milliseconds, what, work, onTimeout) {
  let isLate = false;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(async () => {
      isLate = true;
      try {
        await onTimeout();
      } finally {
        // A listener of the user may have thrown.
        resolve(undefined);
      }
    }, milliseconds);
  });
  const done = work();
  try {
    const result = await Promise.race([done, late]);
    // The type of a race cannot say that `late` came second.
    if (!isLate) return /** @type {Result} */ (result);
  } catch (error) {
    if (!isLate) throw error;
  } finally {
    clearTimeout(timer);
    done.catch(() => {});
  }
  await late;
  throw new TimeoutError(`${what} took longer than ${milliseconds} ms`);
}

/**
 * Waits for a promise, but no longer than this.
 *
 * @param {number} milliseconds
 * @param {Promise<unknown>} promise
 */
async function waitAtMost(milliseconds, promise) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds).unref();
  });
  try {
    await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

module.exports = { MAX_DELAY, keepAlive, waitAtMost, withTimeout };
