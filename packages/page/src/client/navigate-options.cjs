'use strict';

// Checks and converts the options of a navigation.

const path = require('node:path');
const { pathToFileURL } = require('node:url');

/** @typedef {import('../../index.js').NavigateOptions} NavigateOptions */

/** @typedef {Exclude<NonNullable<NavigateOptions['waitUntil']>, 'networkidle'>} WaitUntil */

/** @type {WaitUntil[]} */
const WAIT_STATES = ['idle', 'load', 'domcontentloaded', 'commit'];

/** How many samples a recording holds by default: a quarter of an hour at 1 ms. */
const DEFAULT_SAMPLES = 1_000_000;

/** @param {unknown} value @returns {WaitUntil} @throws {TypeError} */
function toWaitUntil(value) {
  if (value === 'networkidle') return 'idle';
  const state = WAIT_STATES.find((known) => known === value);
  if (state === undefined) throw new TypeError(`waitUntil is '${value}'; it must be one of ${WAIT_STATES.join(', ')}`);
  return state;
}

/** @param {string | URL} target a URL, or a path on disk @throws {TypeError} */
function toUrl(target) {
  if (target instanceof URL) return target;
  const text = String(target);
  if (/^[\w.-]+:\d+(\/|$)/.test(text))
    throw new TypeError(`${text} is neither a URL nor a path\n\nhint: http://${text}`);
  if (/^[a-z][a-z0-9+.-]+:/i.test(text)) return new URL(text);
  return pathToFileURL(path.resolve(text));
}

/**
 * The headers of a document that no server sends.
 *
 * @param {NavigateOptions['headers']} headers
 * @param {URL} url
 * @returns {import('../fetch/headers.cjs').HeaderList}
 * @throws {TypeError}
 */
function toHeaders(headers, url) {
  if (headers === undefined) return [];
  if (url.protocol === 'http:' || url.protocol === 'https:') {
    throw new TypeError(`headers are for documents on disk; the headers of ${url} come from its server`);
  }
  return toHeaderList(headers);
}

/**
 * Headers as a list, with their names in lower case.
 *
 * @param {Record<string, string> | Iterable<readonly [string, string]>} headers
 * @returns {[name: string, value: string][]}
 */
function toHeaderList(headers) {
  const list = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return list.map(([name, value]) => [String(name).toLowerCase(), String(value)]);
}

/**
 * @param {NonNullable<NavigateOptions['profile']>} options
 * @returns {import('../page/thread-messages.js').RecordingOptions}
 * @throws {RangeError}
 */
function toRecordingOptions({ sampleInterval = 1, maxBufferSize = DEFAULT_SAMPLES, includeSameOriginFrames = false }) {
  if (!(Number.isFinite(sampleInterval) && sampleInterval > 0)) {
    throw new RangeError(`profile.sampleInterval is ${sampleInterval}; it must be a number of milliseconds above 0`);
  }
  if (!(Number.isSafeInteger(maxBufferSize) && maxBufferSize > 0 && maxBufferSize <= 0xffff_ffff)) {
    throw new RangeError(`profile.maxBufferSize is ${maxBufferSize}; it must be a number of samples above 0`);
  }
  return { sampleInterval, maxBufferSize, includeSameOriginFrames: includeSameOriginFrames === true };
}

module.exports = { toHeaderList, toHeaders, toRecordingOptions, toUrl, toWaitUntil };
