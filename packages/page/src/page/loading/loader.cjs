'use strict';

// Loads what the thread's documents request. What a page may learn about a response is decided here: of an image of
// another origin only its size, of a script of another origin not its text. Why a request failed goes to the page's
// user.

const { labelToName, legacyHookDecode } = require('@exodus/bytes/encoding.js');
const { getHeader } = require('../../fetch/headers.cjs');
const { charset } = require('../../fetch/mime-type.cjs');
const { NetworkError } = require('../../fetch/request.cjs');
const { withoutFragment } = require('../../fetch/without-fragment.cjs');
const { runClassicScript } = require('../scripts/script-compilation.cjs');
const { checkIntegrity } = require('./subresource-integrity.cjs');
const { visibleResponse } = require('./visible-response.cjs');

/** @typedef {import('../../fetch/request.cjs').Response} Response */
/** @typedef {import('./visible-response.cjs').VisibleResponse} VisibleResponse */
/** @typedef {ReturnType<typeof toPageRequest>} PageRequest */

/**
 * A request of a page, as jsdom and our own modules in windows make it: `Headers` and `XMLHttpRequest` of jsdom decide
 * which headers a page may send.
 *
 * @typedef {object} RequestOfPage
 * @property {string} url
 * @property {string} [method]
 * @property {[string, string][]} [headers]
 * @property {'same-origin' | 'no-cors' | 'cors'} [mode]
 * @property {'omit' | 'same-origin' | 'include'} [credentials]
 * @property {'follow' | 'error' | 'manual'} [redirect]
 * @property {string} [destination]
 * @property {string} [referrer]
 * @property {string} [integrity]
 * @property {boolean} [usesPreflight]
 * @property {boolean} [keepalive] whether it outlives the document
 * @property {import('../windows/page-window.cjs').PageWindow} window that makes it
 * @property {string} [initiator] as Resource Timing names it
 */

/**
 * A classic script that was fetched. It runs under the URL of the request, because redirects must not show a page where
 * they lead: `base` is there.
 *
 * @typedef {import('../../window/contracts.js').FetchedScript} FetchedScript
 */

/**
 * The answer of the host to the request for a frame's document: a document of this thread, or the address of one in
 * another thread.
 *
 * @typedef {object} FrameAnswer
 * @property {import('../thread-messages.js').PageDocument} [document]
 * @property {import('../thread-messages.js').DocumentContent} [content]
 * @property {{ thread: number, frame: number }} [remote]
 * @property {boolean} [isUnchanged] whether the frame goes on to show what it shows, if there is neither
 */

/**
 * How many bytes the bodies of pending requests with `keepalive` may have together.
 * https://fetch.spec.whatwg.org/#http-network-or-cache-fetch
 */
const MAX_KEPT_BYTES = 64 << 10;

class Loader {
  #thread;
  network;
  #keptBytes = 0;
  /** @type {Set<AbortController>} */
  #running = new Set();
  /**
   * Frames whose documents are being loaded.
   *
   * @type {Map<number, { onDone: (answer: any) => void, request: import('./reports.cjs').FailedRequest }>}
   */
  #frames = new Map();
  #nextFrame = 1;

  /**
   * @param {import('../page-thread.cjs').PageThread} thread
   * @param {import('../../fetch/network.cjs').Network} network
   */
  constructor(thread, network) {
    this.#thread = thread;
    this.network = network;
  }

