'use strict';

// The methods of the process that hosts pages: driver-process.cjs takes them from the command line's programs, host-process.cjs from the client of
// this package.

const { gunzipSync } = require('node:zlib');

const { BrowserContext } = require('./browser-context.cjs');
const { Page } = require('./page.cjs');
const { CommandError } = require('./command-error.cjs');
const { DrivenWindow } = require('./driven-window.cjs');

/** @typedef {import('./automation.cjs').BrowsingContext} BrowsingContext */
/** @typedef {import('./page-actions.cjs').PageActions} PageActions */
/** @typedef {import('../client/navigate-options.cjs').WaitUntil} WaitUntil */

/**
 * Parameters of the methods. Times are in milliseconds. `null` stands for no limit, since JSON has no infinite numbers.
 *
 * @typedef {number | null | undefined} Timeout
 * @typedef {{ window: string }} InWindow
 * @typedef {InWindow & { context: BrowsingContext }} InContext
 * @typedef {{ source: string, isFunction: boolean, parameters: Uint8Array, frame?: number, timeout?: Timeout }} Script `parameters` as V8 writes values
 * @typedef {{ waitUntil?: WaitUntil, timeout?: Timeout }} Waiting
 * @typedef {object} Methods
 * @property {import('../../index.js').PageHostOptions} start
 * @property {Waiting & { url?: string | null, profile?: import('../../index.js').ProfileOptions }} open
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
 * @property {InWindow & { context?: BrowsingContext, frame?: number, timeout?: Timeout }} forceSample called `force sample`; `frame` is any window or worker
 * @property {InWindow & { isVisible: boolean, timeout?: Timeout }} visibility
 * @property {InWindow & { timeout?: Timeout }} takeProfile called `take profile`
 * @property {InWindow & Script & { polling?: number }} evaluate and `wait for function`
 * @property {InWindow & Parameters<PageActions['act']>[0]} act
 * @property {InWindow & Parameters<PageActions['waitForSelector']>[0]} waitForSelector called `wait for selector`
 * @property {InWindow & { state: WaitUntil, timeout?: Timeout }} waitForLoad called `wait for load state`
 * @property {InWindow & Waiting & { html: string }} content called `set content`
 * @property {InWindow & { source: string }} initScript called `add init script`
 * @property {InWindow & { isIntercepted: boolean }} intercept
 * @property {InWindow & { id: number, answer: import('../fetch/network.cjs').Interception | undefined }} request called `answer request`
 * @property {InWindow & { urls: string[] }} cookiesOf called `cookies of page`
 * @property {InWindow & { cookies: { url: string, text: string }[] }} setCookies called `set cookies`
 * @property {{ url: string }} cookies
 * @property {{ url: string, text: string }} storeCookie called `store cookie`
 */

class HostMethods {
  #onEvent;
  /** @type {BrowserContext | undefined} */
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

