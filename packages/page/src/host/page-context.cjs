'use strict';

// What the threads of one page share: its cookies, its storage, and the network as the host uses it for them.

const { messageOf } = require('../client/errors.cjs');
const { Network } = require('../fetch/network.cjs');
const { NetworkError } = require('../fetch/request.cjs');
const { PageStorage } = require('./page-storage.cjs');
const { SharedCookies } = require('./shared-cookies.cjs');

/** @typedef {import('../fetch/cookies.cjs').CookieChange} CookieChange */
/** @typedef {import('../fetch/request.cjs').Client} Client */
/** @typedef {import('./thread-handle.cjs').ThreadHandle} ThreadHandle */

/** How long a request that outlives its document may take, in milliseconds. */
const MAX_TIME = 30_000;

class PageContext {
  #host;
  #cookies;
  /**
   * The connections of the page, and those of its own documents: what its frames wait for must not keep the user from
   * leaving it.
   */
  #transports;
  network;
  topLevelNetwork;
  /** What the page's documents leave for later ones. */
  storage;
  /** The user's scripts that run in each window before any other. @type {string[]} */
  initScripts = [];
  /** Requests that outlive their documents. @type {Set<Promise<unknown>>} */
  #kept = new Set();
  /** Threads of the page. @type {Set<ThreadHandle>} */
  #threads = new Set();

  /**
   * @param {import('./browser-context.cjs').BrowserContext} host
   * @param {{ cookies: SharedCookies, localStorage: import('./page-storage.cjs').ItemsByOrigin } | undefined} shared by
   *   all pages of the host
   */
  constructor(host, shared) {
    this.#host = host;
    this.#cookies = shared?.cookies ?? new SharedCookies();
    this.storage = new PageStorage(shared?.localStorage ?? new Map());
    this.#transports = [host.newTransport(), host.newTransport()];
    const [network, topLevelNetwork] = this.#transports.map(
      (transport) => new Network(transport, this.#cookies.jar, host.userAgent),
    );
    this.network = network;
    this.topLevelNetwork = topLevelNetwork;
  }

  /**
   * Makes a request for a thread, and returns what the thread gets.
   *
   * @param {import('../fetch/request.cjs').Request} request
   * @param {Client} client
   * @param {AbortSignal} signal
   */
  async answerOf(request, client, signal) {
    try {
      return { response: await this.network.fetch(request, client, signal) };
    } catch (error) {
      return { error: messageOf(error), timing: error instanceof NetworkError ? error.timing : undefined };
    }
  }

  /**
   * Sends a request that outlives its document. https://fetch.spec.whatwg.org/#request-keepalive-flag
   *
   * @param {Client} client
   * @param {ThreadHandle} handle of the thread that gets the answer, if it is still there
   * @param {import('../page/thread-messages.js').KeptRequest} message
   */
  async startKept(client, handle, { id, request }) {
    const kept = this.answerOf(request, client, AbortSignal.timeout(MAX_TIME));
    this.#kept.add(kept);
    handle.post({ type: 'answer', id, ...(await kept) });
    this.#kept.delete(kept);
  }

  /** Closes the connections, once the requests have an answer that outlive the page. */
  async close() {
    await Promise.all(this.#kept);
    for (const transport of this.#transports) transport.close();
  }

  /** Has jsdom loaded for the next document. */
  warm() {
    this.#host.pool.warm();
  }

  /** @param {import('./thread-pool.cjs').Kind} kind what is to be opened in it @param {import('../fetch/document-description.cjs').Description & { profile?: object | undefined }} document */
  takeThread(kind, { profiling, profile }) {
    const thread = this.#host.takeThread(kind, profiling ?? (profile === undefined ? 'lazy' : 'eager'));
    this.#cookies.add(thread);
    this.#threads.add(thread);
    thread.on('exit', () => this.#threads.delete(thread));
    if (this.network.intercept !== undefined) thread.post({ type: 'intercepting', isIntercepted: true });
    return thread;
  }

  /**
   * Has the user decide about the requests of the page, or no longer.
   *
   * @param {import('../fetch/network.cjs').Intercept | undefined} intercept
   */
  setIntercept(intercept) {
    this.network.intercept = intercept;
    this.topLevelNetwork.intercept = intercept;
    for (const thread of this.#threads) thread.post({ type: 'intercepting', isIntercepted: intercept !== undefined });
  }

  /** The cookies that a request of the user for a URL would carry. @param {string} url */
  cookiesFor(url) {
    return this.#cookies.jar.list(url);
  }

  /**
   * Stores a cookie as if a response had set it.
   *
   * @param {string} url
   * @param {string} cookie
   * @returns {boolean} whether it is valid
   */
  storeCookie(url, cookie) {
    return this.#cookies.share({ url, cookie, isHttp: true });
  }

  /** The cookies that a thread begins with. */
  saveCookies() {
    return this.#cookies.jar.save();
  }

  /** A thread stored a cookie. @param {CookieChange} change @param {ThreadHandle} from */
  shareCookie(change, from) {
    this.#cookies.share(change, from);
  }
}

module.exports = { PageContext };
