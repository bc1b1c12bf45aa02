'use strict';

const v8 = require('node:v8');

const { BrowserContext } = require('./browser-context.cjs');
const { Page } = require('./page.cjs');

/** @typedef {Omit<import('../../index.js').PageHost, 'open' | 'pages'>} PublicPageHost the members that have nothing to do with `Page` */

/** Lets the driver reach what users do not see. @type {(host: PageHost) => BrowserContext} */
let contextOf;

// asm.js becomes WebAssembly that no limit counts. Without this, it is JavaScript like any other. The flag is one for the process.
v8.setFlagsFromString('--no-validate-asm');

// The optimizing compiler takes gigabytes of memory for small functions of WebAssembly, which counts towards no limit. How much the baseline
// compiler takes is known before, see main-realm/wasm-memory.cjs. So it compiles everything.
for (const flag of ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) v8.setFlagsFromString(flag);

// The optimizing compilers of JavaScript recurse over what a script has made, without a look at the stack, and find that a graph has more nodes than
// they can count. On a thread that V8 has for them, that would end the process. On the thread of the page, that thread alone ends: see
// crates/v8/shim/lost_threads.cc. And what they take there is known to be of that thread: see memory-watch.cjs.
v8.setFlagsFromString('--no-concurrent-recompilation');

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
