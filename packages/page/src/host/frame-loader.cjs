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

/** Loads the document of a frame. */
class FrameLoader {
  #host;
  #threads;
  #embedder;
  #request;
  #signal;
  #startedAt = now();

  /**
   * @param {import('./page-context.cjs').PageContext} host
   * @param {import('./agent-threads.cjs').AgentThreads} threads
   * @param {AgentThread} embedder
   * @param {FrameRequest} request
   * @param {AbortSignal} signal
   */
  constructor(host, threads, embedder, request, signal) {
    this.#host = host;
    this.#threads = threads;
    this.#embedder = embedder;
    this.#request = request;
    this.#signal = signal;
  }

  /**
   * Shows the document, or an error page if its server cannot be reached or refuses.
   *
   * @throws {Error} why the frame stays empty
   */
  async load() {
    if (this.#embedder.owner !== undefined) throw new LoadRefused('a worker has no frames');
    try {
      await this.#loadDocument();
    } catch (error) {
      const hasServer = /^https?:/.test(this.#request.url);
      if (this.#signal.aborted || error instanceof NoDocument || !hasServer) throw error;
      this.#showErrorPage(error);
    }
  }

  /** @throws {Error} why there is no document */
  async #loadDocument() {
    const { asker } = this.#request;
    // The thread that asks for the document is the client: what a frame may load by itself, and with which cookies,
    // does not depend on the page around it.
    const client = asker === undefined ? this.#embedder : this.#threads.byId(asker);
    if (client === undefined) throw new LoadRefused('the frame has ended');
    let response;
    try {
      response = await this.#fetch(client);
      this.#signal.throwIfAborted();
    } catch (error) {
      if (error instanceof NetworkError) this.#report(error.timing);
      throw error;
    }
    let isReported = true;
    try {
      this.#show(this.#request, response, client);
    } catch (error) {
      isReported = !(error instanceof NoDocument);
      throw error;
    } finally {
      if (isReported) this.#report(response.timing);
    }
  }

  /**
   * What a frame of another origin loads by itself is no resource of its embedder, which must not learn the URL.
   *
   * @param {Response['timing']} timing
   */
  #report(timing) {
    const { asker, window, url, initiator } = this.#request;
    if (asker === undefined) this.#embedder.handle.post({ type: 'fetched', window, url, initiator, timing });
  }

  /**
   * Shows an empty document of an origin of its own. So the page around it does not learn whether a server could not be
   * reached, or has answered and forbids to be framed.
   * https://html.spec.whatwg.org/multipage/browsing-the-web.html#navigate-failed
   *
   * @param {unknown} error why there is no document
   */
  #showErrorPage(error) {
    const url = 'about:blank';
    const sandbox = { ...this.#request.sandbox, allowsScripts: false, allowsSameOrigin: false };
    this.#show({ ...this.#request, url, sandbox }, localDocument(url), this.#embedder, messageOf(error));
  }

  /**
   * Shows a document in the thread of its embedder if both have the same origin, else in a thread of its own.
   *
   * @param {FrameRequest} request
   * @param {Response} response
   * @param {AgentThread} client
   * @param {string} [error] why an error page is shown
   */
  #show(request, response, client, error) {
    const embedder = this.#embedder;
    const { id, window, frame, allow, src, embedderPolicy, isIsolated, isolated } = request;
    const around = { ...embedder.document, embedderPolicy, isolated };
    const described = describeFrame(response, around, {
      sandbox: combine(embedder.document.sandbox, request.outerSandbox, request.sandbox),
      allow,
      src,
      isEmbedderIsolated: embedder.document.isIsolated && isIsolated,
      asker: client === embedder ? around : client.document,
    });
    const document = { ...described, startedAt: this.#startedAt, timing: response.timing };
    let base;
    if (request.url.startsWith('about:')) base = client === embedder ? request.base : client.document.url;
    const content = { body: response.body, referrer: documentReferrer(request.referrer, response.url), base };
    this.#threads.closeFrame(embedder, frame);
    if (document.origin === embedder.document.origin) {
      embedder.handle.post({ type: 'frame', id, document, content });
      return;
    }
    const thread = this.#threads.open(document, content, { thread: embedder, window, frame, request: id });
    // Not its origin, to which a redirect may have led: the embedder must not learn that.
    embedder.handle.post({ type: 'frame', id, remote: { thread: thread.id, frame: 0 }, error });
  }

  /** @param {AgentThread} client @returns {Promise<Response>} */
  async #fetch(client) {
    const { url, referrer, asker, text } = this.#request;
    if (parseUrl(url).protocol === 'about:') {
      // Only the document around the frame has an attribute `srcdoc` for it.
      const isKnown = /^about:blank(?:[?#]|$)/.test(url) || (asker === undefined && url === 'about:srcdoc');
      if (!isKnown) throw new LoadRefused(`${url} is no document`);
      return localDocument(url, url === 'about:srcdoc' ? text : undefined);
    }
    return await this.#host.network.fetch(
      { url, mode: 'navigate', credentials: 'include', destination: 'iframe', referrer },
      this.#threads.clientOf(client),
      this.#signal,
    );
  }
}

/**
 * The document of about:srcdoc, or an empty one.
 *
 * @param {string} url
 * @param {Uint8Array} [text] in UTF-8
 * @returns {Response}
 */
function localDocument(url, text) {
  const body = text ?? new TextEncoder().encode('<html><head></head><body></body></html>');
  const headers = /** @type {[string, string][]} */ ([['content-type', 'text/html; charset=utf-8']]);
  return { type: 'basic', url, redirected: false, status: 200, statusText: '', headers, body };
}

module.exports = { FrameLoader };
