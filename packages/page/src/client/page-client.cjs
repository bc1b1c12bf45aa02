'use strict';

// A page, as its user has it: each method is a call to the process of the pages.

const { AsyncResource } = require('node:async_hooks');
const { EventEmitter, on } = require('node:events');
const fs = require('node:fs/promises');
const path = require('node:path');
const { clearTimeout, setTimeout } = require('node:timers');
const { promisify } = require('node:util');
const { gunzip } = require('node:zlib');

const { readValue, writeValue } = require('./cloned-values.cjs');
const { cookieTextOf, toCookie } = require('./cookie-texts.cjs');
const { TimeoutError } = require('./errors.cjs');
const { MAX_DELAY, toTimeout } = require('./host-options.cjs');
const { Locator, checkNoOptions } = require('./locator.cjs');
const { toHeaderList, toUrl, toWaitUntil } = require('./navigate-options.cjs');
const { Routes } = require('./routes.cjs');
const { checkPattern, matchesUrl } = require('./url-patterns.cjs');

/**
 * Without overloads, members that give locators, and the methods that EventEmitter provides.
 *
 * @typedef {Omit<import('../../index.js').Page, keyof typeof READING | 'on' | 'once' | 'off' | 'evaluate' |
 *   'evaluateIn' | 'waitForFunction' | 'waitForEvent' | 'waitForSelector' | 'locator'>} PublicPage
 */
/** @typedef {import('../../index.js').NavigateOptions} NavigateOptions */
/** @typedef {import('../../index.js').PageEventMap} PageEventMap */
/** @typedef {import('../../index.js').PageResponse} PageResponse */
/** @typedef {import('../../index.js').ActionOptions} ActionOptions */
/** @typedef {import('../../index.js').ClickOptions} ClickOptions */
/** @typedef {import('../../index.js').WaitOptions} WaitOptions */
/** @typedef {import('./host-child.cjs').HostChild} HostChild */
/** @typedef {import('./host-child.cjs').HostEvent} HostEvent */
/** @typedef {import('./url-patterns.cjs').UrlPattern} UrlPattern */

/** The states that `waitForSelector` waits for. */
const STATES = ['attached', 'detached', 'visible', 'hidden'];

/** Methods that read something of an element, by what READERS of page/automation/page-actions.cjs call it. */
const READING = {
  innerHTML: 'innerHTML',
  innerText: 'innerText',
  inputValue: 'value',
  isChecked: 'checked',
  isDisabled: 'disabled',
  isEditable: 'editable',
  textContent: 'textContent',
};

/** Something of the process of the pages happened in a page. @type {(page: Page, event: HostEvent) => void} */
let receive;

/** The process has ended, if it is the page's. @type {(page: Page, child: HostChild, error: Error) => void} */
let lose;

/**
 * See {@link import('../../index.js').Page} for its events.
 *
 * @extends {EventEmitter<PageEventMap>}
 * @implements {PublicPage}
 */
class Page extends EventEmitter {
  #child;
  #window;
  #timeout;
  #onClose;
  #url = 'about:blank';
  #isClosed = false;
  /** @type {Promise<void> | undefined} */
  #closing;
  #isVisible = true;
  #routes = new Routes();
  /** Listeners are called in the async context in which the page was opened. */
  #context = new AsyncResource('Page');

  static {
    receive = (page, event) => page.#context.runInAsyncScope(() => page.#onHostEvent(event));
    lose = (page, child, error) => {
      if (page.#child === child) page.#context.runInAsyncScope(() => page.#lose(error));
    };
    for (const [name, what] of Object.entries(READING)) {
      const methods = {
        /** @this {Page} @param {string} selector @param {ActionOptions} [options] */
        async [name](selector, options) {
          return await this.#read(what, selector, options);
        },
      };
      Object.defineProperty(Page.prototype, name, { value: methods[name], writable: true, configurable: true });
    }
  }

  /**
   * @param {HostChild} child
   * @param {string} window the handle of its window there
   * @param {{ timeout: number, onClose: () => void }} options
   */
  constructor(child, window, { timeout, onClose }) {
    super();
    this.#child = child;
    this.#window = window;
    this.#timeout = timeout;
    this.#onClose = onClose;
  }

  get url() {
    return this.#url;
  }

  get closed() {
    return this.#isClosed;
  }

  get visible() {
    return this.#isVisible;
  }

  /** @param {string} method @param {{ timeout?: unknown, [member: string]: unknown }} [parameters] @returns {Promise<any>} */
  async #call(method, parameters = {}) {
    this.#assertOpen();
    const { timeout } = parameters;
    const limit = timeout === undefined ? {} : { timeout: toTimeout(/** @type {number} */ (timeout)) };
    return await this.#child.call(method, { window: this.#window, ...parameters, ...limit });
  }

