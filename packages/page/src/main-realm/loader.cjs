'use strict';

// Loads what the thread's documents request. What a script may learn about a response is decided here, in the main realm: the text of a
// script of another origin never enters a realm that its page can look into.

const { types } = require('node:util');

const { visibleHeaders } = require('../fetch/cors.cjs');
const { getHeader } = require('../fetch/headers.cjs');
const { charset } = require('../fetch/mime-type.cjs');
const { readPageRequest, toCredentials } = require('./page-request.cjs');
const { runClassicScript } = require('./script-compilation.cjs');
const { decodeScript } = require('./script-encoding.cjs');
const { checkIntegrity } = require('./subresource-integrity.cjs');

/** @typedef {import('../any-realm/realm-contracts.js').OnAnswer} OnAnswer */
/** @typedef {import('../fetch/request.cjs').Response} Response */

/**
 * A request of the main realm itself, or one of a page that was checked.
 *
 * @typedef {Omit<Parameters<import('../fetch/network.cjs').Network['fetch']>[0], 'window'> &
 *   { window: number, initiator: string, integrity?: string }} LoadRequest
 */

/** Destinations whose bytes the DOM realm gets even when the page must not read them: it renders with them. */
const RENDERED = new Set(['image', 'style']);

/** How many fetched scripts may wait to be run. */
const MAX_WAITING_SCRIPTS = 10_000;

class Loader {
  #thread;
  #network;
  /** @type {Map<number, AbortController>} */
  #running = new Map();
  /** Frames whose documents are being loaded. @type {Map<number, OnAnswer>} */
  #frames = new Map();
  #nextId = 1;
  /** Fetched scripts that wait to be run. @type {Map<number, { source: string, url: string, base: string, muted: boolean }>} */
  #scripts = new Map();

  /**
   * @param {import('./page-thread.cjs').PageThread} thread
   * @param {import('../fetch/network.cjs').Network} network
   */
  constructor(thread, network) {
    this.#thread = thread;
    this.#network = network;
  }

  /**
   * @param {(signal: AbortSignal) => Promise<[answer: string, bytes: Uint8Array | undefined]>} work
   * @param {OnAnswer} onDone
   * @returns {number} what `abort` takes
   */
  #start(work, onDone) {
    const id = this.#nextId++;
    const controller = new AbortController();
    this.#running.set(id, controller);
    const finish = (/** @type {string} */ answer, /** @type {Uint8Array | undefined} */ bytes) => {
      if (!this.#running.delete(id)) return;
      this.#thread.enter(() => onDone(answer, /** @type {Uint8Array} */ (bytes)));
    };
    work(controller.signal).then(
      ([answer, bytes]) => finish(answer, bytes),
      (error) => finish(JSON.stringify({ error: String(error.message) }), undefined),
    );
    return id;
  }

  /** Whether a request is pending. */
  get isBusy() {
    return this.#running.size + this.#frames.size > 0;
  }

  /** @param {number} id */
  abort(id) {
    this.#frames.delete(id);
    this.#running.get(id)?.abort();
    this.#running.delete(id);
  }

  /**
   * Gives the DOM realm a response as scripts may see it.
   *
   * @param {unknown} text JSON of a request
   * @param {unknown} body
   * @param {OnAnswer} onDone
   */
  fetch(text, body, onDone) {
    if (typeof onDone !== 'function') return 0;
    // Copied at once, because the page may change it.
    const bytes = types.isUint8Array(body) ? new Uint8Array(body) : null;
    return this.#start(async (signal) => {
      const request = readPageRequest(text);
      const response = await this.#load({ ...request, body: bytes }, signal);
      const isOpaque = response.type === 'opaque' || response.type === 'opaqueredirect';
      const visible = {
        type: response.type,
        url: isOpaque ? '' : response.url,
        redirected: response.redirected && !isOpaque,
        status: isOpaque ? 0 : response.status,
        statusText: isOpaque ? '' : response.statusText,
        headers: visibleHeaders(response, request.credentials),
      };
      if (!RENDERED.has(request.destination)) {
        return [JSON.stringify(visible), this.#thread.bridge.bytesForDom(isOpaque ? new Uint8Array() : response.body)];
      }
      const rendered = { ...visible, url: response.url, status: response.status, headers: response.headers };
      return [JSON.stringify(rendered), this.#thread.bridge.bytesForDom(response.body)];
    }, onDone);
  }

