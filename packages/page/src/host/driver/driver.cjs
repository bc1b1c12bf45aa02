'use strict';

// The methods of the program that hosts pages. driver-process.cjs describes how they are called.

const { gunzipSync } = require('node:zlib');

const { PageHost, contextOf } = require('../page-host.cjs');
const { Page, takeProfile } = require('../page.cjs');
const { CommandError } = require('./command-error.cjs');
const { DrivenWindow } = require('./driven-window.cjs');

/** @typedef {import('./automation.cjs').BrowsingContext} BrowsingContext */
/** @typedef {import('../navigate-options.cjs').WaitUntil} WaitUntil */

/**
 * Parameters of the methods. Times are in milliseconds. `null` stands for no limit, since JSON has no infinite numbers.
 *
 * @typedef {number | null | undefined} Timeout
 * @typedef {{ window: string }} InWindow
 * @typedef {InWindow & { context: BrowsingContext }} InContext
 * @typedef {{ waitUntil?: WaitUntil, timeout?: Timeout }} Waiting
 * @typedef {object} Methods
 * @property {import('../../../index.js').PageHostOptions} start
 * @property {Waiting & { url: string | null, profile?: import('../../../index.js').ProfileOptions }} open
 * @property {{}} windows
 * @property {InWindow} close
 * @property {InWindow & Waiting & { url: string }} navigate
 * @property {InWindow} url
 * @property {InWindow & Waiting} reload
 * @property {InContext & Waiting & { delta: number, scriptTimeout?: Timeout }} traverse
 * @property {InWindow & { waitUntil: WaitUntil, timeout?: Timeout }} settle
 * @property {InContext & { command: string, parameters: object, timeout?: Timeout, timeoutError?: string }} perform
 * @property {InContext & { locator: object, timeout?: Timeout, implicit?: Timeout }} find
 * @property {InContext & { which: object, timeout?: Timeout }} enter
 * @property {InContext} parent
 * @property {InContext & { timeout?: Timeout }} forceSample called `force sample`
 * @property {InWindow & { isVisible: boolean, timeout?: Timeout }} visibility
 * @property {InWindow & { timeout?: Timeout }} takeProfile called `take profile`
 * @property {{ url: string }} cookies
 * @property {{ url: string, text: string }} storeCookie called `store cookie`
 */

class Driver {
  #onEvent;
  /** @type {PageHost | undefined} */
  #host;
  /** @type {Map<string, DrivenWindow>} */
  #windows = new Map();
  #nextWindow = 1;

  /** @param {(event: object) => void} onEvent called with what happens in pages */
  constructor(onEvent) {
    this.#onEvent = onEvent;
  }

  /**
   * Calls a method.
   *
   * @param {string} method
   * @param {any} parameters plain data, see {@link Methods}
   * @returns {Promise<unknown>}
   */
  async call(method, parameters) {
    const implementation = this.#methods.get(method);
    if (implementation === undefined) throw new CommandError('unknown command', `there is no method ${method}`);
    return await implementation(parameters);
  }

  get #started() {
    if (this.#host === undefined) throw new CommandError('unknown error', 'call `start` first');
    return this.#host;
  }

