'use strict';

// Headers that decide what a document may do: Document-Policy, Cross-Origin-Opener-Policy and
// Cross-Origin-Embedder-Policy.

const { getHeader } = require('./headers.cjs');
const { Token, parseDictionary, parseItem } = require('./structured-fields.cjs');

/** @typedef {import('./headers.cjs').HeaderList} HeaderList */

/**
 * Whether a document may profile, and how V8 prepares for it: from the start (`eager`) or with the first profiler
 * (`lazy`). `js-profiling-mode` says both; `js-profiling` alone, the older way, means `eager`.
 * https://wicg.github.io/js-self-profiling/#document-policy
 *
 * @param {HeaderList} headers
 * @returns {'eager' | 'lazy' | undefined} `undefined` when it may not
 */
function readProfilingMode(headers) {
  const policy = parseDictionary(getHeader(headers, 'document-policy'));
  const mode = policy?.get('js-profiling-mode');
  if (mode instanceof Token && (mode.text === 'eager' || mode.text === 'lazy')) return mode.text;
  return policy?.get('js-profiling') === true ? 'eager' : undefined;
}

/** @param {HeaderList} headers @param {string} name */
function readToken(headers, name) {
  const value = parseItem(getHeader(headers, name));
  return value instanceof Token ? value.text : undefined;
}

const OPENER_POLICIES = ['same-origin', 'same-origin-allow-popups', 'noopener-allow-popups'];

/**
 * https://html.spec.whatwg.org/multipage/browsers.html#obtain-a-cross-origin-opener-policy
 *
 * @param {HeaderList} headers
 */
function readOpenerPolicy(headers) {
  const policy = readToken(headers, 'cross-origin-opener-policy');
  return policy !== undefined && OPENER_POLICIES.includes(policy) ? policy : 'unsafe-none';
}

/**
 * https://html.spec.whatwg.org/multipage/browsers.html#obtain-an-embedder-policy
 *
 * @param {HeaderList} headers
 * @returns {'unsafe-none' | 'require-corp' | 'credentialless'}
 */
function readEmbedderPolicy(headers) {
  const policy = readToken(headers, 'cross-origin-embedder-policy');
  return policy === 'require-corp' || policy === 'credentialless' ? policy : 'unsafe-none';
}

module.exports = { readEmbedderPolicy, readOpenerPolicy, readProfilingMode };
