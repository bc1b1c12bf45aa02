'use strict';

// The windows of a page thread.

const { LoadRecording } = require('./load-recording.cjs');
const { PageWindow } = require('./page-window.cjs');

class Windows {
  #thread;
  #jsdomScripts;
  /** Those that are not closed, by global object. @type {Map<object, PageWindow>} */
  #open = new Map();
  #nextFrame = 0;
  /** The recording of the page's document that the page's user asked for. @type {LoadRecording | undefined} */
  #recording;

  /**
   * @param {import('./page-thread.cjs').PageThread} thread
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
    if (document.profile !== undefined) this.#recording = new LoadRecording(created.realm, document.profile);
    this.#open.set(created.window, created);
    return created;
  }

  /** @param {PageWindow} window */
  close(window) {
    if (this.#open.delete(window.window)) window.close();
  }

  /** The documents are gone. */
  endRecording() {
    this.#recording?.take();
    this.#recording = undefined;
  }

  /** Ends the recording. @returns {Promise<{ bytes: Uint8Array } | { error: string }>} a trace as gzipped JSON */
  async takeProfile() {
    const recording = this.#recording;
    this.#recording = undefined;
    return recording?.take() ?? { error: 'there is no recording, or it was taken' };
  }

  /** Reports a long task to all windows. https://w3c.github.io/longtasks/#report-long-tasks @param {number} began @param {number} ended */
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
