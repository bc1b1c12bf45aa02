'use strict';

const host = require('selfprof:host');

/**
 * What was thrown, in words. Its members may be anything, or getters that throw.
 *
 * @param {any} error of the page
 * @returns {import('./contracts.js').ErrorDescription}
 */
function describe(error) {
  const read = (/** @type {string} */ key) => {
    try {
      return typeof error?.[key] === 'string' ? error[key] : undefined;
    } catch {
      return undefined;
    }
  };
  const message = read('message');
  if (!host.platform.isError(error) && message === undefined)
    return { name: 'Error', message: `the page threw ${host.inspect(error)}`, stack: '' };
  return { name: read('name') ?? 'Error', message: message ?? '', stack: read('stack') ?? '' };
}

module.exports = { describe };
