'use strict';

// What can be asked of the program that hosts pages. See main.cjs for how.

const { gunzipSync } = require('node:zlib');

const { Refused } = require('../automation.cjs');
const { PageHost, innerHost } = require('../host.cjs');
const { Page, takeProfile } = require('../page.cjs');
const { Window } = require('./window.cjs');

class Driver {
  #tell;
  #host;
  #windows = new Map();
  #next = 1;

  /** @param {(event: object) => void} tell is told what happens in pages */
  constructor(tell) {
    this.#tell = tell;
  }

  /**
   * Does what a method says.
   *
   * @param {string} method
   * @param {object} parameters plain data
   */
  async call(method, parameters) {
    if (!Object.hasOwn(this.#methods, method)) throw new Refused('unknown command', `there is no method ${method}`);
    return await this.#methods[method](parameters);
  }

  #window(handle) {
    const window = this.#windows.get(handle);
    if (window?.page === undefined || window.page.closed) throw new Refused('no such window', `there is no window ${handle}`);
    return window;
  }

  async #open(url, options) {
    const handle = `window${this.#next++}`;
    const window = new Window(handle, this.#tell);
    const page = url === null ? newPage(this.#host) : await this.#host.open(url, options);
    window.attach(page);
    this.#windows.set(handle, window);
    return { window: handle };
  }

  /** Times are in milliseconds; JSON has no infinite ones, so `null` stands for those. */
  #methods = {
    /** Makes the host. @see {import('../../../page.d.ts').PageHostOptions} */
    start: async (options) => {
      this.#host = new PageHost(options);
      return { node: process.version };
    },
    /** A window, with an empty document when nothing else is said, and without any for `null`. */
    open: ({ url, ...options }) => this.#open(url, timed(options)),
    windows: () => [...this.#windows.values()].filter(({ page }) => !page.closed).map(({ handle }) => handle),
    close: async ({ window }) => {
      const { page } = this.#window(window);
      this.#windows.delete(window);
      await page.close();
    },

    navigate: async ({ window, url, ...options }) => {
      const { page } = this.#window(window);
      const { status, url: final } = await page.navigate(url, timed(options));
      return { status, url: final };
    },
    url: async ({ window }) => this.#window(window).page.url,
    reload: ({ window, ...options }) => this.#window(window).reload(timed(options)),
    traverse: ({ window, delta, ...options }) => this.#window(window).traverse(delta, timed(options)),
    settle: ({ window, waitUntil, timeout }) => this.#window(window).automation.settle(waitUntil, timeout ?? Infinity),

    perform: ({ window, place, command, parameters, timeout, late }) =>
      this.#window(window).automation.perform(place, command, parameters, { timeout: timeout ?? Infinity, late }),
    find: ({ window, place, locator, timeout, implicit }) =>
      this.#window(window).automation.find(place, locator, { timeout: timeout ?? Infinity, implicit: implicit ?? Infinity }),
    enter: ({ window, place, which, timeout }) =>
      this.#window(window).automation.enter(place, which, { timeout: timeout ?? Infinity }),
    parent: async ({ window, place }) => this.#window(window).automation.parentOf(place),

    'force sample': ({ window, place, timeout }) => this.#window(window).forceSample(place, timeout ?? Infinity),
    visibility: async ({ window, isVisible, timeout }) => {
      await this.#window(window).page.setVisible(isVisible, { timeout: timeout ?? Infinity });
    },
    /** A trace, as the text of its JSON. */
    'take profile': async ({ window, timeout }) => {
      const bytes = await takeProfile(this.#window(window).page, timeout ?? Infinity);
      return { trace: gunzipSync(bytes).toString() };
    },

    cookies: async ({ url }) => innerHost(this.#host).cookiesFor(url),
    'store cookie': async ({ url, text }) => innerHost(this.#host).storeCookie(url, text),
  };
}

/** A page without a document, and so without a thread. */
function newPage(host) {
  const internals = innerHost(host);
  const page = new Page(internals);
  internals.add(page);
  return page;
}

/** Options with their times as the host has them. */
function timed(options) {
  const result = {};
  for (const [name, value] of Object.entries(options)) {
    const isTime = name === 'timeout' || name === 'scriptTimeout';
    result[name] = isTime && value === null ? Infinity : value;
  }
  return result;
}

module.exports = { Driver };
