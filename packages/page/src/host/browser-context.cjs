'use strict';

const timers = require('node:timers/promises');

const { DEFAULT_BODY_LIMIT, Transport } = require('../fetch/http.cjs');
const { useJsdom } = require('../fetch/jsdom-packages.cjs');
const { findLibrary } = require('../client/find-jsdom.cjs');
const { packageFolders } = require('./package-folders.cjs');
const { PageContext } = require('./page-context.cjs');
const { SharedCookies } = require('./shared-cookies.cjs');
const { ThreadHandle } = require('./thread-handle.cjs');
const { ThreadPool } = require('./thread-pool.cjs');

const { version } = require('../../package.json');

/** @typedef {import('./page.cjs').Page} Page */

/**
 * Options of the host that its threads need, too.
 *
 * @typedef {object} ThreadOptions
 * @property {number} memoryLimit of a thread's heap, in megabytes
 * @property {string} userAgent
 * @property {import('../fetch/http.cjs').TransportOptions} network
 */

/** How long closing waits for requests that outlive their documents, in milliseconds. */
const KEPT_TIMEOUT = 3_000;

/** @type {Partial<Record<NodeJS.Platform, string>>} */
const PLATFORMS = { linux: 'X11; Linux x86_64', darwin: 'Macintosh', win32: 'Windows NT 10.0' };

/** What the pages of a host share: where jsdom is, threads, and cookies if the user wants that. Users do not see it. */
class BrowserContext {
  /**
   * What all pages share if they share cookies.
   *
   * @type {{ cookies: SharedCookies, localStorage: import('./page-storage.cjs').ItemsByOrigin } | undefined}
   */
  #shared;
  /** @type {Set<Page>} */
  #pages = new Set();
  /** Pages that close. @type {Set<Promise<void>>} */
  #closing = new Set();
  /** Pages whose last requests are not answered yet. @type {Set<Promise<void>>} */
  #leaving = new Set();
  #network;
  userAgent;
  pool;
  /** The default timeout, in milliseconds. */
  timeout;

  /** @param {import('../../index.js').PageHostOptions} [options] checked */
  constructor({
    jsdom,
    timeout = 30_000,
    memoryLimit = 1_024,
    userAgent,
    hosts,
    ca,
    ignoreCertificateErrors,
    bodyLimit = DEFAULT_BODY_LIMIT,
    cookies = 'page',
  } = {}) {
    const found = findLibrary(jsdom);
    const library = { ...found, packages: packageFolders(found.folder) };
    useJsdom(library);
    this.timeout = timeout;
    this.userAgent =
      userAgent ??
      `Mozilla/5.0 (${PLATFORMS[process.platform]}) AppleWebKit/537.36 (KHTML, like Gecko) jsdom/${library.version} selfprof/${version}`;
    const network = { hosts, ca, ignoreCertificateErrors, bodyLimit };
    this.#network = network;
    this.pool = new ThreadPool({ library, options: { memoryLimit, userAgent: this.userAgent, network } });
    this.#shared = cookies === 'host' ? { cookies: new SharedCookies(), localStorage: new Map() } : undefined;
  }

  /** Connections of a page: those of one need not wait for another. */
  newTransport() {
    return new Transport(this.#network);
  }

  /** What the threads of a new page share. */
  newPageContext() {
    return new PageContext(this, this.#shared);
  }

  /** @param {import('./thread-pool.cjs').Kind} kind @param {import('./thread-pool.cjs').Mode} mode */
  takeThread(kind, mode) {
    return new ThreadHandle(this.pool, this.pool.take(kind, mode));
  }

  /** The cookies of all pages. */
  get #cookies() {
    if (this.#shared === undefined) throw new Error('each page of this host has its own cookies');
    return this.#shared.cookies;
  }

  /** @param {string} url */
  cookiesFor(url) {
    return this.#cookies.jar.list(url);
  }

  /** Stores a cookie as if a response had set it. @param {string} url @param {string} text */
  storeCookie(url, text) {
    this.#cookies.share({ url, cookie: text, isHttp: true });
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

  /** Has the host wait for a page that closes. @param {Promise<void>} closing */
  awaitClosing(closing) {
    remember(this.#closing, closing);
    return closing;
  }

  /** Has the host wait for the requests that outlive a page, for some time. @param {Promise<void>} leaving */
  awaitLeaving(leaving) {
    remember(this.#leaving, leaving);
  }

  async close() {
    await Promise.all([...this.pages().map((page) => page.close()), ...this.#closing]);
    await this.pool.close();
    await Promise.race([Promise.all(this.#leaving), timers.setTimeout(KEPT_TIMEOUT, undefined, { ref: false })]);
  }
}

/** Keeps a promise in a set until it is settled. @param {Set<Promise<void>>} pending @param {Promise<void>} promise */
function remember(pending, promise) {
  pending.add(promise);
  const forget = () => pending.delete(promise);
  promise.then(forget, forget);
}

module.exports = { BrowserContext };
