'use strict';

const { describeFrame, LoadRefused, NoDocument } = require('../fetch/document-description.cjs');
const { now } = require('../fetch/fetch-timing.cjs');
const { documentReferrer } = require('../fetch/referrer.cjs');
const { NetworkError, parseUrl } = require('../fetch/request.cjs');
const { combine } = require('../fetch/sandbox.cjs');
const { messageOf } = require('../client/errors.cjs');

/** @typedef {import('./agent-thread.cjs').AgentThread} AgentThread */
/** @typedef {import('../page/thread-messages.js').FrameRequest} FrameRequest */
/** @typedef {import('../fetch/request.cjs').Response} Response */

/**
 * Loads the document of a frame, or an error page if its server cannot be reached or refuses.
 *
 * @param {import('./page-context.cjs').PageContext} host
 * @param {import('./agent-threads.cjs').AgentThreads} threads
 * @param {AgentThread} embedder
 * @param {FrameRequest} request
 * @param {AbortSignal} signal
 * @throws {Error} why the frame stays empty
 */
async function loadFrame(host, threads, embedder, request, signal) {
  if (embedder.owner !== undefined) throw new LoadRefused('a worker has no frames');
  try {
    await loadInFrame(host, threads, embedder, request, signal);
  } catch (error) {
    const hasServer = /^https?:/.test(request.url);
    if (signal.aborted || error instanceof NoDocument || !hasServer) throw error;
    showErrorPage(threads, embedder, request, error);
  }
}

/**
 * Loads the document of a frame, and decides which thread it lives in: the one of its embedder if both have the same origin, else a
 * thread of its own.
 *
 * @param {import('./page-context.cjs').PageContext} host
 * @param {import('./agent-threads.cjs').AgentThreads} threads
 * @param {AgentThread} embedder
 * @param {FrameRequest} request
 * @param {AbortSignal} signal
 * @throws {Error} why there is no document
 */
async function loadInFrame(host, threads, embedder, request, signal) {
  const { window, url, initiator } = request;
  const startedAt = now();
  // What a frame of another origin loads by itself is no resource of its embedder, which must not learn the URL.
  const report = (/** @type {import('../fetch/fetch-timing.cjs').FetchTiming | undefined} */ timing) => {
    if (request.asker === undefined) embedder.handle.post({ type: 'fetched', window, url, initiator, timing });
  };
  // The thread that asks for the document is the client: what a frame may load by itself, and with which cookies, does not depend on the
  // page around it.
  const client = request.asker === undefined ? embedder : threads.byId(request.asker);
  if (client === undefined) throw new LoadRefused('the frame has ended');
  /** @type {Response} */
  let response;
  try {
    response = await fetchFrame(host, threads, client, request, signal);
    signal.throwIfAborted();
  } catch (error) {
    if (error instanceof NetworkError) report(error.timing);
    throw error;
  }
  showInFrame(threads, embedder, request, response, { client, startedAt, report });
}

/**
 * Shows an empty document of an origin of its own. So the page around it does not learn whether a server could not be reached, or has
 * answered and forbids to be framed. https://html.spec.whatwg.org/multipage/browsing-the-web.html#navigate-failed
 *
 * @param {import('./agent-threads.cjs').AgentThreads} threads
 * @param {AgentThread} embedder
 * @param {FrameRequest} request
 * @param {unknown} error why there is no document
 */
function showErrorPage(threads, embedder, request, error) {
  const url = 'about:blank';
  const sandbox = { ...request.sandbox, allowsScripts: false, allowsSameOrigin: false };
  const load = { client: embedder, startedAt: now(), report: () => {}, error };
  showInFrame(threads, embedder, { ...request, url, sandbox }, localDocument(url), load);
}

/**
 * @param {import('./agent-threads.cjs').AgentThreads} threads
 * @param {AgentThread} embedder
 * @param {FrameRequest} request
 * @param {Response} response
 * @param {{ client: AgentThread, startedAt: number, report: (timing: Response['timing']) => void, error?: unknown }} load `error` is why an
 *   error page is shown
 */
function showInFrame(threads, embedder, request, response, { client, startedAt, report, error }) {
  const { id, window, frame, url } = request;
  const { timing } = response;
  const sandbox = combine(embedder.document.sandbox, request.outerSandbox, request.sandbox);
  const { allow, src, embedderPolicy, isIsolated, isolated } = request;
  const around = { ...embedder.document, embedderPolicy, isolated };
  const isEmbedderIsolated = embedder.document.isIsolated && isIsolated;
  const asker = client === embedder ? around : client.document;
  let described;
  try {
    described = describeFrame(response, around, { sandbox, allow, src, isEmbedderIsolated, asker });
  } catch (refusal) {
    if (!(refusal instanceof NoDocument)) report(timing);
    throw refusal;
  }
  report(timing);
  const document = { ...described, startedAt, timing };
  let base;
  if (url.startsWith('about:')) base = client === embedder ? request.base : client.document.url;
  const content = { body: response.body, referrer: documentReferrer(request.referrer, response.url), base };
  threads.closeFrame(embedder, frame);
  if (document.origin === embedder.document.origin) {
    embedder.handle.post({ type: 'frame', id, document, content });
    return;
  }
  const thread = threads.open(document, content, { thread: embedder, window, frame, request: id });
  // Not its origin, to which a redirect may have led: the embedder must not learn that.
  const reason = error === undefined ? undefined : messageOf(error);
  embedder.handle.post({ type: 'frame', id, remote: { thread: thread.id, frame: 0 }, error: reason });
}

/**
 * @param {import('./page-context.cjs').PageContext} host
 * @param {import('./agent-threads.cjs').AgentThreads} threads
 * @param {AgentThread} client
 * @param {FrameRequest} request
 * @param {AbortSignal} signal
 * @returns {Promise<Response>}
 */
async function fetchFrame(host, threads, client, { url, referrer, asker, text }, signal) {
  if (parseUrl(url).protocol === 'about:') {
    // Only the document around the frame has an attribute `srcdoc` for it.
    const isKnown = /^about:blank(?:[?#]|$)/.test(url) || (asker === undefined && url === 'about:srcdoc');
    if (!isKnown) throw new LoadRefused(`${url} is no document`);
    return localDocument(url, url === 'about:srcdoc' ? text : undefined);
  }
  return await host.network.fetch(
    { url, mode: 'navigate', credentials: 'include', destination: 'iframe', referrer },
    threads.clientOf(client),
    signal,
  );
}

/** The document of about:srcdoc, or an empty one. @param {string} url @param {Uint8Array} [text] in UTF-8 @returns {Response} */
function localDocument(url, text) {
  const body = text ?? new TextEncoder().encode('<html><head></head><body></body></html>');
  const headers = /** @type {[string, string][]} */ ([['content-type', 'text/html; charset=utf-8']]);
  return { type: 'basic', url, redirected: false, status: 200, statusText: '', headers, body };
}

module.exports = { loadFrame };
