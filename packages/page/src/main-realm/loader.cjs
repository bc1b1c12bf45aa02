'use strict';

// Loads what the thread's documents request. What a page may learn about a response is decided here, in the main realm. What it must not
// have never enters a realm that the page can look into: of an image there, that is all but its size, and of a script of another origin,
// its text. Why a request failed goes to the page's user.

const { FEATURE } = require('../any-realm/allow-attribute.cjs');
const { MAX_URL, withoutFragment } = require('../any-realm/claimed-url.cjs');
const { readSandbox } = require('../any-realm/sandbox-attribute.cjs');
const { getHeader } = require('../fetch/headers.cjs');
const { charset } = require('../fetch/mime-type.cjs');
const { checkLength, serializedUrl } = require('../fetch/request.cjs');
const { bytesOf } = require('./foreign-bytes.cjs');
const { AskedNavigations } = require('./asked-navigations.cjs');
const { isOwnError } = require('./own-objects.cjs');
const { readPageRequest } = require('./page-request.cjs');
const { runClassicScript } = require('./script-compilation.cjs');
const { decodeScript } = require('./script-encoding.cjs');
const { checkIntegrity } = require('./subresource-integrity.cjs');
const { visibleResponse } = require('./visible-response.cjs');

/** @typedef {import('../any-realm/realm-contracts.js').OnAnswer} OnAnswer */
/** @typedef {import('../fetch/request.cjs').Response} Response */

/**
 * A request of the main realm itself, or one of a page that was checked.
 *
 * @typedef {Omit<Parameters<import('../fetch/network.cjs').Network['fetch']>[0], 'window'> &
 *   { window: number, initiator: string, integrity?: string, keepalive?: boolean }} LoadRequest
 */

const NO_BYTES = new Uint8Array();

/** What a page learns about a request that failed. */
const FAILED = { error: 'the request failed' };

/** What a frame that is loading takes of the user's thread besides its texts, in characters. */
const FRAME_SIZE = 16 << 10;

/** The longest attribute `allow` of a frame element, in characters. A longer one allows nothing. */
const MAX_ALLOW = 10_000;

/** https://fetch.spec.whatwg.org/#dom-request */
const WITHOUT_BODY = new Set(['GET', 'HEAD']);

/** How many fetched scripts may wait to be run. */
const MAX_WAITING_SCRIPTS = 10_000;

/** Longer ones count as none. @param {string} text */
function ofUrl(text) {
  const url = serializedUrl(text);
  return url.length > MAX_URL ? '' : url;
}

