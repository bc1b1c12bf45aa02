'use strict';

// A window that another program drives: a page, its handle and its session history.

const { internalsOf, navigateAgain } = require('../page.cjs');
const { Automation } = require('./automation.cjs');
const { History } = require('./history.cjs');

/** @typedef {import('../page.cjs').Page} Page */
/** @typedef {import('./automation.cjs').BrowsingContext} BrowsingContext */
/** @typedef {Pick<import('../../../index.js').NavigateOptions, 'waitUntil' | 'timeout'>} WaitOptions */

/** How long a document may take to say where it has moved before it is loaded again, in milliseconds. */
const URL_TIMEOUT = 1_000;

class DrivenWindow {
  #onEvent;
  #history = new History();
  /** Whether the next document is an entry of the history. */
  #isTraversing = false;
  handle;
  page;
  automation;

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
    page.on('console', (message) => this.#report('console', message));
    page.on('pageerror', (exception) => this.#report('pageerror', exception));
    page.on('problem', (problem) => this.#report('problem', problem));
    page.on('crash', ({ message }) => this.#report('crash', { message }));
    // The page may show its first document already.
    if (this.automation.document > 0) this.#history.push(this.#entry());
  }

  /** @param {string} event @param {object} members */
  #report(event, members) {
    this.#onEvent({ event, window: this.handle, ...members });
  }

  #entry() {
    return { url: this.page.url, initiator: internalsOf(this.page).initiator };
  }

  /** @param {string} url */
  #onNavigated(url) {
    if (!this.#isTraversing) this.#history.push(this.#entry());
    this.#isTraversing = false;
    this.#report('navigated', { url });
  }

  /**
   * Goes back or forward: within the document if it has such an entry, else to another document.
   *
   * @param {number} delta
   * @param {WaitOptions & { context: BrowsingContext, scriptTimeout: number }} options
   */
  async traverse(delta, { context, waitUntil, timeout, scriptTimeout }) {
    if (context.frame === 0 && (await this.#traverseWithin(context, delta, scriptTimeout))) return;
    const entry = this.#history.peek(delta);
    if (entry === undefined) return;
    this.#isTraversing = true;
    try {
      await navigateAgain(this.page, entry.url, entry.initiator, { waitUntil, timeout });
      this.#history.step(delta);
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
    const { initiator } = this.#entry();
    const url = await this.#currentUrl();
    // The history stays at its entry.
    this.#isTraversing = true;
    try {
      await navigateAgain(this.page, url, initiator, options);
      this.#history.replace(this.#entry());
    } finally {
      this.#isTraversing = false;
    }
  }

  /** Where the document is: it can have moved within its origin (`history.pushState`). */
  async #currentUrl() {
    const context = { frame: 0, document: this.automation.document };
    try {
      return String(await this.automation.perform(context, 'url', {}, { timeout: URL_TIMEOUT }));
    } catch {
      // It does not answer.
      return this.page.url;
    }
  }

  /** @param {BrowsingContext} context @param {number} timeout */
  async forceSample(context, timeout) {
    this.automation.assertOpen(context);
    await this.page.forceSample({ frame: context.frame, timeout });
  }
}

module.exports = { DrivenWindow };
