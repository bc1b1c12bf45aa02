'use strict';

const { describeFrame, LoadRefused } = require('../fetch/document-description.cjs');
const { now } = require('../fetch/fetch-timing.cjs');
const { NetworkError } = require('../fetch/request.cjs');

/** @typedef {import('./agent-thread.cjs').AgentThread} AgentThread */
/** @typedef {import('../any-realm/thread-messages.js').FrameRequest} FrameRequest */

/**
 * Loads the document of a frame, and decides which thread it lives in: the one of its embedder if both have the same origin, else a
 * thread of its own.
 *
 * @param {import('./browser-context.cjs').BrowserContext} host
 * @param {import('./agent-threads.cjs').AgentThreads} threads
 * @param {AgentThread} embedder
 * @param {FrameRequest} request
 * @throws {Error} why the frame stays empty
 */
async function loadFrame(host, threads, embedder, { id, window, frame, url, referrer, isSandboxed, initiator }) {
  if (new URL(url).protocol === 'blob:') throw new LoadRefused('documents of blob: URLs are not supported');
  const startedAt = now();
  const report = (/** @type {import('../fetch/fetch-timing.cjs').FetchTiming | undefined} */ timing) =>
    embedder.handle.postToMain({ type: 'fetched', window, url, initiator, timing });
  let response;
  try {
    response = await host.network.fetch(
      { url, mode: 'navigate', credentials: 'include', destination: 'iframe', referrer },
      threads.clientOf(embedder),
    );
  } catch (error) {
    if (error instanceof NetworkError) report(error.timing);
    throw error;
  }
  const { timing } = response;
  report(timing);
  const document = { ...describeFrame(response, embedder.document, { isSandboxed }), startedAt, timing };
  const content = { body: new Uint8Array(response.body), referrer };
  threads.closeFrame(embedder, frame);
  if (document.origin === embedder.document.origin) {
    embedder.handle.postToMain({ type: 'frame', id, document, content });
    return;
  }
  const release = threads.reserve();
  const handle = host.startThread('page');
  try {
    await handle.ready();
  } finally {
    release();
  }
  if (!threads.has(embedder)) {
    await handle.terminate();
    return;
  }
  const thread = threads.open(handle, document, content, { thread: embedder, window, frame });
  embedder.handle.postToMain({ type: 'frame', id, remote: threads.addressOf(thread, 0) });
}

module.exports = { loadFrame };
