'use strict';

// Loads what the thread's documents request. What a page may learn about a response is decided here: of an image of another origin only its
// size, of a script of another origin not its text. Why a request failed goes to the page's user.

const { withoutFragment } = require('../fetch/without-fragment.cjs');
const { getHeader } = require('../fetch/headers.cjs');
const { charset } = require('../fetch/mime-type.cjs');
const { NetworkError } = require('../fetch/request.cjs');
const { KeepaliveRequests } = require('./keepalive-requests.cjs');
const { toPageRequest } = require('./page-request.cjs');
const { runClassicScript } = require('./script-compilation.cjs');
const { decodeScript } = require('./script-encoding.cjs');
const { checkIntegrity } = require('./subresource-integrity.cjs');
const { visibleResponse } = require('./visible-response.cjs');

/** @typedef {import('./page-request.cjs').RequestOfPage} RequestOfPage */
/** @typedef {import('../fetch/request.cjs').Response} Response */
/** @typedef {(answer: any, bytes: Uint8Array) => void} OnAnswer gets plain data, with an `error` if the request failed */
/** @typedef {ReturnType<typeof toPageRequest> & { body?: Uint8Array | null }} LoadRequest */
/** @typedef {RequestOfPage & { url: string, source?: string, base: string, line: number, column: number }} ModuleRequest a module script, or the text of one */

/**
 * A frame whose document is to be loaded.
 *
 * @typedef {Pick<import('./thread-messages.js').FrameRequest, 'url' | 'referrer' | 'asker' | 'base' | 'window' | 'frame' | 'initiator' | 'sandbox' | 'allow' | 'src'> &
 *   { text?: string | undefined }} RequestedFrame
 */

const NO_BYTES = new Uint8Array();

/** What a page learns about a request that failed. */
const FAILED = { error: 'the request failed' };

/** https://fetch.spec.whatwg.org/#dom-request */
const WITHOUT_BODY = new Set(['GET', 'HEAD']);

