'use strict';

// A window that another program drives: a page, its handle and its session history.

const { Automation } = require('./automation.cjs');
const { History } = require('./history.cjs');
const { PageActions } = require('./page-actions.cjs');

/** @typedef {import('../fetch/network.cjs').Interception} Interception */
/** @typedef {import('./page.cjs').Page} Page */
/** @typedef {import('./automation.cjs').BrowsingContext} BrowsingContext */
/** @typedef {Pick<import('../../index.js').NavigateOptions, 'waitUntil' | 'timeout'>} WaitOptions */

class DrivenWindow {
  #onEvent;
  #history = new History();
  /** Whether the next document is an entry of the history. */
  #isTraversing = false;
  handle;
  page;
  automation;
  actions = new PageActions(this);
  /** Whether the thread of the document was terminated. */
  hasCrashed = false;
  /**
   * Requests that the user decides about, by their numbers.
   *
   * @type {Map<number, (answer: Interception | undefined) => void>}
   */
  #intercepted = new Map();
  #nextRequest = 1;

  /**
   * @param {string} handle
   * @param {Page} page
   * @param {(event: object) => void} onEvent
   */
  constructor(handle, page, onEvent) {
    this.handle = handle;
    this.page = page;
    this.#onEvent = onEvent;
    this.automation = new Automation(page, handle);
    page.on('navigated', (url) => this.#onNavigated(url));
    page.on('url', (url) => this.#report('url', { url }));
    for (const type of /** @type {const} */ (['console', 'pageerror', 'problem', 'domcontentloaded', 'load']))
      page.on(type, (...[members]) => this.#report(type, members ?? {}));
    page.on('crash', (error) => {
      this.hasCrashed = true;
      this.#report('crash', { message: error.message, ...('code' in error && { code: error.code }) });
    });
    page.on('close', () => this.intercept(false));
    // The page may show its first document already.
    if (this.automation.document > 0) this.#history.push(this.#entry());
  }

  /** @param {string} event @param {object} members */
  #report(event, members) {
    this.#onEvent({ event, window: this.handle, ...members });
  }

  #entry() {
    return { url: this.page.url, initiator: this.page.initiator };
  }

  /** @param {string} url */
  #onNavigated(url) {
    this.hasCrashed = false;
    if (!this.#isTraversing) this.#history.push(this.#entry());
    this.#isTraversing = false;
    this.#report('navigated', { url });
  }

  /**
   * Goes back or forward: within the document if it has such an entry, else to another document.
   *
   * @param {number} delta
   * @param {WaitOptions & { context: BrowsingContext, scriptTimeout: number }} options
   * @returns {Promise<{ isFound: boolean, response?: unknown }>} the response of another document
   */
  async traverse(delta, { context, waitUntil, timeout, scriptTimeout }) {
    if (context.frame === 0 && (await this.#traverseWithin(context, delta, scriptTimeout))) return { isFound: true };
    const entry = this.#history.peek(delta);
    if (entry === undefined) return { isFound: false };
    this.#isTraversing = true;
    try {
      const response = await this.page.navigate(entry.url, { repeated: entry.initiator, waitUntil, timeout });
      this.#history.step(delta);
      return { isFound: true, response };
    } finally {
      this.#isTraversing = false;
    }
  }

  /**
   * @param {BrowsingContext} context
   * @param {number} delta
   * @param {number} timeout
   * @returns {Promise<boolean>} whether the document has such an entry
   */
  async #traverseWithin(context, delta, timeout) {
    try {
      return (await this.automation.traverse(context, delta, { timeout })) === true;
    } catch {
      return false;
    }
  }

  /** @param {WaitOptions} options */
  async reload(options) {
    const { url, initiator } = this.#entry();
    return await this.#replace(() => this.page.navigate(url, { ...options, repeated: initiator }));
  }

  /** Shows a document with this HTML. @param {string} html @param {WaitOptions} options */
  async setContent(html, options) {
    await this.#replace(() => this.page.navigate(this.page.url, { ...options, content: html }));
  }

  /** The history stays at its entry. @param {() => Promise<unknown>} navigate */
  async #replace(navigate) {
    this.#isTraversing = true;
    try {
      const response = await navigate();
      this.#history.replace(this.#entry());
      return response;
    } finally {
      this.#isTraversing = false;
    }
  }

  /** Has the user decide about the page's requests, or not. @param {boolean} isIntercepted */
  intercept(isIntercepted) {
    const { context } = this.page;
    if (isIntercepted) {
      context.setIntercept(
        (request) =>
          new Promise((resolve) => {
            const id = this.#nextRequest++;
            this.#intercepted.set(id, resolve);
            this.#report('request', { id, request });
          }),
      );
      return;
    }
    context.setIntercept(undefined);
    for (const resolve of this.#intercepted.values()) resolve(undefined);
    this.#intercepted.clear();
  }

  /** @param {number} id of a request @param {Interception | undefined} answer */
  answerRequest(id, answer) {
    this.#intercepted.get(id)?.(answer);
    this.#intercepted.delete(id);
  }

  /** @param {BrowsingContext} context @param {number} timeout */
  async forceSample(context, timeout) {
    this.automation.assertOpen(context);
    await this.page.forceSample({ frame: context.frame, timeout });
  }
}

module.exports = { DrivenWindow };