  /**
   * Starts to load something for the page.
   *
   * @template Result
   * @param {RequestOfPage} given
   * @param {(request: PageRequest, signal: AbortSignal) => Promise<Result>} load
   * @param {(result: Result | undefined) => void} onDone is called as a task. If it failed, the page's user gets the
   *   reason, and the page that it failed
   * @returns {() => void} aborts it
   */
  start(given, load, onDone) {
    const controller = new AbortController();
    this.#running.add(controller);
    const finish = (/** @type {Result | undefined} */ result) => {
      if (this.#running.delete(controller)) this.#thread.enter(() => onDone(result));
    };
    const run = async () => await load(this.#check(given), controller.signal);
    run().then(finish, (error) => {
      if (this.#running.has(controller)) this.#thread.reports.loadFailure(given, error);
      finish(undefined);
    });
    return () => {
      this.#running.delete(controller);
      controller.abort();
    };
  }

  /** A request as it is made. @param {RequestOfPage} given */
  #check(given) {
    return { ...toPageRequest(given), referrer: given.window.referrerOf(given.referrer ?? '') };
  }

  /** Whether a request is pending. */
  get isBusy() {
    return this.#running.size + this.#frames.size > 0;
  }

  /** Whether the page's user decides about requests: with `Page.route`. @param {boolean} isIntercepted */
  intercept(isIntercepted) {
    const ask = async (/** @type {import('../../fetch/network.cjs').InterceptedRequest} */ request) =>
      (await this.#thread.ask({ type: 'intercept', request })).interception;
    this.network.intercept = isIntercepted ? ask : undefined;
  }

  /** The documents are gone. */
  close() {
    for (const controller of this.#running) controller.abort();
    this.#running.clear();
    for (const id of this.#frames.keys()) this.#abortFrame(id);
  }

  /**
   * Gives the page a response as it may see it.
   *
   * @param {RequestOfPage} request
   * @param {Uint8Array | undefined} body
   * @param {(response: VisibleResponse | undefined) => void} onDone
   */
  fetch(request, body, onDone) {
    // Copied at once, because the page may change it.
    const bytes = body === undefined ? null : new Uint8Array(body);
    const load = async (/** @type {PageRequest} */ checked, /** @type {AbortSignal} */ signal) =>
      visibleResponse(await this.fetchUnfiltered({ ...checked, body: bytes }, signal), checked);
    return this.start(request, load, onDone);
  }

  /**
   * The response to a synchronous request.
   *
   * @param {RequestOfPage} given
   * @param {Uint8Array | undefined} body
   * @returns {VisibleResponse | undefined} undefined if the request failed
   */
  sendNow(given, body) {
    try {
      const request = this.#check(given);
      return visibleResponse(this.fetchNow({ ...request, body: body ?? null }), request);
    } catch (error) {
      this.#thread.reports.loadFailure(given, error);
      return undefined;
    }
  }

  /**
   * Has the host fetch, and waits for it. The response is not filtered.
   *
   * @param {PageRequest & { body?: Uint8Array | null }} request
   * @returns {Response}
   * @throws {NetworkError}
   */
  fetchNow({ window, initiator, keepalive, ...request }) {
    const { embedderPolicy } = window.client;
    const answer = this.#thread.askNow({ type: 'fetch now', request, embedderPolicy });
    const { error, response, timing = response?.timing } = answer;
    window.native?.reportResource(request.url, initiator, timing);
    if (response === undefined) throw new NetworkError(error);
    return response;
  }

  /**
   * Fetches without filtering the response, and reports to the window how long that took.
   * https://w3c.github.io/resource-timing/#mark-resource-timing
   *
   * @param {RequestOfPage & { body?: Uint8Array | null }} given
   * @param {AbortSignal} [signal]
   * @returns {Promise<Response>}
   */
  async fetchUnfiltered(given, signal) {
    const { window, initiator, integrity, keepalive, ...request } = toPageRequest(given);
    const { client } = window;
    /** @type {Response} */
    let response;
    try {
      response =
        keepalive && /^https?:/.test(request.url)
          ? await this.#fetchKept(request, client)
          : await this.network.fetch(request, client, signal);
    } catch (error) {
      if (!signal?.aborted) window.native?.reportResource(request.url, initiator, /** @type {any} */ (error).timing);
      throw error;
    }
    window.native?.reportResource(request.url, initiator, response.timing);
    checkIntegrity(response, integrity);
    return response;
  }

  /**
   * Has the host make a request that outlives its document: `fetch()` with `keepalive`, and `sendBeacon()`.
   * https://fetch.spec.whatwg.org/#request-keepalive-flag
   *
   * @param {import('../../fetch/request.cjs').Request} request
   * @param {import('../../fetch/request.cjs').Client} client
   * @returns {Promise<Response>}
   * @throws {NetworkError}
   */
  async #fetchKept(request, { embedderPolicy }) {
    const size = request.body?.byteLength ?? 0;
    if (this.#keptBytes + size > MAX_KEPT_BYTES)
      throw new NetworkError(`requests with keepalive may have ${MAX_KEPT_BYTES} bytes together`);
    this.#keptBytes += size;
    try {
      const { response, error, timing } = await this.#thread.ask({ type: 'keepalive', request, embedderPolicy });
      if (response === undefined) throw Object.assign(new NetworkError(error), { timing });
      return response;
    } finally {
      this.#keptBytes -= size;
    }
  }

  /**
   * Fetches a classic script. https://html.spec.whatwg.org/multipage/webappapis.html#fetch-a-classic-script
   *
   * @param {PageRequest} request
   * @param {string} encoding unless its server names another one
   * @param {AbortSignal} signal
   * @returns {Promise<FetchedScript>}
   */
  async fetchScript(request, encoding, signal) {
    const response = await this.fetchUnfiltered({ ...request, destination: 'script' }, signal);
    if (response.status < 200 || response.status > 299) throw new Error(`${response.url} answered ${response.status}`);
    const label = charset(getHeader(response.headers, 'content-type')) ?? encoding;
    return scriptOf(request.url, response, legacyHookDecode(response.body, labelToName(label) ?? 'UTF-8'));
  }

  /**
   * Runs a script that was fetched. Of a muted one, the page does not get what it returns or throws.
   *
   * @param {import('../windows/page-window.cjs').PageWindow} window
   * @param {FetchedScript} script
   * @returns {unknown} its completion value
   */
  run({ realm, bases, frame }, { source, url, base, muted }) {
    if (!muted) {
      bases.set(url, base);
      return runClassicScript(realm, source, url);
    }
    // Its base URL is where redirects have led. Another script of the same URL would resolve specifiers by it, and tell
    // the page.
    try {
      runClassicScript(realm, source, url, { muted: true });
      return undefined;
    } catch (thrown) {
      this.#thread.reports.mutedException(frame, url, thrown);
      throw undefined;
    }
  }

  /**
   * Has the host load the document of a frame: the host decides in which thread the document will live.
   *
   * @param {Omit<import('../thread-messages.js').FrameRequest, 'type' | 'id' | 'window' | 'isIsolated' |
   *   'embedderPolicy' | 'isolated' | 'outerSandbox'>} request
   * @param {import('../windows/page-window.cjs').PageWindow} window around the frame
   * @param {(answer: FrameAnswer) => void} onDone
   * @returns {() => void} aborts it
   */
  fetchFrame(request, window, onDone) {
    const { document, isIsolated, client, frame } = window;
    const id = this.#nextFrame++;
    const { initiator, url } = request;
    this.#frames.set(id, { onDone, request: { window, initiator, url } });
    this.#thread.tell({
      ...request,
      type: 'frame',
      id,
      window: frame,
      isIsolated,
      embedderPolicy: client.embedderPolicy,
      isolated: document.isolated,
      outerSandbox: document.sandbox,
    });
    return () => this.#abortFrame(id);
  }

  /** @param {number} id */
  #abortFrame(id) {
    if (this.#frames.delete(id)) this.#thread.tell({ type: 'end frame', id });
  }

  /** The answer of the host. @param {{ id: number, error?: string } & FrameAnswer} message */
  onFrame({ id, error, ...answer }) {
    const waiting = this.#frames.get(id);
    if (waiting === undefined) return;
    this.#frames.delete(id);
    if (error !== undefined) this.#thread.reports.loadFailure(waiting.request, new Error(error));
    this.#thread.enter(() => waiting.onDone(answer));
  }
}

/** A request with its defaults. @param {RequestOfPage} request */
function toPageRequest({ mode = 'no-cors', ...request }) {
  return {
    method: 'GET',
    headers: [],
    credentials: /** @type {const} */ ('same-origin'),
    destination: '',
    initiator: 'other',
    integrity: '',
    redirect: /** @type {const} */ ('follow'),
    referrer: '',
    mode,
    ...request,
  };
}

/**
 * @param {string} url of the request
 * @param {Response} response
 * @param {string} source
 * @returns {FetchedScript}
 */
function scriptOf(url, response, source) {
  return { source, url: withoutFragment(url), base: response.url, muted: response.type === 'opaque' };
}

module.exports = { Loader, scriptOf, toPageRequest };
