'use strict';

/** All options of a page host, and of `open()`. */
const HOST_OPTIONS =
  'jsdom timeout memoryLimit processMemoryLimit userAgent hosts ca ignoreCertificateErrors bodyLimit cookies';
const OPEN_OPTIONS = 'on waitUntil timeout referrer root headers profile';

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
 * Refuses options that do not exist.
 *
 * @param {object} options
 * @param {string} known
 * @param {string} context
 * @throws {TypeError}
 */
function checkNames(options, known, context) {
  const names = known.split(' ');
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new TypeError(`${context} has no option \`${unknown}\`; its options are ${names.join(', ')}`);
}

/**
 * Checks the options of a page host.
 *
 * @param {import('../../index.js').PageHostOptions} options
 * @throws {TypeError | RangeError}
 */
function checkHostOptions(options) {
  checkNames(options, HOST_OPTIONS, 'PageHost');
  const { cookies, ignoreCertificateErrors } = options;
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

/** Checks the options of `open()`. @param {object} options @throws {TypeError} */
function checkOpenOptions(options) {
  checkNames(options, OPEN_OPTIONS, 'open()');
}

/** @param {number} milliseconds of the user, for whom 0 means no limit @throws {TypeError | RangeError} */
function toTimeout(milliseconds) {
  checkTimeout(milliseconds);
  return milliseconds === 0 ? Infinity : milliseconds;
}

/** @param {unknown} milliseconds @throws {TypeError | RangeError} */
function checkTimeout(milliseconds) {
  if (typeof milliseconds !== 'number') throw new TypeError('a timeout is a number of milliseconds');
  if (!(milliseconds >= 0)) throw new RangeError(`a timeout is at least 0 milliseconds, not ${milliseconds}`);
}

module.exports = { MAX_DELAY, checkHostOptions, checkOpenOptions, checkTimeout, toTimeout };
