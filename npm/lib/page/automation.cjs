'use strict';

// Drives a page as WebDriver does: finds elements, clicks, types, and runs scripts whose values are JSON with references.
// https://www.w3.org/TR/webdriver2/

const { MAX_DELAY, PageError, TimeoutError, innerPage } = require('./page.cjs');

/** Why a command was not done: `code` is one of https://www.w3.org/TR/webdriver2/#errors */
class Refused extends Error {
  constructor(code, message, stack = '') {
    super(message);
    this.code = code;
    this.pageStack = stack;
  }
}

/** How often elements are looked for while they are waited for, in milliseconds. */
const STEP = 20;

/**
 * A window that commands are about. The document is a number, too: when the page has navigated, its frames are others.
 *
 * @typedef {{ frame: number, document: number }} Place
 */

class Automation {
  #page;
  #handle;

  /**
   * @param {import('./page.cjs').Page} page
   * @param {string} handle the window's name; has no dot
   */
  constructor(page, handle) {
    this.#page = page;
    this.#handle = handle;
  }

  /** The page's document of now. */
  get document() {
    return innerPage(this.#page).generation;
  }

  /**
   * @param {Place} place
   * @throws {Refused} `no such window`
   */
  assertThere({ frame, document }) {
    const { generation, isThere, sites } = innerPage(this.#page);
    if (this.#page.closed) throw new Refused('no such window', 'the window is closed');
    if (!isThere) throw new Refused('unknown error', 'the page was ended, for it did not answer or its memory was full; navigate to go on');
    if (frame === 0) return;
    if (document !== generation || !sites.list().some((known) => known.frame === frame)) throw new Refused('no such window', 'the frame is gone');
  }

  /**
   * Has a page's DOM do something.
   *
   * @param {Place} place
   * @param {string} command see dom/automation/main.cjs
   * @param {object} parameters
   * @param {{ timeout: number, late?: string }} limit in milliseconds, with the code for what takes longer
   * @returns {Promise<unknown>} JSON
   */
  async perform(place, command, parameters, { timeout, late = 'timeout' }) {
    this.assertThere(place);
    const { ask, generation } = innerPage(this.#page);
    const names = { prefix: `${this.#handle}.${generation}.${place.frame}`, handle: this.#handle };
    let outcome;
    try {
      outcome = await ask(place.frame, { type: 'automate', command, names, parameters }, { timeout, what: command });
    } catch (error) {
      if (error instanceof TimeoutError) throw new Refused(late, `${command} took longer than ${timeout} ms`);
      if (error instanceof PageError) throw error;
      // The page went elsewhere meanwhile, or it was ended.
      const isScript = command === 'execute';
      throw new Refused(isScript ? 'javascript error' : 'unknown error', `the document went away while this was waited for: ${error.message}`);
    }
    const { text, error } = outcome;
    if (error !== undefined) throw new Refused(String(error?.code), String(error?.message), String(error?.stack ?? ''));
    return JSON.parse(String(text));
  }

  /** Looks for elements until one is there, or it has taken too long. */
  async find(place, locator, { timeout, implicit }) {
    const end = performance.now() + implicit;
    for (;;) {
      const found = await this.perform(place, 'find', locator, { timeout });
      const left = end - performance.now();
      if (found.length > 0 || !(left > 0)) return found;
      await new Promise((resolve) => setTimeout(resolve, Math.min(STEP, left)));
    }
  }

  /** Goes into a frame. @returns {Promise<Place>} */
  async enter(place, which, limit) {
    const found = await this.perform(place, 'frame', which, limit);
    const { sites, generation } = innerPage(this.#page);
    const frame = sites.within(place.frame, found);
    if (frame === undefined) throw new Refused('no such frame', 'the frame has no document');
    return { frame, document: generation };
  }

  /** The window around a frame. @returns {Place} */
  parentOf(place) {
    this.assertThere(place);
    const { sites, generation } = innerPage(this.#page);
    const parent = sites.list().find(({ frame }) => frame === place.frame)?.parent ?? 0;
    return { frame: parent, document: generation };
  }

  /** Waits for a navigation that the page has begun, if it has. */
  async settle(waitUntil, timeout) {
    let timer;
    const late = new Promise((resolve, reject) => {
      if (timeout > MAX_DELAY) return;
      timer = setTimeout(() => reject(new Refused('timeout', `the navigation took longer than ${timeout} ms`)), timeout);
    });
    try {
      await Promise.race([this.#settle(waitUntil), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #settle(waitUntil) {
    const { pending } = innerPage(this.#page);
    if (pending === undefined) return;
    await pending;
    await innerPage(this.#page).waitFor(waitUntil).catch(() => {});
  }
}

module.exports = { Automation, Refused };
