'use strict';

// What users do with the elements of a page, and wait for. Each action waits until the page is ready for it: it is
// tried in the page again and again, also in the next document when the page navigates meanwhile.

const { setTimeout } = require('node:timers/promises');

const { PageError, TimeoutError, messageOf } = require('../client/errors.cjs');
const { CommandError } = require('./command-error.cjs');
const { readValue } = require('../client/cloned-values.cjs');
const { parseSelector } = require('./selectors.cjs');
const { withTimeout } = require('./time-limit.cjs');

/** @typedef {import('./driven-window.cjs').DrivenWindow} DrivenWindow */

/** How often an action is tried, in milliseconds. */
const INTERVAL = 25;

/** Actions that only read. After all others, the page may navigate. */
const READING = new Set(['read', 'state', 'count']);

/** What fails when another document takes the place of the one that it was for. */
const ENDS_OF_DOCUMENTS = new Set(['another navigation replaced the document', 'the page is closed']);

/**
 * @typedef {object} ElementAction
 * @property {number | undefined} [frame] 0 by default
 * @property {string} selector
 * @property {boolean} [isStrict] whether several elements are an error
 * @property {string} action see page/automation/page-actions.cjs
 * @property {object} [parameters]
 * @property {number} timeout
 */

class PageActions {
  #window;

  /** @param {DrivenWindow} window */
  constructor(window) {
    this.#window = window;
  }

  /**
   * Tries something until it gives a result, and as long as the time allows.
   *
   * @template Result
   * @param {number} timeout
   * @param {string} what for the message of the error
   * @param {(left: number) => Promise<{ result: Result } | { waiting: string }>} attempt gets the time that is left
   */
  async #retry(timeout, what, attempt) {
    const end = performance.now() + timeout;
    let waiting = '';
    for (;;) {
      try {
        const outcome = await attempt(Math.max(end - performance.now(), 0));
        if ('result' in outcome) return outcome.result;
        waiting = outcome.waiting;
      } catch (error) {
        if (isTimeout(error))
          throw new TimeoutError(`${what} took longer than ${timeout} ms: ${waiting || 'the page does not respond'}`);
        if (!this.#isBetweenDocuments(error)) throw error;
        waiting = 'the page is navigating';
      }
      await setTimeout(INTERVAL);
    }
  }

  /**
   * Whether a command failed because another document takes the place of the one that it was for.
   *
   * @param {unknown} error
   */
  #isBetweenDocuments(error) {
    if (this.#window.page.closed || this.#window.hasCrashed) return false;
    if (error instanceof PageError) return false;
    if (error instanceof CommandError) return error.code === 'unknown error';
    return ENDS_OF_DOCUMENTS.has(messageOf(error));
  }

  /** @param {ElementAction} action @returns {Promise<unknown>} */
  async #act(
    { frame = 0, selector, isStrict = false, action, parameters = {}, timeout },
    isLast = READING.has(action),
  ) {
    const steps = parseSelector(selector);
    const { automation } = this.#window;
    const end = performance.now() + timeout;
    const result = await this.#retry(timeout, `${action} of ${selector}`, async (left) => {
      const context = { frame, document: automation.document };
      const command = { steps, isStrict, action, parameters };
      const outcome = await automation.perform(context, 'act', command, { timeout: left });
      return outcome.waiting === undefined ? { result: outcome.result } : { waiting: outcome.waiting };
    });
    if (!isLast) await automation.waitForNavigation('commit', Math.max(end - performance.now(), 0));
    return result;
  }

  /** Performs an action on an element. @param {ElementAction & { delay?: number, texts?: string[] }} options */
  async act({ delay = 0, texts, ...options }) {
    if (texts === undefined) return await this.#act(options);
    // Keys with a delay between them.
    const end = performance.now() + options.timeout;
    for (const [at, text] of texts.entries()) {
      if (at > 0) await setTimeout(delay);
      const timeout = Math.max(end - performance.now(), 0);
      await this.#act({ ...options, parameters: { ...options.parameters, text }, timeout });
    }
    return undefined;
  }

  /**
   * Waits until an element is in a state.
   *
   * @param {{ frame?: number, selector: string, isStrict?: boolean, state: 'attached' | 'detached' | 'visible' |
   *   'hidden', timeout: number }} options
   */
  async waitForSelector({ state, timeout, ...options }) {
    await this.#retry(timeout, `waiting for ${options.selector} to be ${state}`, async (left) => {
      const found = await this.#act({ ...options, action: 'state', timeout: left });
      const { isAttached, isVisible } = /** @type {{ isAttached: boolean, isVisible: boolean }} */ (found);
      const isReached = { attached: isAttached, detached: !isAttached, visible: isVisible, hidden: !isVisible }[state];
      const now = isVisible ? 'visible' : isAttached ? 'not visible' : 'not there';
      return isReached ? { result: undefined } : { waiting: `it is ${now}` };
    });
  }

  /**
   * Runs a script until its result is true.
   *
   * @param {import('./page.cjs').ScriptCall & { polling?: number, timeout: number }} script
   */
  async waitForFunction({ polling = INTERVAL, timeout, ...script }) {
    let isFirst = true;
    return await this.#retry(timeout, 'waiting for the function', async (left) => {
      if (!isFirst) await setTimeout(Math.max(polling - INTERVAL, 0));
      isFirst = false;
      const result = await this.#window.page.evaluate({ ...script, timeout: left });
      return readValue(result) ? { result } : { waiting: 'its result is not true' };
    });
  }

  /** @param {import('../client/navigate-options.cjs').WaitUntil} state @param {number} timeout */
  async waitForLoadState(state, timeout) {
    await this.#retry(timeout, `waiting for ${state}`, async (left) => {
      await this.#window.automation.waitForNavigation('commit', left);
      await withTimeout(left, `waiting for ${state}`, () => this.#window.page.waitFor(state));
      return { result: undefined };
    });
  }
}

/** @param {unknown} error */
function isTimeout(error) {
  return error instanceof TimeoutError || (error instanceof CommandError && error.code === 'timeout');
}

module.exports = { PageActions };