  #assertOpen() {
    if (this.#isClosed) throw new Error('the page is closed');
  }

  /** @param {HostEvent} event */
  #onHostEvent({ event, window, ...members }) {
    switch (event) {
      case 'navigated':
        this.#setUrl(members.url);
        this.emit('navigated', members.url);
        return;
      case 'url':
        this.#setUrl(members.url);
        return;
      case 'crash':
        this.emit('crash', Object.assign(new Error(members.message), members.code && { code: members.code }));
        return;
      case 'request':
        this.#answerRequest(members.id, members.request);
        return;
      case 'domcontentloaded':
      case 'load':
        this.emit(event);
        return;
      default:
        this.emit(/** @type {'console'} */ (event), /** @type {any} */ (members));
    }
  }

  /** @param {string} url */
  #setUrl(url) {
    this.#url = url;
    this.emit('url', url);
  }

  /** @param {number} id @param {import('./routes.cjs').RequestData} request */
  async #answerRequest(id, request) {
    const answer = await this.#routes.answer(request, this.#url, throwLater);
    // The page, or its process, may have ended meanwhile.
    if (!this.#isClosed) this.#call('answer request', { id, answer }).catch(() => {});
  }

  /** @param {Error} error */
  #lose(error) {
    if (this.#isClosed) return;
    this.#end();
    this.emit('crash', error);
    this.emit('close');
  }

  #end() {
    this.#isClosed = true;
    this.#routes.clear();
    this.#onClose();
  }

  /**
   * What a listener throws is an error of the program, and does not keep the others from what happens.
   *
   * @override
   * @param {any[]} event its name, and what the listeners get
   * @returns {boolean} whether there were listeners
   */
  emit(...event) {
    try {
      return super.emit(.../** @type {['close']} */ (event));
    } catch (error) {
      throwLater(error);
      return true;
    }
  }

  /**
   * @param {string | URL} url
   * @param {NavigateOptions} [options]
   * @returns {Promise<PageResponse>}
   */
  async goto(url, { timeout = this.#timeout, root, headers, ...options } = {}) {
    return await this.#call('navigate', {
      ...options,
      timeout,
      // The process of the pages may have another working directory.
      url: toUrl(url).href,
      root: root === undefined ? undefined : path.resolve(root),
      headers: headers === undefined ? undefined : toHeaderList(headers),
    });
  }

  /**
   * @param {string | URL} url
   * @param {NavigateOptions} [options]
   */
  async navigate(url, options) {
    return await this.goto(url, options);
  }

  /** @param {WaitOptions} options */
  #waiting({ waitUntil = 'load', timeout = this.#timeout }) {
    return { waitUntil: toWaitUntil(waitUntil), timeout };
  }

  /** @param {WaitOptions} [options] @returns {Promise<PageResponse | null>} */
  async reload(options = {}) {
    return await this.#call('reload', this.#waiting(options));
  }

  /** @param {WaitOptions} [options] */
  async goBack(options = {}) {
    return await this.#traverse(-1, options);
  }

  /** @param {WaitOptions} [options] */
  async goForward(options = {}) {
    return await this.#traverse(1, options);
  }

  /** @param {number} delta @param {WaitOptions} options @returns {Promise<PageResponse | null>} */
  async #traverse(delta, options) {
    const wait = this.#waiting(options);
    const context = { frame: 0, document: 0 };
    const scriptTimeout = toTimeout(wait.timeout);
    const { response } = await this.#call('traverse', { delta, context, scriptTimeout, ...wait });
    return response ?? null;
  }

  /** @param {string} html @param {WaitOptions} [options] */
  async setContent(html, options = {}) {
    await this.#call('set content', { html: String(html), ...this.#waiting(options) });
  }

  /**
   * @param {string | Function | { path?: string, content?: string }} script
   * @param {unknown} [argument]
   */
  async addInitScript(script, argument) {
    let source;
    if (typeof script === 'function') source = `(${script})(${JSON.stringify(argument) ?? ''})`;
    else if (typeof script === 'string') source = script;
    else if (script?.path !== undefined) source = await fs.readFile(script.path, 'utf8');
    else source = script?.content;
    if (typeof source !== 'string') throw new TypeError('addInitScript takes a function, a string, a path or content');
    await this.#call('add init script', { source });
  }

  async content() {
    return await this.#perform('content');
  }

  async title() {
    return await this.#perform('title');
  }

  /** @param {string} command @returns {Promise<any>} */
  async #perform(command) {
    const context = { frame: 0, document: 0 };
    return await this.#call('perform', { context, command, parameters: {}, timeout: this.#timeout });
  }

  async frames() {
    return this.#isClosed ? [] : await this.#call('frames');
  }

  async workers() {
    return this.#isClosed ? [] : await this.#call('workers');
  }

  /** @param {string | Function} script @param {unknown[]} parameters of a function */
  #scriptOf(script, parameters) {
    const isFunction = typeof script === 'function';
    if (!isFunction && typeof script !== 'string') throw new TypeError('evaluate takes a function or a string');
    return { source: isFunction ? `(${script})` : script, isFunction, parameters: writeValue(parameters) };
  }

  /**
   * @param {string | Function} script
   * @param {unknown[]} parameters
   * @returns {Promise<any>}
   */
  async evaluate(script, ...parameters) {
    return await this.evaluateIn({}, script, ...parameters);
  }

  /**
   * @param {{ timeout?: number, frame?: number }} options
   * @param {string | Function} script
   * @param {unknown[]} parameters
   * @returns {Promise<any>}
   */
  async evaluateIn({ timeout = this.#timeout, frame = 0 }, script, ...parameters) {
    return readValue(await this.#call('evaluate', { ...this.#scriptOf(script, parameters), frame, timeout }));
  }

  /**
   * @param {string | Function} script
   * @param {unknown} [argument]
   * @param {{ timeout?: number, polling?: number, frame?: number }} [options]
   * @returns {Promise<any>}
   */
  async waitForFunction(script, argument, { timeout = this.#timeout, polling, frame } = {}) {
    const call = { ...this.#scriptOf(script, [argument]), timeout, polling, frame };
    return readValue(await this.#call('wait for function', call));
  }

  /**
   * @param {keyof PageEventMap | 'url'} type
   * @param {((event: any) => unknown) | { predicate?: (event: any) => unknown, timeout?: number }} [options]
   * @returns {Promise<any>}
   */
  async waitForEvent(type, options = {}) {
    this.#assertOpen();
    const { predicate = () => true, timeout = this.#timeout } =
      typeof options === 'function' ? { predicate: options } : options;
    const late = new AbortController();
    // It keeps the program alive, too.
    const timer = setTimeout(() => late.abort(), Math.min(toTimeout(timeout), MAX_DELAY));
    try {
      const events = on(this, type, { signal: late.signal, close: type === 'close' ? [] : ['close'] });
      for await (const [event] of events) if (await predicate(event)) return event;
    } catch (error) {
      if (!late.signal.aborted) throw error;
      throw new TimeoutError(`waiting for the event ${type} took longer than ${timeout} ms`);
    } finally {
      clearTimeout(timer);
    }
    throw new Error(`the page was closed while ${type} was awaited`);
  }

  /** @param {import('../../index.js').LoadState} [state] @param {{ timeout?: number }} [options] */
  async waitForLoadState(state = 'load', { timeout = this.#timeout } = {}) {
    await this.#call('wait for load state', { state: toWaitUntil(state), timeout });
  }

  /** @param {UrlPattern} pattern @param {WaitOptions} [options] */
  async waitForURL(pattern, { waitUntil = 'load', timeout = this.#timeout } = {}) {
    checkPattern(pattern);
    const state = toWaitUntil(waitUntil);
    const end = performance.now() + toTimeout(timeout);
    // 0 would mean no limit.
    const left = () => Math.max(end - performance.now(), 1);
    const isThere = () => matchesUrl(pattern, this.#url, this.#url);
    try {
      if (!isThere()) await this.waitForEvent('url', { predicate: isThere, timeout: left() });
      await this.waitForLoadState(state, { timeout: left() });
    } catch (error) {
      if (!(error instanceof TimeoutError)) throw error;
      throw new TimeoutError(`waiting for the URL ${pattern} took longer than ${timeout} ms: it is ${this.#url}`);
    }
  }

  /**
   * @param {string} selector
   * @param {ActionOptions & { state?: 'attached' | 'detached' | 'visible' | 'hidden' }} [options]
   * @returns {Promise<Locator | null>}
   */
  async waitForSelector(selector, { state = 'visible', timeout = this.#timeout, strict = false, frame } = {}) {
    if (!STATES.includes(state)) throw new TypeError(`state is '${state}'; it must be one of ${STATES.join(', ')}`);
    await this.#call('wait for selector', { selector: toSelector(selector), isStrict: strict, state, timeout, frame });
    return state === 'attached' || state === 'visible' ? this.locator(selector) : null;
  }

  /** @param {string} selector @param {undefined[]} options those of Playwright, such as `hasText`, are missing */
  locator(selector, ...options) {
    checkNoOptions(options);
    return new Locator(this, toSelector(selector), (...action) => this.#act(...action));
  }

  /**
   * @param {string} action see page/automation/page-actions.cjs
   * @param {string} selector
   * @param {ActionOptions} [options]
   * @param {object} [parameters]
   * @param {object} [more] parameters of the call
   * @returns {Promise<any>}
   */
  async #act(action, selector, { timeout = this.#timeout, strict = false, frame, force } = {}, parameters, more) {
    return await this.#call('act', {
      action,
      selector: toSelector(selector),
      isStrict: strict,
      frame,
      timeout,
      parameters: { force, ...parameters },
      ...more,
    });
  }

  /** @param {string} selector @param {ClickOptions} [options] */
  async click(selector, { button, clickCount, modifiers, position, ...options } = {}) {
    await this.#act('click', selector, options, { button, clickCount, modifiers, position });
  }

  /** @param {string} selector @param {Omit<ClickOptions, 'clickCount'>} [options] */
  async dblclick(selector, options = {}) {
    await this.click(selector, { ...options, clickCount: 2 });
  }

  /** @param {string} selector @param {Pick<ClickOptions, 'modifiers' | 'position'> & ActionOptions} [options] */
  async hover(selector, { modifiers, position, ...options } = {}) {
    await this.#act('hover', selector, options, { modifiers, position });
  }

  /** @param {string} selector @param {string} value @param {ActionOptions} [options] */
  async fill(selector, value, options) {
    if (typeof value !== 'string') throw new TypeError('fill takes a string');
    await this.#act('fill', selector, options, { value });
  }

  /** @param {string} selector @param {string} text @param {ActionOptions & { delay?: number }} [options] */
  async type(selector, text, { delay, ...options } = {}) {
    const more = delay === undefined ? {} : { delay, texts: [...text] };
    await this.#act('type', selector, options, { text: String(text) }, more);
  }

  /** @param {string} selector @param {string} key @param {ActionOptions} [options] */
  async press(selector, key, options) {
    await this.#act('press', selector, options, { key: String(key) });
  }

  /** @param {string} selector @param {ActionOptions} [options] */
  async check(selector, options) {
    await this.setChecked(selector, true, options);
  }

  /** @param {string} selector @param {ActionOptions} [options] */
  async uncheck(selector, options) {
    await this.setChecked(selector, false, options);
  }

  /** @param {string} selector @param {boolean} isChecked @param {ActionOptions} [options] */
  async setChecked(selector, isChecked, options) {
    await this.#act('check', selector, options, { isChecked });
  }

  /**
   * @param {string} selector
   * @param {import('../../index.js').OptionChoice | import('../../index.js').OptionChoice[] | null} values
   * @param {ActionOptions} [options]
   * @returns {Promise<string[]>}
   */
  async selectOption(selector, values, options) {
    const list = values === null ? [] : Array.isArray(values) ? values : [values];
    const wanted = list.map((value) => (typeof value === 'string' ? { either: value } : value));
    return await this.#act('select', selector, options, { options: wanted });
  }

  /** @param {string} selector @param {ActionOptions} [options] */
  async focus(selector, options) {
    await this.#act('focus', selector, options);
  }

  /** @param {string} selector @param {ActionOptions} [options] */
  async blur(selector, options) {
    await this.#act('blur', selector, options);
  }

  /** @param {string} selector @param {string} type @param {object} [init] @param {ActionOptions} [options] */
  async dispatchEvent(selector, type, init = {}, options = {}) {
    await this.#act('event', selector, options, { type, init });
  }

  /** @param {string} what see READERS in page/automation/page-actions.cjs @param {string} selector @param {ActionOptions} [options] @param {string} [name] */
  async #read(what, selector, options, name) {
    return await this.#act('read', selector, options, { what, name });
  }

  /** @param {string} selector @param {string} name @param {ActionOptions} [options] @returns {Promise<string | null>} */
  async getAttribute(selector, name, options) {
    return await this.#read('attribute', selector, options, name);
  }

  /** @param {string} selector @param {ActionOptions} [options] */
  async isEnabled(selector, options) {
    return !(await this.#read('disabled', selector, options));
  }

  /** @param {string} selector @param {ActionOptions} [options] @returns {Promise<boolean>} */
  async isVisible(selector, options) {
    return (await this.#act('state', selector, options)).isVisible;
  }

  /** @param {string} selector @param {ActionOptions} [options] */
  async isHidden(selector, options) {
    return !(await this.isVisible(selector, options));
  }

  /**
   * @param {UrlPattern} pattern
   * @param {import('../../index.js').RouteHandler} handler
   * @param {{ times?: number }} [options]
   */
  async route(pattern, handler, { times = Infinity } = {}) {
    checkPattern(pattern);
    if (typeof handler !== 'function') throw new TypeError('route takes a function');
    this.#routes.add(pattern, handler, times);
    await this.#call('intercept', { isIntercepted: true });
  }

  /** @param {UrlPattern} pattern @param {import('../../index.js').RouteHandler} [handler] */
  async unroute(pattern, handler) {
    this.#routes.remove(pattern, handler);
    if (this.#routes.isEmpty) await this.#call('intercept', { isIntercepted: false });
  }

  async unrouteAll() {
    this.#routes.clear();
    await this.#call('intercept', { isIntercepted: false });
  }

  /** @param {string | string[]} [urls] @returns {Promise<import('../../index.js').Cookie[]>} */
  async cookies(urls = this.#url) {
    const list = (Array.isArray(urls) ? urls : [urls]).filter((url) => /^https?:/.test(url));
    const found = await this.#call('cookies of page', { urls: list });
    return found.map(toCookie);
  }

  /** @param {import('../../index.js').CookieInit[]} cookies */
  async addCookies(cookies) {
    const texts = cookies.map((cookie) => cookieTextOf(cookie, this.#url));
    await this.#call('set cookies', { cookies: texts });
  }

  /** @param {import('../../index.js').CookieInit[]} cookies */
  async setCookies(...cookies) {
    await this.addCookies(cookies);
  }

  /** @param {{ frame?: number, timeout?: number }} [options] */
  async forceSample({ frame = 0, timeout = this.#timeout } = {}) {
    await this.#call('force sample', { frame, timeout });
  }

  /** @param {boolean} isVisible @param {{ timeout?: number }} [options] */
  async setVisible(isVisible, { timeout = this.#timeout } = {}) {
    this.#assertOpen();
    if (typeof isVisible !== 'boolean') throw new TypeError('setVisible takes true or false');
    this.#isVisible = isVisible;
    await this.#call('visibility', { isVisible, timeout });
  }

  /** @param {{ timeout?: number }} [options] @returns {Promise<import('selfprof').ProfilerTrace>} */
  async takeProfile({ timeout = this.#timeout } = {}) {
    const bytes = await this.#call('take profile bytes', { timeout });
    return JSON.parse((await promisify(gunzip)(bytes)).toString());
  }

  async close() {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close() {
    if (this.#isClosed) return;
    const closing = this.#call('close');
    this.#isClosed = true;
    try {
      await closing;
    } catch (error) {
      if (!this.#child.hasEnded) throw error;
    }
    this.#end();
    this.emit('close');
  }

  async [Symbol.asyncDispose]() {
    await this.close();
  }
}

/** @param {unknown} selector @throws {TypeError} */
function toSelector(selector) {
  if (typeof selector !== 'string') throw new TypeError('a selector is a string');
  return selector;
}

/** An error of the user's code, which nobody else handles. @param {unknown} error */
function throwLater(error) {
  process.nextTick(() => {
    throw error;
  });
}

module.exports = { Page, lose, receive };