class Loader {
  #thread;
  #network;
  /** @type {Map<number, AbortController>} */
  #running = new Map();
  /**
   * Frames whose documents are being loaded; `isSent` is whether the user's thread knows.
   *
   * @type {Map<number, { onDone: import('./foreign-functions.cjs').Callback, request: import('./reports.cjs').FailedRequest, isSent: boolean }>}
   */
  #frames = new Map();
  /** Navigations that frames of other threads ask for. */
  askedNavigations = new AskedNavigations();
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
   * Starts a request of the page. If it fails, the page's user gets the reason, and the page that it failed.
   *
   * @param {unknown} text JSON of the request
   * @param {OnAnswer} onDone
   * @param {(request: import('./page-request.cjs').PageRequest, signal: AbortSignal) =>
   *   Promise<[answer: object, bytes?: Uint8Array]>} work
   * @returns {number} what `abort` takes
   */
  #start(text, onDone, work) {
    const id = this.#nextId++;
    const controller = new AbortController();
    this.#running.set(id, controller);
    const answered = this.#thread.foreign.callable(onDone);
    const finish = (/** @type {object} */ answer, /** @type {Uint8Array} */ bytes) => {
      if (!this.#running.delete(id)) return;
      const forDom = this.#thread.bridge.bytesForDom(bytes);
      this.#thread.enter(() => answered(JSON.stringify(answer), forDom));
    };
    /** @type {import('./page-request.cjs').PageRequest | undefined} */
    let request;
    const run = async () => {
      const claimed = readPageRequest(text);
      request = { ...claimed, referrer: this.#thread.windows.referrerOf(claimed.window, claimed.referrer) };
      return await work(request, controller.signal);
    };
    run().then(
      ([answer, bytes = NO_BYTES]) => finish(answer, bytes),
      (error) => {
        if (request !== undefined && this.#running.has(id)) this.#thread.reports.loadFailure(request, error);
        finish(FAILED, NO_BYTES);
      },
    );
    return id;
  }

  /** Whether a request is pending. */
  get isBusy() {
    return this.#running.size + this.#frames.size > 0;
  }

  /** @param {number} id */
  abort(id) {
    if (this.#frames.get(id)?.isSent) this.#thread.tell({ type: 'end frame', id });
    this.#frames.delete(id);
    this.#running.get(id)?.abort();
    this.#running.delete(id);
  }

  /**
   * Gives the DOM realm a response as the page may see it.
   *
   * @param {unknown} text JSON of a request
   * @param {unknown} body
   * @param {OnAnswer} onDone
   */
  fetch(text, body, onDone) {
    if (typeof onDone !== 'function') return 0;
    // Copied at once, because the page may change it.
    const bytes = bytesOf(body)?.slice() ?? null;
    return this.#start(text, onDone, async (request, signal) => {
      // A server that does not expect a body takes it for the next request.
      if (bytes !== null && WITHOUT_BODY.has(request.method))
        throw new Error(`a request with the method ${request.method} has no body`);
      const response = await this.#load({ ...request, body: bytes }, signal);
      checkIntegrity(response, request.integrity);
      return visibleResponse(response, request);
    });
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
    return this.#start(text, onDone, async (request, signal) => {
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
    if (this.#scripts.size >= MAX_WAITING_SCRIPTS) throw new Error('too many scripts wait to be run');
    const handle = this.#nextId++;
    this.#scripts.set(handle, {
      source,
      url: withoutFragment(url),
      base: response.url,
      muted: response.type === 'opaque',
    });
    return handle;
  }

  /**
   * Has the user's thread load the document of a frame: that thread decides in which thread the document will live.
   *
   * @param {unknown} text JSON
   * @param {OnAnswer} onDone
   */
  fetchFrame(text, onDone) {
    if (typeof onDone !== 'function' || typeof text !== 'string') return 0;
    const claimed = JSON.parse(text);
    const window = Number(claimed.window);
    const { windows } = this.#thread;
    // What another document navigates the frame to is none of what this one says of it.
    const asked = this.askedNavigations.take(claimed.ticket);
    const { url, referrer, asker, srcdoc, base } =
      asked === undefined
        ? {
            url: serializedUrl(String(claimed.url)),
            referrer: windows.referrerOf(window, String(claimed.referrer)),
            asker: undefined,
            srcdoc: String(claimed.text ?? ''),
            base: String(claimed.base ?? ''),
          }
        : { ...asked, srcdoc: '', base: '' };
    const record = windows.ofFrame(window);
    const id = this.#nextId++;
    const initiator = String(claimed.initiator);
    const allow = String(claimed.allow ?? '');
    const waiting = {
      onDone: this.#thread.foreign.callable(onDone),
      request: { window, initiator, url },
      isSent: false,
    };
    this.#frames.set(id, waiting);
    /** @type {import('../any-realm/thread-messages.js').FrameRequest} */
    const request = {
      type: 'frame',
      id,
      window,
      frame: Number(claimed.frame),
      url,
      referrer,
      asker,
      // Read here, because it may be very long, and the user's thread has better things to do.
      sandbox: readSandbox(claimed.sandbox === null ? null : String(claimed.sandbox)),
      allow: allow.length > MAX_ALLOW ? `${FEATURE} 'none'` : allow,
      isIsolated: record?.isIsolated === true,
      embedderPolicy: windows.clientOf(window).embedderPolicy,
      isolated: record?.document.isolated,
      outerSandbox: record?.document.sandbox,
      src: ofUrl(String(claimed.src ?? '')),
      // A long one takes long to encode.
      text: srcdoc === '' ? undefined : new TextEncoder().encode(srcdoc),
      base: ofUrl(base),
      initiator,
    };
    const texts = [url, referrer, request.allow, request.src, base, initiator];
    // Two bytes a character.
    const size = texts.reduce(
      (sum, text) => sum + 2 * (text?.length ?? 0),
      FRAME_SIZE + (request.text?.byteLength ?? 0),
    );
    let error = 'too many documents of frames wait to be loaded';
    try {
      checkLength(url);
      // Nobody knows what the document may do then.
      if (record === undefined) throw new Error('the window of the frame is closed');
      const transferList = request.text === undefined ? [] : [request.text.buffer];
      waiting.isSent = this.#thread.tellLimited(request, { size, transferList });
    } catch (refusal) {
      error = /** @type {Error} */ (refusal).message;
    }
    if (!waiting.isSent) setImmediate(() => this.onFrame({ id, error }));
    return id;
  }

