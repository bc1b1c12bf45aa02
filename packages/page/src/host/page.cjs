'use strict';

// A page, and the documents that it shows one after the other.

const { EventEmitter } = require('node:events');

const { describePage } = require('../fetch/document-description.cjs');
const { now } = require('../fetch/fetch-timing.cjs');
const { newOpaqueOrigin } = require('../fetch/origin.cjs');
const { documentReferrer, referrerOf } = require('../fetch/referrer.cjs');
const { AgentThreads } = require('./agent-threads.cjs');
const { PageError, TERMINATED, messageOf } = require('../client/errors.cjs');
const { LoadState } = require('./load-state.cjs');
const { toHeaders, toRecordingOptions, toUrl, toWaitUntil } = require('../client/navigate-options.cjs');
const { withTimeout } = require('./time-limit.cjs');

/** @typedef {import('../../index.js').NavigateOptions} NavigateOptions */
/** @typedef {import('../../index.js').PageEventMap} PageEventMap */
/** @typedef {import('../page/thread-messages.js').ThreadAnswer} ThreadAnswer */
/** @typedef {import('../page/thread-messages.js').PageMessage} PageMessage */
/** @typedef {import('../fetch/headers.cjs').HeaderList} HeaderList */
/** @typedef {import('../fetch/origin.cjs').Origin} Origin */
/** @typedef {import('./agent-thread.cjs').AgentThread} AgentThread */
/** @typedef {import('../client/navigate-options.cjs').WaitUntil} WaitUntil */

/**
 * How a document is loaded.
 *
 * @typedef {object} LoadOptions
 * @property {WaitUntil} waitUntil
 * @property {string} referrer
 * @property {string} [root]
 * @property {HeaderList} [headers] that replace the response's
 * @property {Origin} [initiator] origin of the document that asked for the navigation; undefined for the user
 * @property {Origin} [repeated] the same of an earlier navigation that the user repeats
 * @property {string} [content] the HTML of the document, which is then not fetched
 */

/**
 * A document of a page, with its threads.
 *
 * @typedef {object} ShownDocument
 * @property {AgentThreads} threads
 * @property {AgentThread} main the thread of the document itself
 * @property {LoadState} loadState
 */

/** @typedef {{ request: AbortController, isLeaving: boolean }} Navigation `isLeaving` is whether the user asked for it and it has no document yet: the page cannot replace it */

/** How long a page must have been idle for `waitUntil: 'idle'`, in milliseconds. */
const IDLE_TIME = 500;

/** How long a page may take to answer a ping after a script timed out, in milliseconds. */
const PING_TIMEOUT = 1_000;

/**
 * A script of the user, with its parameters as client/cloned-values.cjs writes them.
 *
 * @typedef {{ source: string, isFunction: boolean, parameters: Uint8Array, frame?: number, timeout?: number }}
 *   ScriptCall
 */

/**
 * See {@link import('../../index.js').Page} for its events; `url` says that the document has another one.
 *
 * @extends {EventEmitter<PageEventMap & { url: [url: string] }>}
 */
class Page extends EventEmitter {
  #host;
  context;
  /** @type {ShownDocument | undefined} */
  #document;
  #url = 'about:blank';
  #isClosed = false;
  /** @type {Promise<void> | undefined} */
  #closing;
  #isVisible = true;
  /** The navigation that the page itself asked for last, while it is under way. @type {Promise<void> | undefined} */
  requested;
  /** The navigation that began last: it wins over those before. @type {Navigation | undefined} */
  #navigation;
  /** Settled once the last document that was replaced is gone. @type {Promise<unknown> | undefined} */
  #replaced;
  /** Who asked for the document, if it was not the user. @type {Origin | undefined} */
  initiator;
  /** Counts documents: references into one document are invalid in the next. */
  documentNumber = 0;
  /**
   * How the load is recorded, of this document and of those that it navigates to.
   *
   * @type {import('../page/thread-messages.js').RecordingOptions | undefined}
   */
  #recording;

  /** @param {import('./browser-context.cjs').BrowserContext} host */
  constructor(host) {
    super();
    this.#host = host;
    this.context = host.newPageContext();
  }

  /** The URL of the document. */
  get url() {
    return this.#url;
  }

  get closed() {
    return this.#isClosed;
  }

  get threads() {
    return this.#document?.threads;
  }

  /** Whether the thread of the document runs. */
  get isAlive() {
    return this.#document?.threads.has(this.#document.main) ?? false;
  }

