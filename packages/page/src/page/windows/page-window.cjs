'use strict';

// A window of a page thread, or the global object of its worker: its context, its realm, and the document that it
// shows.

const vm = require('node:vm');

const native = require('selfprof/internal/native.cjs');
const { referrerOf } = require('../../fetch/referrer.cjs');
const { isRestricted } = require('../../fetch/sandbox.cjs');
const { withoutFragment } = require('../../fetch/without-fragment.cjs');
const { Realm } = require('../scripts/realm.cjs');
const { describeNavigation } = require('../loading/resource-timing.cjs');
const { runClassicScript } = require('../scripts/script-compilation.cjs');
const { loadWindowCode } = require('./window-code.cjs');
const { WindowModules } = require('../scripts/window-modules.cjs');
const { WindowNative } = require('./window-native.cjs');

/** @typedef {import('../../window/contracts.js').WindowCode} WindowCode */
/** @typedef {import('../thread-messages.js').PageDocument} PageDocument */

/**
 * What a window shows: a document that the host describes, or an empty one.
 *
 * @typedef {Partial<PageDocument> & { url: string }} ShownDocument
 */

class PageWindow {
  #thread;
  /**
   * Functions of its realm, once our code was loaded there. jsdom runs scripts of its own before.
   *
   * @type {WindowCode}
   */
  code = /** @type {any} */ (undefined);
  /** The addon's functions for it, once our code was loaded. @type {WindowNative | undefined} */
  native;
  /** Base URLs of classic scripts, by the URLs that they are compiled under. @type {Map<string, string>} */
  bases = new Map();
  /** The loading of its document. @type {import('../apis/document-loading.cjs').Loading | undefined} */
  loading;
  /** `performance.now()` of the window. */
  now = () => 0;
  /** Broadcast channels that are open. @type {Set<{ close(): void }>} */
  channels = new Set();
  /** Whether it was not closed. Scripts can keep the functions of a window that is. */
  isOpen = true;

  /**
   * @param {import('../page-thread.cjs').PageThread} thread
   * @param {ShownDocument} document
   * @param {number} frame its number in the thread; the outermost window has 0
   * @param {string[]} jsdomScripts prefixes of the paths of jsdom's scripts
   */
  constructor(thread, document, frame, jsdomScripts) {
    this.#thread = thread;
    this.document = document;
    this.frame = frame;
    this.isIsolated = thread.client.isIsolated === true && document.isIsolated !== false;
    /** Its global object. @type {Jsdom.Window} */
    this.window = /** @type {any} */ (vm.createContext(vm.constants.DONT_CONTEXTIFY));
    this.realm = new Realm(this.window, {
      originGroup: thread.client.origin,
      hostScripts: jsdomScripts,
      timeOrigin: document.startedAt,
      crossOriginIsolated: this.isIsolated,
    });
    this.modules = new WindowModules(thread, this);
  }

  /** Whether a frame around its document is sandboxed. */
  get isRestricted() {
    return isRestricted(this.document.sandbox);
  }

  /** Whether its document may run scripts. */
  get allowsScripts() {
    return this.document.sandbox?.allowsScripts !== false;
  }

  /** The client of its requests: frames of the page's origin have embedder policies of their own. */
  get client() {
    const { client } = this.#thread;
    return { ...client, embedderPolicy: this.document.embedderPolicy ?? client.embedderPolicy };
  }

  /** The referrer of its requests, see fetch/referrer.cjs. @param {string} claimed */
  referrerOf(claimed) {
    const { origin, url } = this.#thread.client;
    const own = this.document.url;
    return referrerOf(claimed, { url: own.startsWith('about:') ? url : own, origin });
  }

  /**
   * Loads our own code into its realm.
   *
   * @param {import('../../window/contracts.js').WindowHost} host what it gets from the thread
   */
  enter(host) {
    this.native = new WindowNative(this.#thread, this);
    this.code = loadWindowCode(this, host, this.native.addon());
  }

  /** Describes its document. @returns {import('../../window/contracts.js').WindowDescription} */
  describe() {
    const { document, isIsolated, realm } = this;
    const { isSecure = false } = this.#thread.client;
    const epoch = performance.timeOrigin + performance.now() - native.now();
    return {
      isIsolated,
      isSecure,
      origin: realm.timeOrigin,
      // Coarsened as its clock is.
      timeOrigin: Math.floor((realm.timeOrigin + epoch) * 10) / 10,
      loading: describeNavigation(document.timing, this),
    };
  }

  /**
   * Runs a classic script of the document.
   *
   * @param {string} source
   * @param {string} url of the document
   * @param {{ line?: number, column?: number, base?: string }} [options] where it begins there, counted from 0, and
   *   what its `import()` resolves against
   * @returns {any} its completion value
   */
  runScript(source, url, { line = 0, column = 0, base } = {}) {
    if (this.code === undefined) return runClassicScript(this.realm, source, url, { line, column });
    if (!this.allowsScripts) throw new Error('the document is sandboxed and may not run scripts');
    const shown = withoutFragment(url);
    if (base !== undefined) this.bases.set(shown, base);
    return runClassicScript(this.realm, source, shown, { line, column });
  }

  /**
   * Runs a script of the page's user.
   *
   * @param {string} source
   * @param {string} name that stacks show
   * @param {number} [column]
   * @returns {any} its completion value
   */
  runUserScript(source, name, column = 0) {
    this.bases.set(name, this.window._document.baseURLSerialized());
    return runClassicScript(this.realm, source, name, { line: 0, column });
  }

  /** Its scripts are no longer needed. */
  close() {
    this.isOpen = false;
    this.native?.close();
    this.realm.close();
  }
}

module.exports = { PageWindow };
