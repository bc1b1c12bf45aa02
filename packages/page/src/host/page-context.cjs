'use strict';

// What the threads of one page share: its cookies, its storage, and the network as the user's thread uses it for them.

const { PAGE_STATE, newPageState } = require('../any-realm/page-state.cjs');
const { BufferBudget } = require('../fetch/buffer-budget.cjs');
const { Network, newDecoders } = require('../fetch/network.cjs');
const { PageStorage, StorageAreas } = require('./page-storage.cjs');
const { SharedCookies } = require('./shared-cookies.cjs');

/** @typedef {import('../any-realm/thread-messages.js').KeptRequest} KeptRequest */
/** @typedef {import('../fetch/cookies.cjs').CookieChange} CookieChange */
/** @typedef {import('../fetch/http.cjs').Transport} Transport */
/** @typedef {import('../fetch/request.cjs').Client} Client */
/** @typedef {import('./thread-handle.cjs').ThreadHandle} ThreadHandle */

/** Why a page starts no thread, see `hasTooManyThreads`. */
const TOO_MANY_THREADS = 'too many threads of the page have not ended yet';

/** How many requests of a page may outlive its documents at once, and their size in kilobytes: workers that have ended may have sent them. */
const MAX_KEPT = 1_024;
const MAX_KEPT_SIZE = 2_048;

/** The number of the next page in this process. */
let nextNumber = 1;

class PageContext {
  #host;
  #cookies;
  /** The connections of the page's frames. */
  #transport;
  network;
  /** For the documents of the page itself: what its frames take must not keep the user from leaving it. */
  topLevelNetwork;
  #topLevelTransport;
  /** The connections of requests that outlive their documents, which other pages need not wait for. */
  #keptTransport;
  #keptNetwork;
  /** How many threads a page may have. */
  threadLimit;
  /** What the page's documents leave for later ones. */
  storage;
  /** Threads of the page that run, of all of its documents. */
  #running = 0;
  #kept = 0;
  #keptSize = 0;
  #isClosed = false;
  /** The responses that this thread holds for the page. */
  budget;
  #pageState = newPageState(nextNumber++);
  /** The user's scripts that run in each window before any other. @type {string[]} */
  initScripts = [];
  /** Decides about the requests of the page, if the user wants to. @type {import('../fetch/network.cjs').Intercept | undefined} */
  #intercept;

  /**
   * @param {import('./browser-context.cjs').BrowserContext} host
   * @param {{ cookies: import('./shared-cookies.cjs').SharedCookies, localStorage: StorageAreas } | undefined} shared by all pages of the host
   */
  constructor(host, shared) {
    const cookies = shared?.cookies ?? new SharedCookies();
    this.#host = host;
    this.#cookies = cookies;
    this.threadLimit = host.threadLimit;
    this.budget = new BufferBudget(host.bodyLimit);
    // As much again: items outlive their documents, and must not keep those that come later from loading anything.
    const stored = new BufferBudget(host.bodyLimit);
    this.storage = new PageStorage(shared?.localStorage ?? new StorageAreas(stored), stored);
    // The documents of the page have a share of their own, so that frames do not keep its user from leaving it.
    const owner = {};
    this.#transport = host.newTransport({ owner });
    /** @param {Transport} transport @param {BufferBudget} budget @param {import('../fetch/response-body.cjs').Decoders} decoders */
    const newNetwork = (transport, budget, decoders) =>
      new Network(transport, cookies.jar, host.userAgent, budget, decoders, async (request) => this.intercept(request));
    const decoders = newDecoders(true);
    this.network = newNetwork(this.#transport, this.budget, decoders);
    this.#topLevelTransport = host.newTransport();
    this.topLevelNetwork = newNetwork(this.#topLevelTransport, new BufferBudget(host.bodyLimit), newDecoders(true));
    this.#keptTransport = host.newKeptTransport({ owner });
    this.#keptNetwork = newNetwork(this.#keptTransport, this.budget, decoders);
  }

  /** Sends a request that outlives its document. @param {Client} client @param {ThreadHandle} handle @param {KeptRequest} message */
  async startKept(client, handle, message) {
    const { id, weight = 0 } = message;
    if (this.#kept === MAX_KEPT || this.#keptSize + weight > MAX_KEPT_SIZE) {
      handle.postToMain({ type: 'answer', id, error: 'too many requests with keepalive wait' });
      return;
    }
    this.#kept += 1;
    this.#keptSize += weight;
    await this.#host.keptRequests.start(this.#keptNetwork, client, handle, message);
    this.#kept -= 1;
    this.#keptSize -= weight;
    this.#closeKept();
  }

  /** @param {'page' | 'worker'} kind what is to be opened in it */
  startThread(kind) {
    const thread = this.#host.startThread(kind, this.#cookies.jar.save(), this.#pageState);
    this.#cookies.add(thread);
    this.#running += 1;
    thread.on('gone', () => {
      this.#running -= 1;
    });
    return thread;
  }

  /** Whether so many threads are ending that the page may start none, for a frame, a worker or a navigation: V8 does not interrupt each of its built-in functions. */
  get hasTooManyThreads() {
    return this.#running >= 2 * this.threadLimit;
  }

  /** Closes the connections, but those of requests that outlive the page. To be called when it is closed. */
  close() {
    this.#isClosed = true;
    this.#transport.close();
    this.#topLevelTransport.close();
    this.#closeKept();
  }

  #closeKept() {
    if (this.#isClosed && this.#kept === 0) this.#host.closeKeptTransport(this.#keptTransport);
  }

  /** @param {import('../fetch/network.cjs').Intercept | undefined} intercept */
  setIntercept(intercept) {
    this.#intercept = intercept;
    Atomics.store(this.#pageState, PAGE_STATE.isIntercepted, intercept === undefined ? 0 : 1);
  }

  /** @param {import('../fetch/network.cjs').InterceptedRequest} request */
  async intercept(request) {
    return await this.#intercept?.(request);
  }

  /** The cookies that a request of the user for a URL would carry. @param {string} url */
  cookiesFor(url) {
    return this.#cookies.jar.list(url);
  }

  /** Stores a cookie as if a response had set it. @param {string} url @param {string} cookie @returns {boolean} whether it is valid */
  storeCookie(url, cookie) {
    return this.#cookies.share({ url, cookie, isHttp: true });
  }

  /** A thread stored a cookie. @param {CookieChange} change @param {ThreadHandle} from */
  shareCookie(change, from) {
    this.#cookies.share(change, from);
  }
}

module.exports = { PageContext, TOO_MANY_THREADS };
