'use strict';

// Describes the document that a response becomes: its origin and its permissions. This is decided in the host, for all
// threads.

const path = require('node:path');
const { fileURLToPath } = require('node:url');

const { UNRESTRICTED } = require('./sandbox.cjs');
const { documentType, whyNoDocument } = require('./document-type.cjs');
const { getHeader, listOf } = require('./headers.cjs');
const { allowsItself, isAllowedInFrame, readIsolationHeader } = require('./isolation-policy.cjs');
const { readEmbedderPolicy, readOpenerPolicy, readProfilingMode } = require('./policy-headers.cjs');
const { isSameSite } = require('./site.cjs');
const { folderOf, folderOrigin, isSameOrigin, isTrustworthy, newOpaqueOrigin, originOfUrl } = require('./origin.cjs');

/**
 * A document before it is parsed.
 *
 * @typedef {object} Description
 * @property {string} url
 * @property {string} contentType
 * @property {import('./origin.cjs').Origin} origin
 * @property {'eager' | 'lazy' | undefined} profiling whether it may profile, and how V8 prepares for it
 * @property {'unsafe-none' | 'require-corp' | 'credentialless'} embedderPolicy
 * @property {boolean} isIsolated cross-origin isolated
 * @property {string[]} [isolated] which documents its header allows to be isolated, see isolation-policy.cjs
 * @property {boolean} isSecure a secure context
 * @property {boolean} [hasCrossSiteAncestor] whether a document around it is of another site, so that it has no cookies
 *   with `SameSite`: https://html.spec.whatwg.org/multipage/webappapis.html#concept-environment-has-cross-site-ancestor
 * @property {import('./origin.cjs').Origin[]} [ancestors] the origins of the documents around it
 * @property {import('./sandbox.cjs').Sandbox} [sandbox] by default, unrestricted
 * @property {number} [startedAt] when the navigation began, in milliseconds on the clock that threads share
 * @property {import('./fetch-timing.cjs').FetchTiming} [timing] of its response
 */

/** @typedef {{ url: string, status?: number, headers: import('./headers.cjs').HeaderList, body?: Uint8Array | null }} DocumentResponse */

/** A response was refused as the document of a frame or as the script of a worker. */
class LoadRefused extends Error {}

/** A response becomes no document, and what is shown stays: there is nothing in it, or it is to be saved. */
class NoDocument extends LoadRefused {}

/**
 * Whether the response came over the network. Other responses have made-up headers, which do not count.
 *
 * @param {URL} url
 */
function hasHeaders(url) {
  return url.protocol === 'http:' || url.protocol === 'https:';
}

/**
 * The MIME type of the document that a response becomes.
 *
 * @param {DocumentResponse} response
 * @throws {LoadRefused} when it becomes none
 */
function typeOf({ url, status, headers, body }) {
  if (!hasHeaders(new URL(url))) return getHeader(headers, 'content-type') ?? 'text/html';
  const reason = whyNoDocument({ status, headers });
  if (reason !== undefined) throw new NoDocument(`${url} is not shown: ${reason}`);
  return documentType(headers, body);
}

/**
 * Describes the document of a page.
 *
 * @param {DocumentResponse} response
 * @param {string} [root] of a file, the folder that its origin spans
 * @returns {Description}
 * @throws {LoadRefused}
 */
function describePage(response, root) {
  const { url: text, headers } = response;
  const contentType = typeOf(response);
  const url = new URL(text);
  let origin = originOfUrl(url) ?? newOpaqueOrigin();
  if (url.protocol === 'file:') origin = folderOrigin(root ?? path.dirname(fileURLToPath(url)));
  const isSecure = isTrustworthy(origin);
  // https://html.spec.whatwg.org/multipage/browsers.html#coop-check
  const embedderPolicy = isSecure ? readEmbedderPolicy(headers) : 'unsafe-none';
  const isolated = readIsolationHeader(headers);
  const isIsolated =
    isSecure &&
    readOpenerPolicy(headers) === 'same-origin' &&
    embedderPolicy !== 'unsafe-none' &&
    allowsItself(isolated, origin);
  return {
    url: url.href,
    contentType,
    origin,
    profiling: readProfilingMode(headers),
    embedderPolicy,
    isIsolated,
    isolated,
    isSecure,
  };
}

