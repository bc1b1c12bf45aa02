'use strict';

// The page host: several pages, one set of cookies, one way to the network.

const { Cookies } = require('./network/cookies.cjs');
const { Network } = require('./network/fetch.cjs');
const { Transport } = require('./network/http.cjs');
const { findLibrary } = require('./library.cjs');
const { Page } = require('./page.cjs');
const { ThreadHandle } = require('./thread.cjs');

const { version } = require('../../package.json');

/** What pages of a host share, for the pages alone. */
class HostInternals {
  #library;
  #cookies;
  #threads = new Set();
  #pages = new Set();
  #options;
  network;
  timeout;
  /** How many threads a page may have: one, and one for each frame of another origin and each worker. */
  threadLimit;

  constructor({ jsdom, timeout = 30_000, memoryLimit = 1_024, sampleBudget = 1_000_000, threadLimit = 16, userAgent, hosts, ca, ignoreCertificateErrors, bodyLimit } = {}) {
    this.#library = findLibrary(jsdom);
    this.timeout = timeout;
    this.threadLimit = threadLimit;
    const platform = { linux: 'X11; Linux x86_64', darwin: 'Macintosh', win32: 'Windows NT 10.0' }[process.platform];
    const agent = userAgent ?? `Mozilla/5.0 (${platform}) AppleWebKit/537.36 (KHTML, like Gecko) jsdom/${this.#library.version} selfprof/${version}`;
    this.#options = { memoryLimit, sampleBudget, threadLimit, userAgent: agent, network: { hosts, ca, ignoreCertificateErrors, bodyLimit } };
    this.#cookies = new Cookies(this.#library, undefined, (change) => this.#tellOthers(change));
    this.network = new Network(new Transport(this.#options.network), this.#cookies, agent);
  }

  /** @param {'page' | 'worker'} [kind] what is to be opened in it */
  startThread(kind = 'page') {
    const { library, cookies, options } = { library: this.#library, cookies: this.#cookies.save(), options: this.#options };
    const thread = new ThreadHandle({ library, cookies, options, kind });
    this.#threads.add(thread);
    thread.on('exit', () => this.#threads.delete(thread));
    return thread;
  }

  /** A page stored a cookie: the host and its other threads take it over. */
  shareCookie(change, from) {
    this.#cookies.apply(change);
    this.#tellOthers(change, from);
  }

  /** The cookies for a URL. */
  cookiesFor(url) {
    return this.#cookies.list(url);
  }

  /** Stores a cookie as a response would. */
  storeCookie(url, text) {
    this.shareCookie({ url, cookie: text, isHttp: true });
  }

  #tellOthers(change, except) {
    for (const thread of this.#threads) if (thread !== except) thread.control({ type: 'cookie', change });
  }

  add(page) {
    this.#pages.add(page);
  }

  forget(page) {
    this.#pages.delete(page);
  }

  pages() {
    return [...this.#pages];
  }

  async close() {
    await Promise.all(this.pages().map((page) => page.close()));
    await Promise.all([...this.#threads].map((thread) => thread.terminate()));
  }
}

/** What ./driver may have a host do, and no user. @type {(host: PageHost) => HostInternals} */
let innerHost;

/** Opens pages. */
class PageHost {
  #internals;

  static {
    innerHost = (host) => host.#internals;
  }

  constructor(options) {
    this.#internals = new HostInternals(options);
  }

  /** The pages that are open. */
  get pages() {
    return this.#internals.pages();
  }

  /**
   * Opens a page.
   *
   * @param {string | URL} [url] of its document, or a path on disk; an empty document by default
   * @param {object} [options] of `Page.navigate`
   */
  async open(url = 'about:blank', options = {}) {
    const page = new Page(this.#internals);
    this.#internals.add(page);
    for (const [type, listener] of Object.entries(options.on ?? {})) page.on(type, listener);
    try {
      await page.navigate(url, options);
    } catch (error) {
      await page.close();
      throw error;
    }
    return page;
  }

  /** Closes all pages. */
  async close() {
    await this.#internals.close();
  }

  async [Symbol.asyncDispose]() {
    await this.close();
  }
}

module.exports = { HostInternals, PageHost, innerHost };
