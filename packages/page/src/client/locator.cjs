'use strict';

// A way to find elements of a page. They are looked for with each action, so a locator is never stale.

/** @typedef {import('./page-client.cjs').Page} Page */
/** @typedef {import('../../index.js').ActionOptions} ActionOptions */
/** @typedef {(action: string, selector: string, options?: ActionOptions, parameters?: object) => Promise<any>} Act what is not a method of pages */

/** Methods of pages that locators have for their element, by how many arguments come before the options. */
const METHODS = {
  blur: 0,
  check: 0,
  click: 0,
  dblclick: 0,
  dispatchEvent: 2,
  fill: 1,
  focus: 0,
  getAttribute: 1,
  hover: 0,
  innerHTML: 0,
  innerText: 0,
  inputValue: 0,
  isChecked: 0,
  isDisabled: 0,
  isEditable: 0,
  isEnabled: 0,
  isHidden: 0,
  isVisible: 0,
  press: 1,
  selectOption: 1,
  setChecked: 1,
  textContent: 0,
  type: 1,
  uncheck: 0,
};

/** @param {unknown[]} options that a test would believe to apply @throws {TypeError} */
function checkNoOptions(options) {
  if (options.some((option) => option !== undefined))
    throw new TypeError('locator() takes a selector only: options such as hasText are not supported');
}

/**
 * The members that give locators are of this class, as those of the page are.
 *
 * @implements {Omit<import('../../index.js').Locator, keyof typeof METHODS | 'page' | 'locator' | 'nth' | 'first' |
 *   'last' | 'all'>}
 */
class Locator {
  #page;
  #selector;
  #act;

  static {
    for (const [name, count] of Object.entries(METHODS)) {
      const methods = {
        /** @this {Locator} @param {any[]} parameters */
        async [name](...parameters) {
          const given = Array.from({ length: count }, (_, at) => parameters[at]);
          return await /** @type {any} */ (this.#page)[name](this.#selector, ...given, strictly(parameters[count]));
        },
      };
      Object.defineProperty(Locator.prototype, name, { value: methods[name], writable: true, configurable: true });
    }
  }

  /** @param {Page} page @param {string} selector @param {Act} act */
  constructor(page, selector, act) {
    this.#page = page;
    this.#selector = selector;
    this.#act = act;
  }

  page() {
    return this.#page;
  }

  /** @param {string} selector @param {undefined[]} options those of Playwright, such as `hasText`, are missing */
  locator(selector, ...options) {
    checkNoOptions(options);
    return new Locator(this.#page, `${this.#selector} >> ${selector}`, this.#act);
  }

  /** @param {number} index */
  nth(index) {
    return this.locator(`nth=${Number(index)}`);
  }

  first() {
    return this.nth(0);
  }

  last() {
    return this.nth(-1);
  }

  async count() {
    return await this.#act('count', this.#selector);
  }

  async all() {
    return Array.from({ length: await this.count() }, (_, index) => this.nth(index));
  }

  async allTextContents() {
    return await this.#act('read all', this.#selector, {}, { what: 'textContent' });
  }

  async allInnerTexts() {
    return await this.#act('read all', this.#selector, {}, { what: 'innerText' });
  }

  /** @param {ActionOptions & { state?: 'attached' | 'detached' | 'visible' | 'hidden' }} [options] */
  async waitFor(options) {
    await this.#page.waitForSelector(this.#selector, strictly(options));
  }

  /** @param {ActionOptions} [options] */
  async clear(options) {
    await this.#page.fill(this.#selector, '', strictly(options));
  }

  /** @param {string} text @param {ActionOptions & { delay?: number }} [options] */
  async pressSequentially(text, options) {
    await this.#page.type(this.#selector, text, strictly(options));
  }
}

/** A locator means one element. @template {object} Options @param {Options} [options] */
function strictly(options) {
  return /** @type {Options & { strict: boolean }} */ ({ strict: true, ...options });
}

module.exports = { Locator, checkNoOptions };
