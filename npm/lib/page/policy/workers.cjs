'use strict';

// What a response becomes as a dedicated worker, and what that may do.
// https://html.spec.whatwg.org/multipage/workers.html#run-a-worker

const { getHeader } = require('../network/http.cjs');
const { isJavaScript } = require('../network/mime.cjs');
const { readEmbedderPolicy, readProfilingMode } = require('./document-policy.cjs');
const { Refused } = require('./documents.cjs');
const { newOpaqueOrigin } = require('./origin.cjs');

/** Schemes whose workers are what the one that made them is. https://html.spec.whatwg.org/multipage/browsers.html#initialize-worker-policy-container */
const INHERITING = new Set(['blob:', 'data:', 'file:']);

/**
 * Describes a worker as {@link import('./documents.cjs').Description} does a document.
 *
 * @param {{ url: string, status: number, headers: [string, string][] }} response
 * @param {import('./documents.cjs').Description} owner the document or worker that made it
 * @param {{ type: 'classic' | 'module', name: string, credentials: string }} options
 * @throws {Refused}
 */
function describeWorker({ url: text, status, headers }, owner, options) {
  const url = new URL(text);
  const inherits = INHERITING.has(url.protocol);
  if (status < 200 || status > 299) throw new Refused(`${text} answered ${status}`);
  const contentType = getHeader(headers, 'content-type') ?? '';
  if ((!inherits || options.type === 'module') && !isJavaScript(contentType)) {
    throw new Refused(`${text} is served as '${contentType}', which is not JavaScript`);
  }
  const embedderPolicy = inherits ? owner.embedderPolicy : owner.isSecure ? readEmbedderPolicy(headers) : 'unsafe-none';
  // https://html.spec.whatwg.org/multipage/browsers.html#check-a-global-object's-embedder-policy
  if (owner.embedderPolicy !== 'unsafe-none' && embedderPolicy === 'unsafe-none') {
    throw new Refused(`${text} has no Cross-Origin-Embedder-Policy, and the page that makes it a worker has one`);
  }
  return {
    url: url.href,
    contentType,
    origin: url.protocol === 'data:' ? newOpaqueOrigin() : owner.origin,
    // https://wicg.github.io/js-self-profiling/#new-profiler-options: of the worker's own global object.
    profiling: inherits ? owner.profiling : readProfilingMode(headers),
    embedderPolicy,
    isIsolated: owner.isIsolated && url.protocol !== 'data:',
    isSecure: owner.isSecure,
    worker: options,
  };
}

module.exports = { describeWorker };