  /** The host's, if none is given. @param {Timeout} timeout */
  #timeoutOf(timeout) {
    return timeout ?? this.#started.timeout;
  }

  /** @param {Script} script */
  #scriptOf({ source, isFunction, parameters, frame, timeout }) {
    return {
      source,
      isFunction,
      parameters,
      timeout: this.#timeoutOf(timeout),
      ...(frame !== undefined && { frame }),
    };
  }

  /** @param {Methods['open']} parameters `url` is `null` for a page without a document */
  async #open({ url = 'about:blank', profile, ...wait }) {
    const handle = `window${this.#nextWindow++}`;
    const page = new Page(this.#started);
    this.#started.add(page);
    try {
      if (url !== null) await page.navigate(url, { profile, ...toNavigateOptions(wait) });
    } catch (error) {
      await page.close();
      throw error;
    }
    this.#windows.set(handle, new DrivenWindow(handle, page, this.#onEvent));
    return { window: handle };
  }

  /** @type {Map<string, (parameters: any) => unknown>} */
  #methods = new Map(
    Object.entries({
      start: (/** @type {Methods['start']} */ options) => {
        this.#host = new BrowserContext({ cookies: 'host', ...options });
        return { node: process.version };
      },
      open: (/** @type {Methods['open']} */ parameters) => this.#open(parameters),
      windows: () => [...this.#windows.values()].filter(({ page }) => !page.closed).map(({ handle }) => handle),
      close: async (/** @type {Methods['close']} */ { window }) => {
        const { page } = this.#window(window);
        this.#windows.delete(window);
        await page.close();
      },

      navigate: (/** @type {Methods['navigate']} */ { window, url, ...wait }) =>
        this.#window(window).page.navigate(url, toNavigateOptions(wait)),
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

      'force sample': (/** @type {Methods['forceSample']} */ { window, context, frame = 0, timeout }) =>
        context === undefined
          ? this.#window(window).page.forceSample({ frame, timeout: toTimeout(timeout) })
          : this.#window(window).forceSample(context, toTimeout(timeout)),
      visibility: (/** @type {Methods['visibility']} */ { window, isVisible, timeout }) =>
        this.#window(window).page.setVisible(isVisible, { timeout: toTimeout(timeout) }),
      /** A trace, as the text of its JSON. */
      'take profile': async (/** @type {Methods['takeProfile']} */ { window, timeout }) => {
        const bytes = await this.#window(window).page.takeProfile(toTimeout(timeout));
        return { trace: gunzipSync(bytes).toString() };
      },

      frames: (/** @type {InWindow} */ { window }) => this.#window(window).page.frames(),
      workers: (/** @type {InWindow} */ { window }) => this.#window(window).page.workers(),
      evaluate: (/** @type {Methods['evaluate']} */ { window, ...script }) =>
        this.#window(window).page.evaluate(this.#scriptOf(script)),
      'wait for function': (/** @type {Methods['evaluate']} */ { window, polling, ...script }) =>
        this.#window(window).actions.waitForFunction({
          ...this.#scriptOf(script),
          ...(polling !== undefined && { polling }),
        }),
      act: (/** @type {Methods['act']} */ { window, ...action }) =>
        this.#window(window).actions.act({ ...action, timeout: this.#timeoutOf(action.timeout) }),
      'wait for selector': (/** @type {Methods['waitForSelector']} */ { window, ...options }) =>
        this.#window(window).actions.waitForSelector({ ...options, timeout: this.#timeoutOf(options.timeout) }),
      'wait for load state': (/** @type {Methods['waitForLoad']} */ { window, state, timeout }) =>
        this.#window(window).actions.waitForLoadState(state, this.#timeoutOf(timeout)),
      'set content': (/** @type {Methods['content']} */ { window, html, ...wait }) =>
        this.#window(window).setContent(html, toNavigateOptions(wait)),
      'add init script': (/** @type {Methods['initScript']} */ { window, source }) => {
        this.#window(window).page.context.initScripts.push(source);
      },
      intercept: (/** @type {Methods['intercept']} */ { window, isIntercepted }) =>
        this.#window(window).intercept(isIntercepted),
      'answer request': (/** @type {Methods['request']} */ { window, id, answer }) =>
        // The page may be closed by now.
        this.#windows.get(window)?.answerRequest(id, answer),
      'cookies of page': (/** @type {Methods['cookiesOf']} */ { window, urls }) => {
        const { context } = this.#window(window).page;
        return urls.flatMap((url) => context.cookiesFor(url));
      },
      'set cookies': (/** @type {Methods['setCookies']} */ { window, cookies }) => {
        const { context } = this.#window(window).page;
        for (const { url, text } of cookies)
          if (!context.storeCookie(url, text)) throw new TypeError(`${url} cannot have the cookie ${text}`);
      },
      /** The trace as gzipped JSON. */
      'take profile bytes': (/** @type {Methods['takeProfile']} */ { window, timeout }) =>
        this.#window(window).page.takeProfile(this.#timeoutOf(timeout)),
      end: () => this.#started.close(),

      cookies: (/** @type {Methods['cookies']} */ { url }) => this.#started.cookiesFor(url),
      'store cookie': (/** @type {Methods['storeCookie']} */ { url, text }) => this.#started.storeCookie(url, text),
    }),
  );
}

/** @param {Timeout} timeout */
function toTimeout(timeout) {
  return timeout ?? Infinity;
}

/**
 * Here a missing timeout means the host's default.
 *
 * @param {Waiting} wait
 * @returns {Pick<import('../../index.js').NavigateOptions, 'waitUntil' | 'timeout'>}
 */
function toNavigateOptions({ waitUntil, timeout, ...others }) {
  return { ...others, waitUntil, timeout: timeout === null ? Infinity : timeout };
}

module.exports = { HostMethods };
