'use strict';

// What a response becomes: a document with an origin and with what it may do. Decided in the user's thread, for all threads.

const path = require('node:path');
const { fileURLToPath } = require('node:url');

const { getHeader } = require('../network/http.cjs');
const { readEmbedderPolicy, readOpenerPolicy, readProfilingMode } = require('./document-policy.cjs');
const { folderOf, folderOrigin, isSameOrigin, isTrustworthy, newOpaqueOrigin, originOfUrl } = require('./origin.cjs');

/**
 * A document before it is parsed.
 *
 * @typedef {object} Description
 * @property {string} url
 * @property {string} contentType
 * @property {import('./origin.cjs').Origin} origin
 * @property {'eager' | 'lazy' | undefined} profiling
 * @property {'unsafe-none' | 'require-corp' | 'credentialless'} embedderPolicy
 * @property {boolean} isIsolated cross-origin isolated
 * @property {boolean} isSecure a secure context
 * @property {number} [startedAt] when the navigation began, on the clock that threads share, in milliseconds
 * @property {import('../network/timing.cjs').FetchTiming} [timing] of its response
 */

/** Why a frame does not show a document. */
class Refused extends Error {}

/** Whether the document's own headers are to be heeded: those of a response from the network. */
function hasHeaders(url) {
  return url.protocol === 'http:' || url.protocol === 'https:';
}

/**
 * Describes the document of a page.
 *
 * @param {{ url: string, headers: [string, string][] }} response
 * @param {string} [root] for a file, the folder of its origin
 * @returns {Description}
 */
function describePage({ url: text, headers }, root) {
  const url = new URL(text);
  let origin = originOfUrl(url) ?? newOpaqueOrigin();
  if (url.protocol === 'file:') origin = folderOrigin(root ?? path.dirname(fileURLToPath(url)));
  const isSecure = isTrustworthy(origin);
  // https://html.spec.whatwg.org/multipage/browsers.html#coop-check
  const embedderPolicy = isSecure ? readEmbedderPolicy(headers) : 'unsafe-none';
  const isIsolated = isSecure && readOpenerPolicy(headers) === 'same-origin' && embedderPolicy !== 'unsafe-none';
  const contentType = getHeader(headers, 'content-type') ?? 'text/html';
  return { url: url.href, contentType, origin, profiling: readProfilingMode(headers), embedderPolicy, isIsolated, isSecure };
}

/**
 * Describes the document of a frame.
 *
 * @param {{ url: string, headers: [string, string][] }} response
 * @param {Description} embedder the document that holds the frame
 * @param {{ isSandboxed: boolean }} frame
 * @returns {Description}
 * @throws {Refused}
 */
function describeFrame({ url: text, headers }, embedder, { isSandboxed }) {
  const url = new URL(text);
  const isSame = !isSandboxed && (isSameOrigin(url, embedder.origin) || folderOf(embedder.origin) !== undefined && url.protocol === 'file:');
  const origin = isSandboxed ? newOpaqueOrigin() : isSame ? embedder.origin : (originOfUrl(url) ?? newOpaqueOrigin());
  const isSecure = embedder.isSecure && (isTrustworthy(origin) || (isSandboxed && isTrustworthy(originOfUrl(url) ?? origin)));
  // data: and blob: documents have no headers of their own and take those of who made them; so it is with isolation, but not
  // with Document-Policy, which has none to take.
  const embedderPolicy = hasHeaders(url) ? (isSecure ? readEmbedderPolicy(headers) : 'unsafe-none') : embedder.embedderPolicy;
  if (embedder.embedderPolicy !== 'unsafe-none' && embedderPolicy === 'unsafe-none') {
    throw new Refused(`${url.href} has no Cross-Origin-Embedder-Policy, and the page that embeds it has one`);
  }
  const resourcePolicy = getHeader(headers, 'cross-origin-resource-policy');
  if (embedder.embedderPolicy === 'require-corp' && hasHeaders(url) && !isSame && resourcePolicy !== 'cross-origin') {
    throw new Refused(`${url.href} has no Cross-Origin-Resource-Policy, which the page that embeds it requires`);
  }
  const options = (getHeader(headers, 'x-frame-options') ?? '').toLowerCase().split(/\s*,\s*/);
  if (options.includes('deny') || (options.includes('sameorigin') && !isSame)) {
    throw new Refused(`${url.href} does not want to be framed (X-Frame-Options)`);
  }
  return {
    url: url.href,
    contentType: getHeader(headers, 'content-type') ?? 'text/html',
    origin,
    profiling: hasHeaders(url) ? readProfilingMode(headers) : undefined,
    embedderPolicy,
    isIsolated: embedder.isIsolated && isSame,
    isSecure,
  };
}

module.exports = { Refused, describeFrame, describePage };
