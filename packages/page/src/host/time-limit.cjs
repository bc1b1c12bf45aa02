'use strict';

const { clearTimeout, setTimeout } = require('node:timers');

const { TimeoutError } = require('../client/errors.cjs');
const { MAX_DELAY, checkTimeout } = require('../client/host-options.cjs');

/**
 * Does some work for the page's user, and rejects when it takes longer than the timeout.
 *
 * @template Result
 * @param {number} milliseconds
 * @param {string} what for the message of the error
 * @param {() => Promise<Result>} work
 * @param {() => void} [onTimeout] cleans up
 * @returns {Promise<Result>}
 * @throws {TimeoutError}
 */
async function withTimeout(milliseconds, what, work, onTimeout = () => {}) {
  checkTimeout(milliseconds);
  if (milliseconds > MAX_DELAY) return await work();
  const { promise: late, reject } = Promise.withResolvers();
  const timer = setTimeout(() => {
    reject(new TimeoutError(`${what} took longer than ${milliseconds} ms`));
    onTimeout();
  }, milliseconds);
  try {
    return /** @type {Result} */ (await Promise.race([work(), late]));
  } finally {
    clearTimeout(timer);
  }
}

module.exports = { withTimeout };