/**
 * Describes the document of a frame.
 *
 * @param {DocumentResponse} response
 * @param {Description} embedder the document that contains the frame
 * @param {object} frame
 * @param {import('./sandbox.cjs').Sandbox} frame.sandbox
 * @param {string | null} [frame.allow] the attribute
 * @param {string} [frame.src] the URL in the attribute of the frame element: by default, that of the response. Empty if
 *   there is none
 * @param {boolean} [frame.isEmbedderIsolated] whether the document around it is isolated: by default, as `embedder`
 * @param {Description} [frame.asker] the document that asked for this one, if it is not `embedder`
 * @returns {Description}
 * @throws {LoadRefused}
 */
function describeFrame(
  response,
  embedder,
  {
    sandbox = UNRESTRICTED,
    allow = null,
    src = response.url,
    isEmbedderIsolated = embedder.isIsolated,
    asker = embedder,
  },
) {
  const { url: text, headers } = response;
  const contentType = typeOf(response);
  const url = new URL(text);
  // about:blank and about:srcdoc are what the document that asks for them makes of them.
  const isLocal = url.protocol === 'about:';
  const isSame =
    sandbox.allowsSameOrigin &&
    ((isLocal && asker.origin === embedder.origin) ||
      isSameOrigin(url, embedder.origin) ||
      (folderOf(embedder.origin) !== undefined && url.protocol === 'file:'));
  const ownOrigin = isLocal ? asker.origin : (originOfUrl(url) ?? newOpaqueOrigin());
  let origin = newOpaqueOrigin();
  if (sandbox.allowsSameOrigin) origin = isSame ? embedder.origin : ownOrigin;
  const isSecure =
    embedder.isSecure && (isLocal ? asker.isSecure : isTrustworthy(sandbox.allowsSameOrigin ? origin : ownOrigin));
  // data: and blob: documents have no headers. They inherit the embedder policy and the isolation of their embedder,
  // with what its header says of that, but not Document-Policy, which is not inherited.
  const embedderPolicy = hasHeaders(url)
    ? isSecure
      ? readEmbedderPolicy(headers)
      : 'unsafe-none'
    : (isLocal ? asker : embedder).embedderPolicy;
  if (embedder.embedderPolicy !== 'unsafe-none' && embedderPolicy === 'unsafe-none') {
    throw new LoadRefused(`${url.href} has no Cross-Origin-Embedder-Policy, but the page that embeds it has one`);
  }
  const resourcePolicy = getHeader(headers, 'cross-origin-resource-policy');
  if (embedder.embedderPolicy !== 'unsafe-none' && hasHeaders(url) && !isSame && resourcePolicy !== 'cross-origin') {
    throw new LoadRefused(`${url.href} has no Cross-Origin-Resource-Policy, which the page that embeds it requires`);
  }
  const options = listOf(headers, 'x-frame-options');
  const ancestors = [embedder.origin, ...(embedder.ancestors ?? [])];
  const isAmongItsOwn = isSame && ancestors.every((origin) => origin === embedder.origin);
  if (options.includes('deny') || (options.includes('sameorigin') && !isAmongItsOwn)) {
    throw new LoadRefused(`${url.href} forbids to be framed (X-Frame-Options)`);
  }
  const isolated = hasHeaders(url) ? readIsolationHeader(headers) : (isLocal ? asker : embedder).isolated;
  const from = URL.parse(src);
  const around = {
    embedder: embedder.origin,
    declared: embedder.isolated,
    allow,
    src: isLocal || from === null ? embedder.origin : originOfUrl(from),
  };
  const isIsolated = isEmbedderIsolated && isAllowedInFrame(origin, around) && allowsItself(isolated, origin);
  return {
    url: url.href,
    contentType,
    origin,
    profiling: hasHeaders(url) ? readProfilingMode(headers) : undefined,
    embedderPolicy,
    isIsolated: isIsolated && isSecure,
    isolated,
    isSecure,
    hasCrossSiteAncestor: embedder.hasCrossSiteAncestor === true || !(isSame || isSameSite(url, embedder.origin)),
    ancestors,
    sandbox,
  };
}

module.exports = { LoadRefused, NoDocument, describeFrame, describePage };
