'use strict';

// Describes the dedicated worker that a response becomes: its origin and its permissions.
// https://html.spec.whatwg.org/multipage/workers.html#run-a-worker

const { getHeader } = require('./headers.cjs');
const { isJavaScript } = require('./mime-type.cjs');
const { readEmbedderPolicy, readProfilingMode } = require('./policy-headers.cjs');
const { LoadRefused } = require('./document-description.cjs');
const { newOpaqueOrigin } = require('./origin.cjs');

/**
 * Schemes whose workers inherit the policies of their owner.
 * https://html.spec.whatwg.org/multipage/browsers.html#initialize-worker-policy-container
 */
const INHERITING = new Set(['blob:', 'data:', 'file:']);

/**
 * @typedef {object} WorkerOptions
 * @property {'classic' | 'module'} type
 * @property {'omit' | 'same-origin' | 'include'} credentials
 * @property {string} name
 */

/** @typedef {import('./document-description.cjs').Description} Description */

/**
 * @param {import('./document-description.cjs').DocumentResponse & { status: number }} response
 * @param {Description} owner the document or worker that made it
 * @param {WorkerOptions} options
 * @returns {Description & { worker: WorkerOptions }}
 * @throws {LoadRefused}
 */
function describeWorker({ url: text, status, headers }, owner, options) {
  const url = new URL(text);
  const inherits = INHERITING.has(url.protocol);
  if (status < 200 || status > 299) throw new LoadRefused(`${text} answered ${status}`);
  const contentType = getHeader(headers, 'content-type') ?? '';
  if ((!inherits || options.type === 'module') && !isJavaScript(contentType)) {
    throw new LoadRefused(`${text} is served as '${contentType}', which is not JavaScript`);
  }
  const embedderPolicy = inherits ? owner.embedderPolicy : owner.isSecure ? readEmbedderPolicy(headers) : 'unsafe-none';
  // https://html.spec.whatwg.org/multipage/browsers.html#check-a-global-object's-embedder-policy
  if (owner.embedderPolicy !== 'unsafe-none' && embedderPolicy === 'unsafe-none') {
    throw new LoadRefused(`${text} has no Cross-Origin-Embedder-Policy, but its owner has one`);
  }
  return {
    url: url.href,
    contentType,
    origin: url.protocol === 'data:' ? newOpaqueOrigin() : owner.origin,
    // Of the worker's own global object: https://wicg.github.io/js-self-profiling/#new-profiler-options
    profiling: inherits ? owner.profiling : readProfilingMode(headers),
    embedderPolicy,
    isIsolated: owner.isIsolated && url.protocol !== 'data:',
    isSecure: owner.isSecure,
    hasCrossSiteAncestor: owner.hasCrossSiteAncestor,
    worker: options,
  };
}

module.exports = { describeWorker };
