'use strict';

// A window that another program drives: a page, with what it is called and where it has been.

const { Automation } = require('../automation.cjs');
const { History } = require('./history.cjs');

/** What a page says and its user is told. */
const EVENTS = ['console', 'pageerror', 'problem', 'crash'];

class Window {
  handle;
  page;
  automation;
  #history = new History();
  /** Whether the next document comes from the history. */
  #isTraversing = false;

  /**
   * @param {string} handle
   * @param {(event: object) => void} tell
   */
  constructor(handle, tell) {
    this.handle = handle;
    this.#tell = tell;
  }

  #tell;

  /** @param {import('../page.cjs').Page} page whose window it is from now on */
  attach(page) {
    this.page = page;
    this.automation = new Automation(page, this.handle);
    page.on('navigated', (url) => this.#onNavigated(url));
    for (const event of EVENTS) {
      page.on(event, (what) => this.#tell({ event, window: this.handle, ...(what instanceof Error ? { message: what.message } : what) }));
    }
    // An empty document may be there already.
    if (this.automation.document > 0) this.#history.push(page.url);
  }

  #onNavigated(url) {
    if (!this.#isTraversing) this.#history.push(url);
    this.#isTraversing = false;
    this.#tell({ event: 'navigated', window: this.handle, url });
  }

  /** Goes back or forward, in the document first. */
  async traverse(delta, { place, waitUntil, timeout, scriptTimeout }) {
    const isWithin = place.frame === 0 && (await this.automation.perform(place, 'traverse', { delta }, { timeout: scriptTimeout }).catch(() => false));
    if (isWithin) return;
    const url = this.#history.peek(delta);
    if (url === undefined) return;
    this.#isTraversing = true;
    try {
      await this.page.navigate(url, { waitUntil, timeout });
      this.#history.step(delta);
    } finally {
      this.#isTraversing = false;
    }
  }

  async reload(options) {
    // The same entry, again.
    this.#isTraversing = true;
    try {
      await this.page.navigate(this.page.url, options);
    } finally {
      this.#isTraversing = false;
    }
  }

  async forceSample({ frame, document }, timeout) {
    this.automation.assertThere({ frame, document });
    await this.page.forceSample({ frame, timeout });
  }
}

module.exports = { Window };