  /**
   * Loads a document. `content` is its HTML, which is then not fetched. A navigation that the user repeats has the
   * cookies, and `Sec-Fetch-Site`, that it had when the origin `repeated` asked for it.
   *
   * @param {string | URL} url a URL, or a path on disk
   * @param {NavigateOptions & { repeated?: Origin | undefined, content?: string }} [options]
   */
  async navigate(
    url,
    { waitUntil = 'load', timeout = this.#host.timeout, referrer = '', root, headers, profile, repeated, content } = {},
  ) {
    const state = toWaitUntil(waitUntil);
    this.#assertOpen();
    const target = toUrl(url);
    const options = { waitUntil: state, referrer, root, headers: toHeaders(headers, target), repeated, content };
    this.#recording = profile === undefined ? undefined : toRecordingOptions(profile);
    return await withTimeout(
      timeout,
      `loading ${url}`,
      () => this.#load(target, options),
      () => {
        // A response that arrives later must not replace the document.
        this.#navigation?.request.abort();
        this.#navigation = undefined;
        if (this.#document !== undefined) endIfBusy(this.#document.main);
      },
    );
  }

  /** @param {URL} url @param {LoadOptions} options */
  async #load(url, { waitUntil, referrer, root, headers = [], initiator, repeated, content }) {
    const navigation = { request: new AbortController(), isLeaving: initiator === undefined };
    const source = initiator ?? repeated;
    const startedAt = now();
    this.#navigation?.request.abort();
    this.#navigation = navigation;
    // jsdom is loaded while the response arrives. The next document of a page gets the thread of this one.
    if (this.#document === undefined) this.context.warm();
    let document;
    try {
      const response =
        content === undefined
          ? await this.#fetch(url, { referrer, initiator: source, signal: navigation.request.signal })
          : ownResponse(url, content);
      const replaced = new Set(headers.map(([name]) => name));
      response.headers = [...response.headers.filter(([name]) => !replaced.has(name)), ...headers];
      this.#assertCurrent(navigation, url.href);
      document = await this.#commit(response, { navigation, startedAt, root, referrer, initiator: source });
      navigation.isLeaving = false;
      await this.#waitFor(waitUntil, document);
      return { url: response.url, status: response.status, headers: response.headers };
    } catch (error) {
      navigation.isLeaving = false;
      if (document === undefined) this.#assertCurrent(navigation, url.href);
      this.#assertOpen();
      throw error;
    }
  }

  /**
   * @param {URL} url
   * @param {{ referrer: string, initiator: Origin | undefined, signal: AbortSignal }} options
   * @returns {Promise<import('../fetch/request.cjs').Response>}
   */
  async #fetch(url, { referrer, initiator, signal }) {
    if (url.protocol === 'about:') return ownResponse(url, '');
    return await this.context.topLevelNetwork.fetch(
      {
        url: url.href,
        mode: 'navigate',
        credentials: 'include',
        destination: 'document',
        referrer,
        isTopLevel: true,
      },
      { origin: initiator ?? newOpaqueOrigin(), isUser: initiator === undefined, embedderPolicy: 'unsafe-none' },
      signal,
    );
  }

  /**
   * Replaces the document.
   *
   * @param {import('../fetch/request.cjs').Response} response
   * @param {{ navigation: Navigation, startedAt: number, root: string | undefined, referrer: string, initiator: Origin
   *   | undefined }} options
   */
  async #commit(response, { navigation, startedAt, root, referrer, initiator }) {
    const description = describePage(response, root);
    await this.#document?.threads.unload();
    this.#assertCurrent(navigation, response.url);
    if (initiator === undefined) this.#document?.loadState.fail(new Error('another navigation replaced the document'));
    this.#replaced = this.#document?.threads.closeAll();
    await this.#replaced;
    this.#assertCurrent(navigation, response.url);
    this.documentNumber += 1;
    this.#url = description.url;
    this.initiator = initiator;
    const threads = new AgentThreads(
      this.context,
      {
        onMessage: (thread, message) => this.#onMessage(thread, message),
        onCrash: (thread, error) => this.#onCrash(thread, error),
      },
      this.#isVisible,
    );
    const { timing } = response;
    const content = { body: response.body, referrer: documentReferrer(referrer, response.url) };
    const main = threads.open({ ...description, startedAt, timing, profile: this.#recording }, content);
    const document = { threads, main, loadState: new LoadState() };
    this.#document?.loadState.passTo(document.loadState);
    this.#document = document;
    this.emit('navigated', this.#url);
    return document;
  }

  /** @param {AgentThread} thread @param {Error} error */
  #onCrash(thread, error) {
    if (thread === this.#document?.main) {
      this.#document.loadState.fail(error);
      this.emit('crash', error);
    } else {
      this.emit('problem', { kind: 'crash', text: error.message, url: thread.document.url, frame: 0 });
    }
  }

  /** Waits until the current document has reached a state. @param {WaitUntil} state */
  async waitFor(state) {
    if (this.#document !== undefined) await this.#waitFor(state, this.#document);
  }

  /**
   * Waits for the document, or the one that it navigates to meanwhile.
   *
   * @param {WaitUntil} state
   * @param {ShownDocument} document
   */
  async #waitFor(state, { loadState }) {
    const milestone = state === 'idle' ? 'load' : state;
    await loadState.waitFor(milestone);
    if (state === 'idle') await this.#document?.main.handle.ask({ type: 'await idle', quiet: IDLE_TIME }).answer;
  }

  /** @param {AgentThread} thread @param {PageMessage} message */
  #onMessage(thread, message) {
    if (this.#isClosed || this.#document === undefined) return;
    const { threads, loadState } = this.#document;
    // A window that is gone may still have reported something.
    const window = 'frame' in message && thread.windows.has(message.frame) ? message.frame : 0;
    const frame = threads.numberOf(thread, window);
    switch (message.type) {
      case 'DOMContentLoaded':
      case 'load': {
        if (frame !== 0) return;
        const milestone = message.type === 'load' ? 'load' : 'domcontentloaded';
        loadState.reach(milestone);
        this.emit(milestone);
        return;
      }
      case 'window at':
        if (frame !== 0) return;
        this.#url = message.url;
        this.emit('url', message.url);
        return;
      case 'navigate':
        this.#requestNavigation(message);
        return;
      case 'console':
        this.emit('console', { method: message.method, text: message.text, frame });
        return;
      case 'exception': {
        const { type, ...exception } = message;
        // Not `error`: Node ends a program that has no listener for that.
        this.emit('pageerror', { ...exception, frame });
        return;
      }
      case 'problem': {
        const { type, ...problem } = message;
        this.emit('problem', { ...problem, frame });
        return;
      }
      default:
    }
  }

  /** The page asks to be navigated. @param {Extract<PageMessage, { type: 'navigate' }>} message */
  #requestNavigation({ url, referrer }) {
    if (this.#navigation?.isLeaving) return;
    const { protocol } = new URL(url);
    // A page of the network must not navigate to files.
    const isFromDisk = this.#url.startsWith('file:');
    if (protocol === 'http:' || protocol === 'https:' || (protocol === 'file:' && isFromDisk)) {
      const document = this.#document?.main.document;
      if (document === undefined) return;
      const options = { referrer: referrerOf(referrer, document), initiator: document.origin };
      const navigation = this.#navigateAsRequested(url, options).then(() => {
        if (this.requested === navigation) this.requested = undefined;
      });
      this.requested = navigation;
      return;
    }
    this.#reportNavigation(`a page may not navigate to URLs of the scheme ${protocol}`, url);
  }

