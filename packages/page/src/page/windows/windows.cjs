'use strict';

// The windows of a page thread.

const native = require('selfprof/internal/native.cjs');
const { PageWindow } = require('./page-window.cjs');

class Windows {
  #thread;
  #jsdomScripts;
  /** Those that are not closed, by global object. @type {Map<object, PageWindow>} */
  #open = new Map();
  #nextFrame = 0;
  /**
   * The session that records the load of the page's document, which the page's user asked for with the option `profile`
   * of a navigation. It begins before the document's first script and shows what a profiler of the document itself
   * would. It needs no permission from the document and does not count among the document's sessions.
   *
   * @type {number | undefined}
   */
  #recording;

  /**
   * @param {import('../page-thread.cjs').PageThread} thread
   * @param {string[]} jsdomScripts prefixes of the paths of jsdom's scripts
   */
  constructor(thread, jsdomScripts) {
    this.#thread = thread;
    this.#jsdomScripts = jsdomScripts;
  }

  all() {
    return [...this.#open.values()];
  }

  /** @param {object} global */
  find(global) {
    return this.#open.get(global);
  }

  /** @param {object} global */
  get(global) {
    const found = this.#open.get(global);
    if (found === undefined) throw new Error('this is not a window of the page');
    return found;
  }

  /** @param {number} frame */
  ofFrame(frame) {
    return this.all().find((window) => window.frame === frame);
  }

  /** @param {number} realm the addon's number for it */
  ofRealm(realm) {
    return this.all().find((window) => window.realm.id === realm);
  }

  /** Makes the window of a document. @param {import('./page-window.cjs').ShownDocument} document */
  create(document) {
    if (this.#open.size === 0) this.#nextFrame = 0;
    const created = new PageWindow(this.#thread, document, this.#nextFrame++, this.#jsdomScripts);
    if (document.profile !== undefined) {
      // The trace itself shows that it has as many samples as it may, so it needs no listener.
      const listener = { onFull() {}, onChunk() {} };
      this.#recording = created.realm.open({ ...document.profile, includeEntries: false }, listener).id;
    }
    this.#open.set(created.window, created);
    return created;
  }

  /** @param {PageWindow} window */
  close(window) {
    if (this.#open.delete(window.window)) window.close();
  }

  /** Ends the recording. @returns {Promise<{ bytes: Uint8Array } | { error: string }>} a trace as gzipped JSON */
  async takeProfile() {
    const session = this.#recording;
    this.#recording = undefined;
    if (session === undefined) return { error: 'there is no recording, or it was taken' };
    try {
      const { trace } = await native.close(session, 'json-gzip');
      setImmediate(native.releaseReadProfiles).unref();
      // A copy: memory of the addon cannot be transferred to another thread.
      return { bytes: /** @type {Uint8Array} */ (trace).slice() };
    } catch (error) {
      return { error: String(error instanceof Error ? error.message : error) };
    }
  }

  /**
   * Reports a long task to all windows. https://w3c.github.io/longtasks/#report-long-tasks
   *
   * @param {number} began
   * @param {number} ended
   */
  reportLongTask(began, ended) {
    // With several windows, it is unknown which of them the task belonged to.
    const name = this.#open.size === 1 ? 'self' : 'unknown';
    for (const window of this.#open.values()) window.native?.reportLongTask(name, began, ended);
  }

  /** Pauses the sessions of all windows, or resumes them. @param {boolean} isPaused */
  setPaused(isPaused) {
    for (const { realm } of this.#open.values()) realm.pause(isPaused);
  }
}

module.exports = { Windows };
