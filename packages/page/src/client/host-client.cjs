'use strict';

const { HostChild } = require('./host-child.cjs');
const { findLibrary } = require('./find-jsdom.cjs');
const { checkHostOptions, checkOpenOptions, toTimeout } = require('./host-options.cjs');
const { Page, lose, receive } = require('./page-client.cjs');

/** @typedef {Omit<import('../../index.js').PageHost, 'open' | 'pages'>} PublicPageHost the members that have nothing to do with `Page` */

/**
 * Opens pages, in a process that it starts with the first one.
 *
 * @implements {PublicPageHost}
 */
class PageHost {
  #options;
  #timeout;
  /** @type {{ child: HostChild, started: Promise<unknown> } | undefined} */
  #host;
  /** By the handles of their windows. @type {Map<string, Page>} */
  #pages = new Map();

  /** @param {import('../../index.js').PageHostOptions} [options] */
  constructor(options = {}) {
    checkHostOptions(options);
    const { jsdom, timeout = 30_000 } = options;
    this.#timeout = toTimeout(timeout);
    this.#options = { cookies: 'page', ...options, timeout: this.#timeout, jsdom: findLibrary(jsdom).folder };
  }

  /** The pages that are open. */
  get pages() {
    return [...this.#pages.values()];
  }

  /** The process of the pages, which is started if there is none. */
  #running() {
    if (this.#host !== undefined && !this.#host.child.hasEnded) return this.#host;
    const child = new HostChild(
      (event) => {
        const page = this.#pages.get(event.window);
        if (page !== undefined) receive(page, event);
      },
      (error) => {
        if (this.#host?.child === child) this.#host = undefined;
        for (const page of this.pages) lose(page, child, error);
      },
    );
    this.#host = { child, started: child.call('start', this.#options) };
    return this.#host;
  }

  /**
   * Opens a page.
   *
   * @param {string | URL} [url] of its document, or a path on disk; an empty document by default
   * @param {import('../../index.js').OpenOptions} [options]
   */
  async open(url = 'about:blank', options = {}) {
    checkOpenOptions(options);
    const { on = {}, ...navigation } = options;
    const { child, started } = this.#running();
    await started;
    const { window } = await child.call('open', { url: null });
    const page = new Page(child, window, { timeout: this.#timeout, onClose: () => this.#pages.delete(window) });
    this.#pages.set(window, page);
    try {
      for (const [type, listener] of Object.entries(on)) page.on(type, /** @type {() => void} */ (listener));
      await page.goto(url, navigation);
    } catch (error) {
      await page.close();
      throw error;
    }
    return page;
  }

  /** Closes all pages, and ends their process. */
  async close() {
    const host = this.#host;
    if (host === undefined) return;
    this.#host = undefined;
    await Promise.all(this.pages.map((page) => page.close()));
    try {
      await host.started;
      await host.child.call('end', {});
    } catch (error) {
      if (!host.child.hasEnded) throw error;
    } finally {
      await host.child.kill();
    }
  }

  async [Symbol.asyncDispose]() {
    await this.close();
  }
}

module.exports = { PageHost };
