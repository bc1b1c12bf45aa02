'use strict';

const { WindowModules } = require('./window-modules.cjs');

/** @typedef {import('../window/contracts.js').WindowCode} WindowCode */
/** @typedef {import('./thread-types.js').ShownDocument} ShownDocument */
/** @typedef {import('./realm.cjs').Realm} Realm */
/** @typedef {import('./window-native.cjs').WindowNative} WindowNative */

/** A window, with its realm and the document that it shows. */
class WindowRecord {
  /** Once our code was loaded into the window. @type {WindowCode | undefined} */
  #code;
  /** The addon's functions for this window, once our code was loaded. @type {WindowNative | undefined} */
  native;
  /** Base URLs of classic scripts, by the URLs that they are compiled under. @type {Map<string, string>} */
  bases = new Map();
  /** Whether it shows its first document, which is empty. */
  isFresh = false;

  /**
   * @param {object} window its global object
   * @param {number} frame its number in this thread
   * @param {Realm} realm
   * @param {ShownDocument} document
   * @param {boolean} isIsolated
   * @param {ConstructorParameters<typeof WindowModules>[1]} moduleFetcher
   */
  constructor(window, frame, realm, document, isIsolated, moduleFetcher) {
    this.window = window;
    this.frame = frame;
    this.realm = realm;
    this.document = document;
    this.isIsolated = isIsolated;
    this.modules = new WindowModules(this, moduleFetcher);
  }

  /** Whether our code was loaded into the window. */
  get isEntered() {
    return this.#code !== undefined;
  }

  get code() {
    if (this.#code === undefined) throw new Error('the window has no code of ours yet');
    return this.#code;
  }

  set code(code) {
    this.#code = code;
  }
}

module.exports = { WindowRecord };
