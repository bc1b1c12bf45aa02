'use strict';

// Drives a page as WebDriver does: finds elements, clicks, types, and runs scripts whose values are JSON with
// references. https://www.w3.org/TR/webdriver2/

const { PageError, TERMINATED, TimeoutError, messageOf } = require('../client/errors.cjs');
const { withoutFragment } = require('../fetch/without-fragment.cjs');
const { withTimeout } = require('./time-limit.cjs');
const { CommandError } = require('./command-error.cjs');

/** How often elements are looked for while they are awaited, in milliseconds. */
const FIND_INTERVAL = 20;

/**
 * A window of the page. `document` is the number of the page's document that it was found in: after a navigation, it is
 * gone.
 *
 * @typedef {{ frame: number, document: number }} BrowsingContext
 */

/** @typedef {{ timeout: number, timeoutError?: string | undefined }} CommandLimit in milliseconds, with the error code of a timeout */

class Automation {
  #page;
  #handle;

  /**
   * @param {import('./page.cjs').Page} page
   * @param {string} handle of the window; contains no dot
   */
  constructor(page, handle) {
    this.#page = page;
    this.#handle = handle;
  }

  /** The number of the page's current document. */
  get document() {
    return this.#page.documentNumber;
  }

  /** @param {BrowsingContext} context @throws {CommandError} `no such window` */
  assertOpen({ frame, document }) {
    const { documentNumber, isAlive, threads } = this.#page;
    if (this.#page.closed) throw new CommandError('no such window', 'the window is closed');
    if (!isAlive) throw new CommandError('unknown error', TERMINATED);
    if (frame === 0) return;
    if (document !== documentNumber || !threads?.frames().some((known) => known.frame === frame))
      throw new CommandError('no such window', 'the frame is gone');
  }

  /**
   * Runs a command in a page's DOM.
   *
   * @param {BrowsingContext} context
   * @param {string} command see page/automation/commands.cjs
   * @param {any} parameters
   * @param {CommandLimit} limit
   * @returns {Promise<any>} plain data
   */
  async perform(context, command, parameters, limit) {
    if (command === 'fragment' && withoutFragment(new URL(parameters.url).href) !== withoutFragment(this.#page.url))
      return false;
    return await this.#ask(context, command, parameters, limit);
  }

  /**
   * @param {BrowsingContext} context
   * @param {string} command
   * @param {object} parameters
   * @param {CommandLimit} limit
   * @returns {Promise<any>}
   */
  async #ask(context, command, parameters, { timeout, timeoutError = 'timeout' }) {
    this.assertOpen(context);
    const { documentNumber } = this.#page;
    const names = {
      prefix: `${this.#handle}.${documentNumber}.${context.frame}`,
      handle: this.#handle,
    };
    let answer;
    try {
      answer = await this.#page.ask(
        context.frame,
        { type: 'automate', command, names, parameters },
        { timeout, what: command },
      );
    } catch (error) {
      if (error instanceof TimeoutError)
        throw new CommandError(timeoutError, `${command} took longer than ${timeout} ms`);
      if (error instanceof PageError) throw error;
      if (!this.#page.closed && !this.#page.isAlive) throw new CommandError('unknown error', TERMINATED);
      throw new CommandError(
        command === 'execute' ? 'javascript error' : 'unknown error',
        `the document was replaced or ended during the command: ${messageOf(error)}`,
      );
    }
    if (answer.error !== undefined) {
      const { code, message, stack } = answer.error;
      throw new CommandError(code, message, stack);
    }
    return JSON.parse(/** @type {string} */ (answer.text));
  }

  /**
   * Looks for elements until there is one, or the implicit wait is over.
   *
   * @param {BrowsingContext} context
   * @param {object} locator
   * @param {{ timeout: number, implicit: number }} limit in milliseconds
   */
  async find(context, locator, { timeout, implicit }) {
    const end = performance.now() + implicit;
    for (;;) {
      const found = await this.#ask(context, 'find', locator, { timeout });
      const left = end - performance.now();
      if (found.length > 0 || !(left > 0)) return found;
      await new Promise((resolve) => setTimeout(resolve, Math.min(FIND_INTERVAL, left)));
    }
  }

  /**
   * Traverses the history entries that the document itself has made.
   *
   * @param {BrowsingContext} context
   * @param {number} delta
   * @param {CommandLimit} limit
   * @returns {Promise<unknown>} whether there is such an entry, as the page says
   */
  async traverse(context, delta, limit) {
    return await this.#ask(context, 'traverse', { delta }, limit);
  }

  /**
   * The window of a frame.
   *
   * @param {BrowsingContext} context
   * @param {object} which
   * @param {CommandLimit} limit
   * @returns {Promise<BrowsingContext>}
   */
  async enterFrame(context, which, limit) {
    const found = await this.#ask(context, 'frame', which, limit);
    const { threads, documentNumber } = this.#page;
    const frame = threads?.frameWithin(context.frame, found);
    if (frame === undefined) throw new CommandError('no such window', 'the frame has no document');
    return { frame, document: documentNumber };
  }

  /** The window that contains a frame. @param {BrowsingContext} context @returns {BrowsingContext} */
  parentOf(context) {
    this.assertOpen(context);
    const { threads, documentNumber } = this.#page;
    const parent = threads?.frames().find(({ frame }) => frame === context.frame)?.parent ?? 0;
    return { frame: parent, document: documentNumber };
  }

  /**
   * Waits for the navigation that the page asked for, if one is under way.
   *
   * @param {import('../client/navigate-options.cjs').WaitUntil} waitUntil
   * @param {number} timeout
   */
  async waitForNavigation(waitUntil, timeout) {
    const wait = async () => {
      const { requested } = this.#page;
      if (requested === undefined) return;
      await requested;
      // A navigation that fails is reported as an event.
      await this.#page.waitFor(waitUntil).catch(() => {});
    };
    try {
      await withTimeout(timeout, 'the navigation', wait);
    } catch (error) {
      throw error instanceof TimeoutError ? new CommandError('timeout', error.message) : error;
    }
  }
}

module.exports = { Automation };
