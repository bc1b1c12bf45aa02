'use strict';

// A way to find elements of a page. They are looked for with each action, so a locator is never stale.

/** @typedef {import('./page-client.cjs').Page} Page */
/** @typedef {import('../../index.js').ActionOptions} ActionOptions */
/** @typedef {import('../../index.js').ClickOptions} ClickOptions */
/** @typedef {(action: string, selector: string, options?: ActionOptions, parameters?: object) => Promise<any>} Act what is not a method of pages */

/** @param {unknown[]} options that a test would believe to apply @throws {TypeError} */
function checkNoOptions(options) {
  if (options.some((option) => option !== undefined))
    throw new TypeError('locator() takes a selector only: options such as hasText are not supported');
}

/**
 * The members that give locators are of this class, as those of the page are.
 *
 * @implements {Omit<import('../../index.js').Locator, 'page' | 'locator' | 'nth' | 'first' | 'last' | 'all'>}
 */
class Locator {
  #page;
  #selector;
  #act;

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

  /** @param {ClickOptions} [options] */
  async click(options) {
    await this.#page.click(this.#selector, strictly(options));
  }

  /** @param {Omit<ClickOptions, 'clickCount'>} [options] */
  async dblclick(options) {
    await this.#page.dblclick(this.#selector, strictly(options));
  }

  /** @param {Pick<ClickOptions, 'modifiers' | 'position'> & ActionOptions} [options] */
  async hover(options) {
    await this.#page.hover(this.#selector, strictly(options));
  }

  /** @param {string} value @param {ActionOptions} [options] */
  async fill(value, options) {
    await this.#page.fill(this.#selector, value, strictly(options));
  }

  /** @param {ActionOptions} [options] */
  async clear(options) {
    await this.fill('', options);
  }

  /** @param {string} text @param {ActionOptions & { delay?: number }} [options] */
  async pressSequentially(text, options) {
    await this.#page.type(this.#selector, text, strictly(options));
  }

  /** @param {string} text @param {ActionOptions & { delay?: number }} [options] */
  async type(text, options) {
    await this.pressSequentially(text, options);
  }

  /** @param {string} key @param {ActionOptions} [options] */
  async press(key, options) {
    await this.#page.press(this.#selector, key, strictly(options));
  }

  /** @param {ActionOptions} [options] */
  async check(options) {
    await this.setChecked(true, options);
  }

  /** @param {ActionOptions} [options] */
  async uncheck(options) {
    await this.setChecked(false, options);
  }

  /** @param {boolean} isChecked @param {ActionOptions} [options] */
  async setChecked(isChecked, options) {
    await this.#page.setChecked(this.#selector, isChecked, strictly(options));
  }

  /** @param {import('../../index.js').OptionChoice | import('../../index.js').OptionChoice[] | null} values @param {ActionOptions} [options] */
  async selectOption(values, options) {
    return await this.#page.selectOption(this.#selector, values, strictly(options));
  }

  /** @param {ActionOptions} [options] */
  async focus(options) {
    await this.#page.focus(this.#selector, strictly(options));
  }

  /** @param {ActionOptions} [options] */
  async blur(options) {
    await this.#page.blur(this.#selector, strictly(options));
  }

  /** @param {string} type @param {object} [init] @param {ActionOptions} [options] */
  async dispatchEvent(type, init, options) {
    await this.#page.dispatchEvent(this.#selector, type, init, strictly(options));
  }

  /** @param {ActionOptions} [options] */
  async textContent(options) {
    return await this.#page.textContent(this.#selector, strictly(options));
  }

  /** @param {ActionOptions} [options] */
  async innerText(options) {
    return await this.#page.innerText(this.#selector, strictly(options));
  }

  /** @param {ActionOptions} [options] */
  async innerHTML(options) {
    return await this.#page.innerHTML(this.#selector, strictly(options));
  }

  /** @param {ActionOptions} [options] */
  async inputValue(options) {
    return await this.#page.inputValue(this.#selector, strictly(options));
  }

  /** @param {string} name @param {ActionOptions} [options] */
  async getAttribute(name, options) {
    return await this.#page.getAttribute(this.#selector, name, strictly(options));
  }

  /** @param {ActionOptions} [options] */
  async isVisible(options) {
    return await this.#page.isVisible(this.#selector, strictly(options));
  }

  /** @param {ActionOptions} [options] */
  async isHidden(options) {
    return await this.#page.isHidden(this.#selector, strictly(options));
  }

  /** @param {ActionOptions} [options] */
  async isChecked(options) {
    return await this.#page.isChecked(this.#selector, strictly(options));
  }

  /** @param {ActionOptions} [options] */
  async isDisabled(options) {
    return await this.#page.isDisabled(this.#selector, strictly(options));
  }

  /** @param {ActionOptions} [options] */
  async isEnabled(options) {
    return await this.#page.isEnabled(this.#selector, strictly(options));
  }

  /** @param {ActionOptions} [options] */
  async isEditable(options) {
    return await this.#page.isEditable(this.#selector, strictly(options));
  }
}

/** A locator means one element. @template {object} Options @param {Options} [options] */
function strictly(options) {
  return /** @type {Options & { strict: boolean }} */ ({ strict: true, ...options });
}

module.exports = { Locator, checkNoOptions };