  /**
   * Fetches a classic script. The DOM realm gets a handle to run it by.
   * https://html.spec.whatwg.org/multipage/webappapis.html#fetch-a-classic-script
   *
   * @param {string} text JSON of a request, with the `encoding` and the `integrity` of the element
   * @param {OnAnswer} onDone
   */
  fetchScript(text, onDone) {
    if (typeof onDone !== 'function') return 0;
    return this.#start(async (signal) => {
      const request = readPageRequest(text);
      const { encoding, integrity } = JSON.parse(text);
      const response = await this.fetchForHost(
        { ...request, destination: 'script', integrity: String(integrity ?? '') },
        signal,
      );
      if (response.status < 200 || response.status > 299)
        throw new Error(`${response.url} answered ${response.status}`);
      const source = decodeScript(
        response.body,
        charset(getHeader(response.headers, 'content-type')) ?? String(encoding),
      );
      const muted = response.type === 'opaque';
      return [JSON.stringify({ handle: this.keepScript(request.url, response, source), muted }), undefined];
    }, onDone);
  }

  /**
   * Keeps a fetched script until it is run.
   *
   * @param {string} url that it is run under: that of the request, because redirects must not show a page where they lead
   * @param {Response} response
   * @param {string} source
   * @returns {number} a handle
   */
  keepScript(url, response, source) {
    if (this.#scripts.size >= MAX_WAITING_SCRIPTS) throw new Error('too many scripts wait to be run');
    const handle = this.#nextId++;
    this.#scripts.set(handle, { source, url, base: response.url, muted: response.type === 'opaque' });
    return handle;
  }

  /**
   * Has the user's thread load the document of a frame: that thread decides in which thread the document will live.
   *
   * @param {string} text JSON
   * @param {OnAnswer} onDone
   */
  fetchFrame(text, onDone) {
    if (typeof onDone !== 'function') return 0;
    const { url, referrer, window, frame, isSandboxed, initiator } = JSON.parse(String(text));
    const id = this.#nextId++;
    this.#frames.set(id, onDone);
    const source = {
      window: Number(window),
      frame: Number(frame),
      isSandboxed: isSandboxed === true,
      initiator: String(initiator),
    };
    this.#thread.tell({ type: 'frame', id, url: String(url), referrer: String(referrer), ...source });
    return id;
  }

  /**
   * The answer of the user's thread.
   *
   * @param {{ id: number, error?: string, remote?: object,
   *   document?: import('../any-realm/thread-messages.js').PageDocument, content?: import('../any-realm/thread-messages.js').DocumentContent }} message
   */
  onFrame({ id, error, document, content, remote }) {
    const onDone = this.#frames.get(id);
    if (onDone === undefined) return;
    this.#frames.delete(id);
    if (document === undefined || content === undefined) {
      this.#thread.enter(() => onDone(JSON.stringify({ error, remote }), /** @type {any} */ (undefined)));
      return;
    }
    const answer = JSON.stringify(this.#thread.describe(document, content));
    const bytes = this.#thread.bridge.bytesForDom(content.body);
    this.#thread.enter(() => onDone(answer, bytes));
  }

  /**
   * Runs a script that was fetched.
   *
   * @param {object} window
   * @param {number} handle
   */
  run(window, handle) {
    const script = this.#scripts.get(handle);
    if (script === undefined) throw new Error('there is no such script, or it was run');
    this.#scripts.delete(handle);
    const { realm, bases } = this.#thread.windows.get(window);
    bases.set(script.url, script.base);
    return runClassicScript(realm, script.source, script.url, { muted: script.muted });
  }

  /**
   * Fetches, and reports to the window how long that took. https://w3c.github.io/resource-timing/#mark-resource-timing
   *
   * @param {LoadRequest} request
   * @param {AbortSignal} [signal]
   * @returns {Promise<Response>}
   */
  async #load({ window, initiator, ...request }, signal) {
    const report = (/** @type {Response['timing']} */ timing) => {
      if (timing !== undefined)
        this.#thread.windows.ofFrame(window)?.native?.reportResource(request.url, initiator, timing);
    };
    try {
      const response = await this.#network.fetch(request, this.#thread.client, signal);
      report(response.timing);
      return response;
    } catch (error) {
      if (!signal?.aborted) report(/** @type {{ timing?: Response['timing'] }} */ (error).timing);
      throw error;
    }
  }

  /**
   * Fetches for the main realm itself: the response is not filtered.
   *
   * @param {LoadRequest} request
   * @param {AbortSignal} [signal]
   */
  async fetchForHost({ integrity = '', ...request }, signal) {
    const response = await this.#load(request, signal);
    checkIntegrity(response, integrity);
    return response;
  }

  /**
   * Fetches a module script and what it imports.
   *
   * @param {object} window
   * @param {unknown} text JSON of a request
   * @param {OnAnswer} onDone
   */
  loadModule(window, text, onDone) {
    if (typeof onDone !== 'function') return 0;
    return this.#start(async () => {
      const { modules } = this.#thread.windows.get(window);
      const request = JSON.parse(String(text));
      const options = {
        credentials: toCredentials(request.credentials),
        referrer: String(request.referrer ?? ''),
        integrity: String(request.integrity ?? ''),
      };
      const handle =
        request.url === undefined
          ? await modules.prepareInline({
              ...options,
              source: String(request.source),
              name: String(request.name),
              base: String(request.base),
              line: request.line | 0,
              column: request.column | 0,
            })
          : await modules.prepare({ ...options, url: String(request.url) });
      return [JSON.stringify({ handle }), undefined];
    }, onDone);
  }
}

module.exports = { Loader };
