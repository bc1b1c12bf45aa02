'use strict';

const { clearTimeout, setTimeout } = require('node:timers');

const { TimeoutError } = require('../client/errors.cjs');
const { MAX_DELAY, checkTimeout } = require('../client/host-options.cjs');

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
  return await (milliseconds > MAX_DELAY ? work() : workInTime(milliseconds, what, work, onTimeout));
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

module.exports = { waitAtMost, withTimeout };