  /**
   * The answer of the user's thread.
   *
   * @param {{ id: number, error?: string, isUnchanged?: boolean, remote?: object,
   *   document?: import('../any-realm/thread-messages.js').PageDocument, content?: import('../any-realm/thread-messages.js').DocumentContent }} message
   */
  onFrame({ id, error, isUnchanged, document, content, remote }) {
    const waiting = this.#frames.get(id);
    if (waiting === undefined) return;
    this.#frames.delete(id);
    const { onDone, request } = waiting;
    if (document === undefined || content === undefined) {
      if (error !== undefined) this.#thread.reports.loadFailure(request, new Error(error));
      const answer = remote === undefined ? { ...FAILED, isUnchanged } : { remote };
      this.#thread.enter(() => onDone(JSON.stringify(answer), this.#thread.bridge.bytesForDom(NO_BYTES)));
      return;
    }
    const answer = JSON.stringify(this.#thread.describe(document, content));
    const bytes = this.#thread.bridge.bytesForDom(content.body);
    this.#thread.enter(() => onDone(answer, bytes));
  }

  /**
   * Runs a script that was fetched. Of a muted one, no realm of the page gets what it returns or throws: the text of an error alone can tell
   * what is in a file.
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
    // The page may have taken over the DOM realm before our code was in the window.
    this.#thread.fixedPrototypes.fix(window);
    // Its base URL is where redirects have led. Another script of the same URL would resolve specifiers by it, and tell the page.
    try {
      runClassicScript(realm, script.source, script.url, { muted: true });
      return undefined;
    } catch (thrown) {
      if (isOwnError(thrown)) throw thrown;
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
    const report = (/** @type {Response['timing']} */ timing) => {
      if (timing !== undefined)
        this.#thread.windows.ofFrame(window)?.native?.reportResource(request.url, initiator, timing);
    };
    try {
      const isKept = keepalive && /^https?:/.test(request.url);
      const client = this.#thread.windows.clientOf(window);
      const response = isKept
        ? await this.#thread.keepaliveRequests.fetch(request, client)
        : await this.#network.fetch(request, client, signal);
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
    return this.#start(text, onDone, async ({ url, credentials, referrer }) => {
      const { modules } = this.#thread.windows.get(window);
      const request = JSON.parse(/** @type {string} */ (text));
      const options = { credentials, referrer, integrity: String(request.integrity ?? '') };
      const handle =
        request.source === undefined
          ? await modules.prepare({ ...options, url })
          : await modules.prepareInline({
              ...options,
              source: String(request.source),
              name: this.#thread.windows.scriptUrlOf(window, url),
              base: String(request.base),
              line: request.line | 0,
              column: request.column | 0,
            });
      return [{ handle }];
    });
  }
}

module.exports = { Loader };
