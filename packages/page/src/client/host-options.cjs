'use strict';

/** The smallest and the largest value of each option that is a number, in the units of the options. */
const RANGES = {
  memoryLimit: [64, 2 ** 20],
  processMemoryLimit: [256, Infinity],
  bodyLimit: [0, Infinity],
  timeout: [0, Infinity],
};

/** The longest delay of a timer, in milliseconds: 24 days. A longer timeout is treated as no timeout. */
const MAX_DELAY = 0x7fff_ffff;

/**
 * Checks the options of a page host.
 *
 * @param {import('../../index.js').PageHostOptions} options
 * @throws {TypeError | RangeError}
 */
function checkHostOptions({ cookies, ignoreCertificateErrors, ...options }) {
  // The text 'false' would be true.
  if (ignoreCertificateErrors !== undefined && typeof ignoreCertificateErrors !== 'boolean')
    throw new TypeError('the option `ignoreCertificateErrors` is true or false');
  if (cookies !== undefined && cookies !== 'page' && cookies !== 'host')
    throw new TypeError("the option `cookies` is 'page' or 'host'");
  for (const [name, [least, most]] of Object.entries(RANGES)) {
    const value = options[/** @type {keyof typeof RANGES} */ (name)];
    if (value === undefined) continue;
    if (typeof value !== 'number') throw new TypeError(`the option \`${name}\` is a number`);
    if (value >= least && value <= most) continue;
    const range = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new RangeError(`the option \`${name}\` is a number ${range}, not ${value}`);
  }
}

/** @param {unknown} milliseconds @throws {TypeError | RangeError} */
function checkTimeout(milliseconds) {
  if (typeof milliseconds !== 'number') throw new TypeError('a timeout is a number of milliseconds');
  if (!(milliseconds >= 0)) throw new RangeError(`a timeout is at least 0 milliseconds, not ${milliseconds}`);
}

module.exports = { MAX_DELAY, checkHostOptions, checkTimeout };
