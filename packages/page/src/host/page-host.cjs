'use strict';

const { BrowserContext } = require('./browser-context.cjs');
const { Page } = require('./page.cjs');

/** @typedef {Omit<import('../../index.js').PageHost, 'open' | 'pages'>} PublicPageHost the members that have nothing to do with `Page` */

/** Lets the driver reach what users do not see. @type {(host: PageHost) => BrowserContext} */
let contextOf;

/**
 * Opens pages.
 *
 * @implements {PublicPageHost}
 */
class PageHost {
  #context;

  static {
    contextOf = (host) => host.#context;
  }

  /** @param {import('../../index.js').PageHostOptions} [options] */
  constructor(options) {
    this.#context = new BrowserContext(options);
  }

  /** The pages that are open. */
  get pages() {
    return this.#context.pages();
  }

  /**
   * Opens a page.
   *
   * @param {string | URL} [url] of its document, or a path on disk; an empty document by default
   * @param {import('../../index.js').OpenOptions} [options]
   */
  async open(url = 'about:blank', { on = {}, ...options } = {}) {
    const page = new Page(this.#context);
    this.#context.add(page);
    try {
      for (const [type, listener] of Object.entries(on)) page.on(type, /** @type {() => void} */ (listener));
      await page.navigate(url, options);
    } catch (error) {
      await page.close();
      throw error;
    }
    return page;
  }

  /** Closes all pages. */
  async close() {
    await this.#context.close();
  }

  async [Symbol.asyncDispose]() {
    await this.close();
  }
}

module.exports = { PageHost, contextOf };