class Loader {
  #thread;
  network;
  #keepalive;
  /** @type {Map<number, AbortController>} */
  #running = new Map();
  /** Frames whose documents are being loaded. @type {Map<number, { onDone: OnAnswer, request: import('./reports.cjs').FailedRequest }>} */
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
    this.network = network;
    this.#keepalive = new KeepaliveRequests(thread);
  }

  /**
   * Starts a request of the page. If it fails, the page's user gets the reason, and the page that it failed.
   *
   * @param {RequestOfPage} given
   * @param {OnAnswer} onDone
   * @param {(request: LoadRequest, signal: AbortSignal) => Promise<[answer: object, bytes?: Uint8Array]>} work
   * @returns {number} what `abort` takes
   */
  #start(given, onDone, work) {
    const id = this.#nextId++;
    const controller = new AbortController();
    this.#running.set(id, controller);
    const finish = (/** @type {object} */ answer, /** @type {Uint8Array} */ bytes) => {
      if (this.#running.delete(id)) this.#thread.enter(() => onDone(answer, bytes));
    };
    const run = async () => await work(this.#check(given), controller.signal);
    run().then(
      ([answer, bytes = NO_BYTES]) => finish(answer, bytes),
      (error) => {
        const { initiator = 'other', url, window } = given;
        if (this.#running.has(id)) this.#thread.reports.loadFailure({ initiator, url, window }, error);
        finish(FAILED, NO_BYTES);
      },
    );
    return id;
  }

  /** A request as it is made. @param {RequestOfPage} given */
  #check(given) {
    const request = toPageRequest(given);
    return { ...request, referrer: this.#thread.windows.referrerOf(request.window, request.referrer) };
  }

  /** Whether a request is pending. */
  get isBusy() {
    return this.#running.size + this.#frames.size > 0;
  }

  /** @param {number} id */
  abort(id) {
    if (this.#frames.delete(id)) this.#thread.tell({ type: 'end frame', id });
    this.#running.get(id)?.abort();
    this.#running.delete(id);
  }

  /** Whether the page's user decides about requests: with `Page.route`. @param {boolean} isIntercepted */
  intercept(isIntercepted) {
    const ask = async (/** @type {import('../fetch/network.cjs').InterceptedRequest} */ request) =>
      (await this.#thread.ask({ type: 'intercept', request })).interception;
    this.network.intercept = isIntercepted ? ask : undefined;
  }

  /** The documents are gone. */
  close() {
    for (const id of [...this.#running.keys(), ...this.#frames.keys()]) this.abort(id);
  }

  /**
   * Gives jsdom a response as the page may see it.
   *
   * @param {RequestOfPage} request
   * @param {Uint8Array | undefined} body
   * @param {OnAnswer} onDone
   */
  fetch(request, body, onDone) {
    // Copied at once, because the page may change it.
    const bytes = body === undefined ? null : new Uint8Array(body);
    return this.#start(request, onDone, async (checked, signal) => {
      if (bytes !== null && WITHOUT_BODY.has(checked.method))
        throw new Error(`a request with the method ${checked.method} has no body`);
      const response = await this.#load({ ...checked, body: bytes }, signal);
      checkIntegrity(response, checked.integrity);
      return visibleResponse(response, checked);
    });
  }

  /**
   * Gives jsdom the response to a synchronous request.
   *
   * @param {RequestOfPage} given
   * @param {Uint8Array | undefined} body
   * @returns {[answer: any, bytes?: Uint8Array]} plain data, with an `error` if the request failed
   */
  sendNow(given, body) {
    try {
      const request = this.#check(given);
      return visibleResponse(this.fetchNow({ ...request, body: body ?? null }), request);
    } catch (error) {
      const { initiator = 'other', url, window } = given;
      this.#thread.reports.loadFailure({ initiator, url, window }, error);
      return [FAILED];
    }
  }

  /**
   * Has the host fetch, and waits for it. The response is not filtered.
   *
   * @param {LoadRequest} request
   * @returns {Response}
   * @throws {NetworkError}
   */
  fetchNow({ window, initiator, keepalive, ...request }) {
    const { windows } = this.#thread;
    const { embedderPolicy } = windows.clientOf(window);
    const {
      error,
      response,
      timing = response?.timing,
    } = this.#thread.askNow({
      type: 'fetch now',
      request,
      embedderPolicy,
    });
    windows.reportResource(window, request.url, initiator, timing);
    if (response === undefined) throw new NetworkError(error);
    return response;
  }

  /**
   * Fetches a classic script. The caller gets a handle to run it by.
   * https://html.spec.whatwg.org/multipage/webappapis.html#fetch-a-classic-script
   *
   * @param {RequestOfPage & { encoding: string }} request
   * @param {OnAnswer} onDone
   */
  fetchScript({ encoding, ...request }, onDone) {
    return this.#start(request, onDone, async (checked, signal) => {
      const response = await this.fetchForHost({ ...checked, destination: 'script' }, signal);
      if (response.status < 200 || response.status > 299)
        throw new Error(`${response.url} answered ${response.status}`);
      const source = decodeScript(response.body, charset(getHeader(response.headers, 'content-type')) ?? encoding);
      return [{ handle: this.keepScript(request.url, response, source), muted: response.type === 'opaque' }];
    });
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
    const handle = this.#nextId++;
    const muted = response.type === 'opaque';
    this.#scripts.set(handle, { source, url: withoutFragment(url), base: response.url, muted });
    return handle;
  }

  /**
   * Has the host load the document of a frame: the host decides in which thread the document will live.
   *
   * @param {RequestedFrame} requested
   * @param {OnAnswer} onDone
   */
  fetchFrame({ text = '', ...requested }, onDone) {
    const { windows } = this.#thread;
    const { window, initiator, url, asker } = requested;
    const record = windows.ofFrame(window);
    const id = this.#nextId++;
    this.#frames.set(id, { onDone, request: { window, initiator, url } });
    /** @type {import('./thread-messages.js').FrameRequest} */
    const request = {
      ...requested,
      type: 'frame',
      id,
      referrer: asker === undefined ? windows.referrerOf(window, requested.referrer) : requested.referrer,
      isIsolated: record?.isIsolated === true,
      embedderPolicy: windows.clientOf(window).embedderPolicy,
      isolated: record?.document.isolated,
      outerSandbox: record?.document.sandbox,
      text: text === '' ? undefined : new TextEncoder().encode(text),
    };
    // Nobody knows what the document may do when the window is gone.
    if (record === undefined) setImmediate(() => this.onFrame({ id, error: 'the window of the frame is closed' }));
    else this.#thread.tell(request);
    return id;
  }

  /**
   * The answer of the host.
   *
   * @param {{ id: number, error?: string, isUnchanged?: boolean, remote?: object,
   *   document?: import('./thread-messages.js').PageDocument, content?: import('./thread-messages.js').DocumentContent }} message
   */
  onFrame({ id, error, isUnchanged, document, content, remote }) {
    const waiting = this.#frames.get(id);
    if (waiting === undefined) return;
    this.#frames.delete(id);
    const { onDone, request } = waiting;
    if (document === undefined || content === undefined) {
      if (error !== undefined) this.#thread.reports.loadFailure(request, new Error(error));
      const answer = remote === undefined ? { ...FAILED, isUnchanged } : { remote };
      this.#thread.enter(() => onDone(answer, NO_BYTES));
      return;
    }
    const answer = this.#thread.describe(document, content);
    this.#thread.enter(() => onDone(answer, content.body));
  }

  /**
   * Runs a script that was fetched. Of a muted one, the page does not get what it returns or throws.
   *
   * @param {object} window
   * @param {number} handle
   * @returns {unknown} its completion value
   */
  run(window, handle) {
    const script = this.#scripts.get(handle);
    if (script === undefined) throw new Error('there is no such script, or it was run');
    this.#scripts.delete(handle);
    const { realm, bases, frame } = this.#thread.windows.withScripts(window);
    if (!script.muted) {
      bases.set(script.url, script.base);
      return runClassicScript(realm, script.source, script.url);
    }
    // Its base URL is where redirects have led. Another script of the same URL would resolve specifiers by it, and tell the page.
    try {
      runClassicScript(realm, script.source, script.url, { muted: true });
      return undefined;
    } catch (thrown) {
      this.#thread.reports.mutedException(frame, script.url, thrown);
      throw undefined;
    }
  }

  /**
   * Fetches, and reports to the window how long that took. https://w3c.github.io/resource-timing/#mark-resource-timing
   *
   * @param {LoadRequest} request
   * @param {AbortSignal} [signal]
   * @returns {Promise<Response>}
   */
  async #load({ window, initiator, keepalive = false, ...request }, signal) {
    const { windows } = this.#thread;
    const report = (/** @type {Response['timing']} */ timing) =>
      windows.reportResource(window, request.url, initiator, timing);
    try {
      const isKept = keepalive && /^https?:/.test(request.url);
      const client = windows.clientOf(window);
      const response = isKept
        ? await this.#keepalive.fetch(request, client)
        : await this.network.fetch(request, client, signal);
      report(response.timing);
      return response;
    } catch (error) {
      if (!signal?.aborted) report(/** @type {{ timing?: Response['timing'] }} */ (error).timing);
      throw error;
    }
  }

  /**
   * Fetches a script or a module: the response is not filtered.
   *
   * @param {LoadRequest} request
   * @param {AbortSignal} [signal]
   */
  async fetchForHost(request, signal) {
    const response = await this.#load(request, signal);
    checkIntegrity(response, request.integrity);
    return response;
  }

  /**
   * Fetches a module script and what it imports.
   *
   * @param {object} window
   * @param {ModuleRequest} request
   * @param {OnAnswer} onDone
   */
  loadModule(window, request, onDone) {
    return this.#start(request, onDone, async ({ url, credentials, referrer, integrity }) => {
      const { modules } = this.#thread.windows.get(window);
      const { source, base, line, column } = request;
      const options = { credentials, referrer, integrity };
      const handle =
        source === undefined
          ? await modules.prepare({ ...options, url })
          : await modules.prepareInline({ ...options, source, name: withoutFragment(url), base, line, column });
      return [{ handle }];
    });
  }
}

module.exports = { Loader };