  /** @param {string} text why a navigation that the page asked for fails @param {string} url */
  #reportNavigation(text, url) {
    this.emit('problem', { kind: 'navigation', text, url, frame: 0 });
  }

  /**
   * Never rejects.
   *
   * @param {string} url
   * @param {{ referrer: string, initiator: Origin }} options `initiator` is who asks
   */
  async #navigateAsRequested(url, options) {
    try {
      await this.#load(new URL(url), { waitUntil: 'commit', ...options });
    } catch (error) {
      if (this.#isClosed) return;
      this.#reportNavigation(messageOf(error), url);
    }
  }

  /** The windows of the page: itself and its frames. */
  frames() {
    return this.#document?.threads.frames() ?? [];
  }

  /** The dedicated workers of the page, of its frames, and of workers. */
  workers() {
    return this.#document?.threads.workers() ?? [];
  }

  /**
   * Runs a function, or an expression, in a frame or a worker and returns its awaited result.
   *
   * @param {ScriptCall} call
   * @returns {Promise<import('../client/cloned-values.cjs').ClonedValue>}
   * @throws {PageError} the script threw, or its result cannot be cloned
   * @throws {import('../client/errors.cjs').TimeoutError} after which a page that does not respond is terminated
   */
  async evaluate({ source, isFunction, parameters: written, frame = 0, timeout = this.#host.timeout }) {
    this.#assertOpen();
    const parameters = { bytes: new Uint8Array(written).buffer, buffers: [], shared: [], ports: [], objects: [] };
    const request = { type: 'evaluate', source, isFunction, parameters };
    const { error, record } = await this.ask(frame, request, { timeout, what: 'the script' });
    if (error !== undefined) throw new PageError(error);
    if (record === undefined) throw new TypeError('the page has given no result');
    return { bytes: new Uint8Array(record.bytes), objects: record.objects };
  }

  /**
   * @param {number} frame
   * @param {object} request for the window of the frame
   * @param {{ timeout: number, what: string }} limit
   */
  async ask(frame, request, { timeout, what }) {
    const { thread, window } = await this.#find(frame);
    const asked = thread.handle.ask(/** @type {any} */ ({ ...request, frame: window }));
    return this.#answerOf(thread, asked, what, timeout);
  }

  /**
   * Ends the recording that `profile` asked for.
   *
   * @param {number} timeout
   * @returns {Promise<Uint8Array>} the trace as gzipped JSON
   */
  async takeProfile(timeout) {
    this.#assertOpen();
    const main = this.#document?.main;
    if (this.#recording === undefined || main === undefined)
      throw new Error('no recording was started\n\nhint: navigate with the option `profile`');
    const asked = main.handle.ask({ type: 'take profile' });
    const { bytes, error } = await this.#answerOf(main, asked, 'ending the recording', timeout);
    if (error !== undefined || bytes === undefined) throw new Error(error);
    return bytes;
  }

  /**
   * Makes each running profiler of a frame take a sample as soon as the page's thread is free.
   * https://wicg.github.io/js-self-profiling/#force-sample
   *
   * @param {{ frame?: number, timeout?: number }} [options]
   * @throws {import('../client/errors.cjs').TimeoutError} after which a page that does not respond is terminated
   */
  async forceSample({ frame = 0, timeout = this.#host.timeout } = {}) {
    this.#assertOpen();
    const { error } = await this.ask(frame, { type: 'force sample' }, { timeout, what: 'forcing a sample' });
    if (error !== undefined) throw new Error(error);
  }

  /**
   * Moves the page to the background, or back. Navigations do not change it.
   * https://html.spec.whatwg.org/multipage/interaction.html#page-visibility
   *
   * @param {boolean} isVisible
   * @param {{ timeout?: number }} [options]
   * @throws {import('../client/errors.cjs').TimeoutError} after which a page that does not respond is terminated
   */
  async setVisible(isVisible, { timeout = this.#host.timeout } = {}) {
    this.#assertOpen();
    if (typeof isVisible !== 'boolean') throw new TypeError('setVisible takes true or false');
    this.#isVisible = isVisible;
    const what = isVisible ? 'showing the page' : 'hiding the page';
    const document = this.#document;
    if (document === undefined) return;
    const answers = document.threads.setVisible(isVisible).map(async ({ thread, asked }) => {
      try {
        await this.#answerOf(thread, asked, what, timeout);
      } catch (error) {
        // A frame that has gone meanwhile is not visible, and has nothing more to do.
        if (thread === document.main || document.threads.has(thread)) throw error;
      }
    });
    await Promise.all(answers);
  }

  /** A call that comes while the document is replaced is for the next one. @param {number} frame */
  async #find(frame) {
    await this.#replaced;
    if (this.#document !== undefined && !this.isAlive) throw new Error(TERMINATED);
    const target = this.#document?.threads.find(frame);
    if (target === undefined) throw new Error(`the page has no frame ${frame}`);
    return target;
  }

  /**
   * Waits for an answer. A thread that answers neither in time nor to a ping after that is terminated.
   *
   * @param {AgentThread} thread
   * @param {import('./thread-handle.cjs').Asked} asked
   * @param {string} what
   * @param {number} timeout
   */
  #answerOf(thread, asked, what, timeout) {
    return withTimeout(
      timeout,
      what,
      () => asked.answer,
      () => {
        asked.forget();
        endIfBusy(thread);
      },
    );
  }

  /** @param {Navigation} navigation @param {string} url */
  #assertCurrent(navigation, url) {
    this.#assertOpen();
    if (navigation !== this.#navigation) throw new Error(`another navigation replaced the one to ${url}`);
  }

  #assertOpen() {
    if (this.#isClosed) throw new Error('the page is closed');
  }

  async close() {
    this.#closing ??= this.#host.awaitClosing(this.#close());
    await this.#closing;
  }

  async #close() {
    this.#isClosed = true;
    this.#host.remove(this);
    this.#navigation?.request.abort();
    await this.#document?.threads.unload();
    this.#document?.loadState.fail(new Error('the page is closed'));
    await this.#document?.threads.closeAll();
    this.#host.awaitLeaving(this.context.close());
    this.emit('close');
  }
}

/** Ends a thread whose event loop does not answer. @param {AgentThread} thread */
async function endIfBusy({ handle }) {
  const answer = await handle.answersInTime({ type: 'ping' }, PING_TIMEOUT);
  if (answer === undefined) await handle.terminate(new Error('the page does not respond'));
}

/**
 * A document that no server sends.
 *
 * @param {URL} url
 * @param {string} html
 * @returns {import('../fetch/request.cjs').Response}
 */
function ownResponse(url, html) {
  return {
    type: 'basic',
    url: url.href,
    redirected: false,
    status: 200,
    statusText: '',
    headers: [['content-type', 'text/html; charset=utf-8']],
    body: new TextEncoder().encode(html),
  };
}

module.exports = { Page };
