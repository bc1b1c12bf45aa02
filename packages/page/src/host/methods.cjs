'use strict';

// The methods of the process that hosts pages: driver-process.cjs takes them from the command line's programs,
// host-process.cjs from the client of this package.

const { gunzipSync } = require('node:zlib');

const { BrowserContext } = require('./browser-context.cjs');
const { Page } = require('./page.cjs');
const { CommandError } = require('./command-error.cjs');
const { DrivenWindow } = require('./driven-window.cjs');

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
   * @param {any} parameters plain data. Times are in milliseconds; a `timeout` of `null` means no limit, and none the
   *   host's
   * @returns {Promise<unknown>}
   */
  async call(method, { timeout = this.#host?.timeout, ...parameters }) {
    const implementation = this.#methods.get(method);
    if (implementation === undefined) throw new CommandError('unknown command', `there is no method ${method}`);
    return await implementation({ ...parameters, timeout: timeout === null ? Infinity : timeout });
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

  /**
   * Opens a page, which has no document if `url` is `null`.
   *
   * @param {{ url?: string | null } & import('../../index.js').NavigateOptions} parameters
   */
  async #open({ url = 'about:blank', ...options }) {
    const handle = `window${this.#nextWindow++}`;
    const page = new Page(this.#started);
    this.#started.add(page);
    try {
      if (url !== null) await page.navigate(url, options);
    } catch (error) {
      await page.close();
      throw error;
    }
    this.#windows.set(handle, new DrivenWindow(handle, page, this.#onEvent));
    return { window: handle };
  }

  /**
   * By name. `window` is the handle of one, `context` a window or a frame as {@link Automation} means them, `frame` the
   * number of any window or worker.
   *
   * @type {Map<string, (parameters: any) => unknown>}
   */
  #methods = new Map(
    Object.entries(
      /** @type {Record<string, (parameters: any) => unknown>} */ ({
        start: (options) => {
          this.#host = new BrowserContext({ cookies: 'host', ...options });
          return { node: process.version };
        },
        open: (parameters) => this.#open(parameters),
        windows: () => [...this.#windows.values()].filter(({ page }) => !page.closed).map(({ handle }) => handle),
        close: async ({ window }) => {
          const { page } = this.#window(window);
          this.#windows.delete(window);
          await page.close();
        },

        navigate: ({ window, url, ...options }) => this.#window(window).page.navigate(url, options),
        url: ({ window }) => this.#window(window).page.url,
        reload: ({ window, ...options }) => this.#window(window).reload(options),
        traverse: ({ window, delta, scriptTimeout, ...options }) =>
          this.#window(window).traverse(delta, { ...options, scriptTimeout: scriptTimeout ?? Infinity }),
        settle: ({ window, waitUntil, timeout }) =>
          this.#window(window).automation.waitForNavigation(waitUntil, timeout),

        perform: ({ window, context, command, parameters, ...limit }) =>
          this.#window(window).automation.perform(context, command, parameters, limit),
        find: ({ window, context, locator, timeout, implicit }) =>
          this.#window(window).automation.find(context, locator, { timeout, implicit: implicit ?? Infinity }),
        enter: ({ window, context, which, timeout }) =>
          this.#window(window).automation.enterFrame(context, which, { timeout }),
        parent: ({ window, context }) => this.#window(window).automation.parentOf(context),

        'force sample': ({ window, context, frame, timeout }) =>
          context === undefined
            ? this.#window(window).page.forceSample({ frame, timeout })
            : this.#window(window).forceSample(context, timeout),
        visibility: ({ window, isVisible, timeout }) => this.#window(window).page.setVisible(isVisible, { timeout }),
        /** A trace, as the text of its JSON. */
        'take profile': async ({ window, timeout }) => {
          const bytes = await this.#window(window).page.takeProfile(timeout);
          return { trace: gunzipSync(bytes).toString() };
        },

        frames: ({ window }) => this.#window(window).page.frames(),
        workers: ({ window }) => this.#window(window).page.workers(),
        evaluate: ({ window, ...script }) => this.#window(window).page.evaluate(script),
        'wait for function': ({ window, ...script }) => this.#window(window).actions.waitForFunction(script),
        act: ({ window, ...action }) => this.#window(window).actions.act(action),
        'wait for selector': ({ window, ...options }) => this.#window(window).actions.waitForSelector(options),
        'wait for load state': ({ window, state, timeout }) =>
          this.#window(window).actions.waitForLoadState(state, timeout),
        'set content': ({ window, html, ...options }) => this.#window(window).setContent(html, options),
        'add init script': ({ window, source }) => {
          this.#window(window).page.context.initScripts.push(source);
        },
        intercept: ({ window, isIntercepted }) => this.#window(window).intercept(isIntercepted),
        // The page may be closed by now.
        'answer request': ({ window, id, answer }) => this.#windows.get(window)?.answerRequest(id, answer),
        'cookies of page': ({ window, urls }) => {
          const { context } = this.#window(window).page;
          return urls.flatMap((/** @type {string} */ url) => context.cookiesFor(url));
        },
        'set cookies': ({ window, cookies }) => {
          const { context } = this.#window(window).page;
          for (const { url, text } of cookies)
            if (!context.storeCookie(url, text)) throw new TypeError(`${url} cannot have the cookie ${text}`);
        },
        /** The trace as gzipped JSON. */
        'take profile bytes': ({ window, timeout }) => this.#window(window).page.takeProfile(timeout),
        end: () => this.#started.close(),

        cookies: ({ url }) => this.#started.cookiesFor(url),
        'store cookie': ({ url, text }) => this.#started.storeCookie(url, text),
      }),
    ),
  );
}

module.exports = { HostMethods };
