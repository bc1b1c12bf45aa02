'use strict';

const { BufferBudget } = require('../fetch/buffer-budget.cjs');
const { DEFAULT_BODY_LIMIT, Transport } = require('../fetch/http.cjs');
const { useJsdom } = require('../fetch/jsdom-packages.cjs');
const { findLibrary } = require('../client/find-jsdom.cjs');
const { checkHostOptions } = require('../client/host-options.cjs');
const { prepareFlags } = require('./node-flags.cjs');
const { packageFolders } = require('./package-folders.cjs');
const { KeptRequests } = require('./kept-requests.cjs');
const { resolveInThread } = require('./name-thread.cjs');
const { PageContext } = require('./page-context.cjs');
const { StorageAreas } = require('./page-storage.cjs');
const { SharedCookies } = require('./shared-cookies.cjs');
const { ThreadHandle } = require('./thread-handle.cjs');
const { keepAlive } = require('./time-limit.cjs');

const { version } = require('../../package.json');

/** @typedef {import('./page.cjs').Page} Page */

/** @typedef {{ folder: string, version: string, packages: string[] }} Library jsdom; `packages` is where it and what it requires are */

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

/** How long closing waits for requests that outlive their documents, in milliseconds. */
const KEPT_TIMEOUT = 3_000;

/** @type {Partial<Record<NodeJS.Platform, string>>} */
const PLATFORMS = { linux: 'X11; Linux x86_64', darwin: 'Macintosh', win32: 'Windows NT 10.0' };

/** What the pages of a host share: where jsdom is, and cookies if the user wants that. Users do not see it. */
class BrowserContext {
  #library;
  /** The cookies of all pages; undefined if each page has its own. @type {SharedCookies | undefined} */
  #cookies;
  /** The same of localStorage. */
  #localStorage;
  /** @type {Set<ThreadHandle>} */
  #threads = new Set();
  /** @type {Set<Page>} */
  #pages = new Set();
  /** Pages that close. @type {Set<Promise<void>>} */
  #closing = new Set();
  #options;
  keptRequests = new KeptRequests();
  /** Those for requests that outlive their documents, of each page. @type {Set<Transport>} */
  #keptTransports = new Set();
  userAgent;
  bodyLimit;
  /** The default timeout, in milliseconds. */
  timeout;
  /** How many threads a page may have. */
  threadLimit;

  /** @param {import('../../index.js').PageHostOptions & { sampleBudget?: number, threadLimit?: number }} [options] */
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
    bodyLimit = DEFAULT_BODY_LIMIT,
    cookies = 'page',
  } = {}) {
    checkHostOptions({ memoryLimit, bodyLimit, timeout, cookies, ignoreCertificateErrors });
    prepareFlags();
    const found = findLibrary(jsdom);
    this.#library = { ...found, packages: packageFolders(found.folder) };
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
    this.#cookies = cookies === 'host' ? new SharedCookies() : undefined;
    this.userAgent = agent;
    this.bodyLimit = bodyLimit;
    this.#localStorage = new StorageAreas(new BufferBudget(bodyLimit));
  }

  /**
   * Connections of their own: there are 16 to each server, and a page can keep its server from answering.
   *
   * @param {Pick<import('../fetch/http.cjs').TransportOptions, 'owner'>} [options]
   */
  newTransport(options = {}) {
    return new Transport({ ...this.#options.network, ...options, isUnref: true, resolve: resolveInThread });
  }

  /** As `newTransport`, open until the host is closed. @param {Parameters<BrowserContext['newTransport']>[0]} [options] */
  newKeptTransport(options = {}) {
    const transport = this.newTransport(options);
    this.#keptTransports.add(transport);
    return transport;
  }

  /** @param {Transport} transport */
  closeKeptTransport(transport) {
    this.#keptTransports.delete(transport);
    transport.close();
  }

  /** What the threads of a new page share. */
  newPageContext() {
    const shared = this.#cookies && { cookies: this.#cookies, localStorage: this.#localStorage };
    return new PageContext(this, shared);
  }

  /**
   * @param {'page' | 'worker'} kind what is to be opened in it
   * @param {import('tough-cookie').SerializedCookieJar | undefined} cookies
   * @param {Int32Array} pageState see any-realm/page-state.cjs
   */
  startThread(kind, cookies, pageState) {
    prepareFlags();
    const thread = new ThreadHandle({
      library: this.#library,
      cookies,
      options: this.#options,
      kind,
      pageState,
    });
    this.#threads.add(thread);
    thread.on('exit', () => this.#threads.delete(thread));
    return thread;
  }

  /** How many threads run, for tests. */
  get threads() {
    return this.#threads.size;
  }

  /** The cookies of all pages. */
  get #shared() {
    if (this.#cookies === undefined) throw new Error('each page of this host has its own cookies');
    return this.#cookies;
  }

  /** @param {string} url */
  cookiesFor(url) {
    return this.#shared.jar.list(url);
  }

  /** Stores a cookie as if a response had set it. @param {string} url @param {string} text */
  storeCookie(url, text) {
    this.#shared.share({ url, cookie: text, isHttp: true });
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
    this.#closing.add(closing);
    const forget = () => this.#closing.delete(closing);
    closing.then(forget, forget);
    return closing;
  }

  async close() {
    await keepAlive(() => this.#close());
  }

  async #close() {
    await Promise.all([...this.pages().map((page) => page.close()), ...this.#closing]);
    await Promise.all([...this.#threads].map((thread) => thread.terminate()));
    await this.keptRequests.settled(KEPT_TIMEOUT);
    for (const transport of this.#keptTransports) transport.close();
    this.#keptTransports.clear();
  }
}

module.exports = { BrowserContext };
