'use strict';

const { Cookies } = require('../fetch/cookies.cjs');
const { Transport } = require('../fetch/http.cjs');
const { useJsdom } = require('../fetch/jsdom-packages.cjs');
const { Network } = require('../fetch/network.cjs');
const { findLibrary } = require('./find-jsdom.cjs');
const { ThreadHandle } = require('./thread-handle.cjs');

const { version } = require('../../package.json');

/** @typedef {import('../fetch/cookies.cjs').CookieChange} CookieChange */
/** @typedef {import('./page.cjs').Page} Page */

/**
 * Options of the host that its threads need, too.
 *
 * @typedef {object} ThreadOptions
 * @property {number} memoryLimit in megabytes
 * @property {number} sampleBudget
 * @property {number} threadLimit
 * @property {string} userAgent
 * @property {import('../fetch/http.cjs').TransportOptions} network
 */

/** @type {Partial<Record<NodeJS.Platform, string>>} */
const PLATFORMS = { linux: 'X11; Linux x86_64', darwin: 'Macintosh', win32: 'Windows NT 10.0' };

/** What the pages of a host share: cookies, the network, and where jsdom is. Users do not see it. */
class BrowserContext {
  #library;
  #cookies;
  /** @type {Set<ThreadHandle>} */
  #threads = new Set();
  /** @type {Set<Page>} */
  #pages = new Set();
  #options;
  #transport;
  network;
  /** The default timeout, in milliseconds. */
  timeout;
  /** How many threads a page may have. */
  threadLimit;

  /** @param {import('../../index.js').PageHostOptions} [options] */
  constructor({
    jsdom,
    timeout = 30_000,
    memoryLimit = 1_024,
    sampleBudget = 1_000_000,
    threadLimit = 16,
    userAgent,
    hosts,
    ca,
    ignoreCertificateErrors,
    bodyLimit,
  } = {}) {
    this.#library = findLibrary(jsdom);
    useJsdom(this.#library);
    this.timeout = timeout;
    this.threadLimit = threadLimit;
    const agent =
      userAgent ??
      `Mozilla/5.0 (${PLATFORMS[process.platform]}) AppleWebKit/537.36 (KHTML, like Gecko) jsdom/${this.#library.version} selfprof/${version}`;
    /** @type {ThreadOptions} */
    this.#options = {
      memoryLimit,
      sampleBudget,
      threadLimit,
      userAgent: agent,
      network: { hosts, ca, ignoreCertificateErrors, bodyLimit },
    };
    this.#cookies = new Cookies(undefined, (change) => this.#postCookie(change));
    this.#transport = new Transport(this.#options.network);
    this.network = new Network(this.#transport, this.#cookies, agent);
  }

  /** @param {'page' | 'worker'} kind what is to be opened in it */
  startThread(kind) {
    const thread = new ThreadHandle({
      library: this.#library,
      cookies: this.#cookies.save(),
      options: this.#options,
      kind,
    });
    this.#threads.add(thread);
    thread.on('exit', () => this.#threads.delete(thread));
    return thread;
  }

  /** How many threads run, for tests. */
  get threads() {
    return this.#threads.size;
  }

  /** A thread stored a cookie: this jar and the other threads store it, too. @param {CookieChange} change @param {ThreadHandle} [from] */
  shareCookie(change, from) {
    this.#cookies.apply(change);
    this.#postCookie(change, from);
  }

  /** @param {string} url */
  cookiesFor(url) {
    return this.#cookies.list(url);
  }

  /** Stores a cookie as if a response had set it. @param {string} url @param {string} text */
  storeCookie(url, text) {
    this.shareCookie({ url, cookie: text, isHttp: true });
  }

  /** @param {CookieChange} change @param {ThreadHandle} [except] */
  #postCookie(change, except) {
    for (const thread of this.#threads) if (thread !== except) thread.postToMain({ type: 'cookie', change });
  }

  /** @param {Page} page */
  add(page) {
    this.#pages.add(page);
  }

  /** @param {Page} page */
  remove(page) {
    this.#pages.delete(page);
  }

  pages() {
    return [...this.#pages];
  }

  async close() {
    await Promise.all(this.pages().map((page) => page.close()));
    await Promise.all([...this.#threads].map((thread) => thread.terminate()));
    this.#transport.close();
  }
}

module.exports = { BrowserContext };
