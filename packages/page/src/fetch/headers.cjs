'use strict';

// Lists of headers: pairs of a name in lower case and a value, in the order in which they were received.

/** @typedef {[name: string, value: string][]} HeaderList */

/**
 * The values of a header, joined by commas. https://fetch.spec.whatwg.org/#concept-header-list-get
 *
 * @param {HeaderList} headers
 * @param {string} name in lower case
 * @returns {string | null} `null` when there is no such header
 */
function getHeader(headers, name) {
  const values = headers.filter(([key]) => key === name).map(([, value]) => value);
  return values.length === 0 ? null : values.join(', ');
}

/**
 * The values of a header between commas, in lower case.
 *
 * @param {HeaderList} headers
 * @param {string} name in lower case
 */
function listOf(headers, name) {
  return (getHeader(headers, name) ?? '')
    .toLowerCase()
    .split(',')
    .map((value) => value.trim());
}

/**
 * The parts of a value between commas that are in no quoted string.
 * https://fetch.spec.whatwg.org/#header-value-get-decode-and-split
 *
 * @param {string} value
 */
function splitAtCommas(value) {
  return value.match(/(?:[^",]|"(?:[^"\\]|\\[\s\S])*(?:"|\\?$))+/g) ?? [];
}

/**
 * Whether the type of a response must be taken as it is. https://fetch.spec.whatwg.org/#x-content-type-options-header
 * @param {HeaderList} headers
 */
function isNosniff(headers) {
  return /^\s*nosniff\s*(,|$)/i.test(getHeader(headers, 'x-content-type-options') ?? '');
}

module.exports = { getHeader, isNosniff, listOf, splitAtCommas };