  /** @param {string} handle */
  #window(handle) {
    const window = this.#windows.get(handle);
    if (window === undefined || window.page.closed)
      throw new CommandError('no such window', `there is no window ${handle}`);
    return window;
  }

  /** @param {Methods['open']} parameters `url` is `null` for a page without a document */
  async #open({ url, profile, ...wait }) {
    const handle = `window${this.#nextWindow++}`;
    const page =
      url === null ? emptyPage(this.#started) : await this.#started.open(url, { profile, ...toNavigateOptions(wait) });
    this.#windows.set(handle, new DrivenWindow(handle, page, this.#onEvent));
    return { window: handle };
  }

  /** @type {Map<string, (parameters: any) => unknown>} */
  #methods = new Map(
    Object.entries({
      start: (/** @type {Methods['start']} */ options) => {
        this.#host = new PageHost({ ...options, cookies: 'host' });
        return { node: process.version };
      },
      open: (/** @type {Methods['open']} */ parameters) => this.#open(parameters),
      windows: () => [...this.#windows.values()].filter(({ page }) => !page.closed).map(({ handle }) => handle),
      close: async (/** @type {Methods['close']} */ { window }) => {
        const { page } = this.#window(window);
        this.#windows.delete(window);
        await page.close();
      },

      navigate: async (/** @type {Methods['navigate']} */ { window, url, ...wait }) => {
        const response = await this.#window(window).page.navigate(url, toNavigateOptions(wait));
        return { status: response.status, url: response.url };
      },
      url: (/** @type {Methods['url']} */ { window }) => this.#window(window).page.url,
      reload: (/** @type {Methods['reload']} */ { window, ...wait }) =>
        this.#window(window).reload(toNavigateOptions(wait)),
      traverse: (/** @type {Methods['traverse']} */ { window, delta, context, scriptTimeout, ...wait }) =>
        this.#window(window).traverse(delta, {
          ...toNavigateOptions(wait),
          context,
          scriptTimeout: toTimeout(scriptTimeout),
        }),
      settle: (/** @type {Methods['settle']} */ { window, waitUntil, timeout }) =>
        this.#window(window).automation.waitForNavigation(waitUntil, toTimeout(timeout)),

      perform: (/** @type {Methods['perform']} */ { window, context, command, parameters, timeout, timeoutError }) =>
        this.#window(window).automation.perform(context, command, parameters, {
          timeout: toTimeout(timeout),
          timeoutError,
        }),
      find: (/** @type {Methods['find']} */ { window, context, locator, timeout, implicit }) =>
        this.#window(window).automation.find(context, locator, {
          timeout: toTimeout(timeout),
          implicit: toTimeout(implicit),
        }),
      enter: (/** @type {Methods['enter']} */ { window, context, which, timeout }) =>
        this.#window(window).automation.enterFrame(context, which, { timeout: toTimeout(timeout) }),
      parent: (/** @type {Methods['parent']} */ { window, context }) =>
        this.#window(window).automation.parentOf(context),

      'force sample': (/** @type {Methods['forceSample']} */ { window, context, timeout }) =>
        this.#window(window).forceSample(context, toTimeout(timeout)),
      visibility: (/** @type {Methods['visibility']} */ { window, isVisible, timeout }) =>
        this.#window(window).page.setVisible(isVisible, { timeout: toTimeout(timeout) }),
      /** A trace, as the text of its JSON. */
      'take profile': async (/** @type {Methods['takeProfile']} */ { window, timeout }) => {
        const bytes = await takeProfile(this.#window(window).page, toTimeout(timeout));
        return { trace: gunzipSync(bytes).toString() };
      },

      cookies: (/** @type {Methods['cookies']} */ { url }) => contextOf(this.#started).cookiesFor(url),
      'store cookie': (/** @type {Methods['storeCookie']} */ { url, text }) =>
        contextOf(this.#started).storeCookie(url, text),
    }),
  );
}

/** A page without a document, and so without a thread. @param {PageHost} host */
function emptyPage(host) {
  const context = contextOf(host);
  const page = new Page(context);
  context.add(page);
  return page;
}

/** @param {Timeout} timeout */
function toTimeout(timeout) {
  return timeout ?? Infinity;
}

/**
 * Here a missing timeout means the host's default.
 *
 * @param {Waiting} wait
 * @returns {Pick<import('../../../index.js').NavigateOptions, 'waitUntil' | 'timeout'>}
 */
function toNavigateOptions({ waitUntil, timeout, ...others }) {
  return { ...others, waitUntil, timeout: timeout === null ? Infinity : timeout };
}

module.exports = { Driver };
