'use strict';

// What a response's headers let its document do.

const { getHeader } = require('../network/http.cjs');
const { Token, parseDictionary, parseItem } = require('./structured-field.cjs');

const MODES = new Set(['eager', 'lazy']);

/**
 * Whether a document may profile, and how V8 prepares for it: `eager` from the start, `lazy` with the first profiler. The
 * mode says both; `js-profiling` alone, the older way, means `eager`.
 * https://wicg.github.io/js-self-profiling/#document-policy
 *
 * @param {[string, string][]} headers
 * @returns {'eager' | 'lazy' | undefined} undefined when it may not
 */
function readProfilingMode(headers) {
  const policy = parseDictionary(getHeader(headers, 'document-policy'));
  const mode = policy?.get('js-profiling-mode')?.value;
  if (mode instanceof Token && MODES.has(mode.text)) return mode.text;
  return policy?.get('js-profiling')?.value === true ? 'eager' : undefined;
}

function readToken(headers, name) {
  const value = parseItem(getHeader(headers, name))?.value;
  return value instanceof Token ? value.text : undefined;
}

/** https://html.spec.whatwg.org/multipage/browsers.html#obtain-a-cross-origin-opener-policy */
function readOpenerPolicy(headers) {
  const policy = readToken(headers, 'cross-origin-opener-policy');
  return ['same-origin', 'same-origin-allow-popups', 'noopener-allow-popups'].includes(policy) ? policy : 'unsafe-none';
}

/**
 * https://html.spec.whatwg.org/multipage/browsers.html#obtain-an-embedder-policy
 *
 * @returns {'unsafe-none' | 'require-corp' | 'credentialless'}
 */
function readEmbedderPolicy(headers) {
  const policy = readToken(headers, 'cross-origin-embedder-policy');
  return policy === 'require-corp' || policy === 'credentialless' ? policy : 'unsafe-none';
}

module.exports = { readEmbedderPolicy, readOpenerPolicy, readProfilingMode };
