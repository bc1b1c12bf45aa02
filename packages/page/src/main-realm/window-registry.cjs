'use strict';

// The windows of a page thread, as the main realm knows them: their contexts, their realms and the documents that they show. What a
// document may do follows from its headers, which the main realm gets from the user's thread and never from a page.

const vm = require('node:vm');

const native = require('selfprof/internal/native.cjs');
const { credibleUrl, withoutFragment } = require('../any-realm/claimed-url.cjs');
const { UNRESTRICTED } = require('../any-realm/sandbox-attribute.cjs');
const { ownValue } = require('../cloning/own-values.cjs');
const { isSameOrigin } = require('../fetch/origin.cjs');
const { referrerOf } = require('../fetch/referrer.cjs');
const { combine } = require('../fetch/sandbox.cjs');
const { LoadRecording } = require('./load-recording.cjs');
const { Realm } = require('./realm.cjs');
const { clockOf, describeNavigation } = require('./resource-timing.cjs');
const { loadWindowCode } = require('./window-code.cjs');
const { WindowNative } = require('./window-native.cjs');
const { WindowRecord } = require('./window-record.cjs');

/** @typedef {import('./window-record.cjs').WindowCode} WindowCode */
/** @typedef {import('../any-realm/realm-contracts.js').WindowHost} WindowHost */
/** @typedef {import('./thread-types.js').ShownDocument} ShownDocument */
/** @typedef {import('../any-realm/thread-messages.js').PageDocument} ThreadDocument */

/** How many windows a page may open in its lifetime: each is a realm, whose memory V8 frees late. */
const MAX_WINDOWS = 1_000;

/** The document of a new frame, until it has loaded another one. @type {ShownDocument} */
const EMPTY_DOCUMENT = { url: 'about:blank', profiling: undefined };

/** The functions of a window's program that the main realm calls. */
const CODE = ['allocate', 'describeModule', 'emptyObject', 'makeError', 'parse', 'settle'];

class WindowRegistry {
  #thread;
  #hostScripts;
  /** By number. @type {Map<number, ShownDocument>} */
  #documents = new Map();
  /** @type {WeakMap<object, WindowRecord>} */
  #windows = new WeakMap();
  /** Windows that were not closed, by realm. @type {Map<number, WindowRecord>} */
  #open = new Map();
  #nextDocument = 1;
  #count = 0;
  /** The recording of the page's document that the page's user asked for. @type {LoadRecording | undefined} */
  #recording;

  /**
   * @param {import('./page-thread.cjs').PageThread} thread
   * @param {string[]} hostScripts prefixes of the paths of jsdom's scripts
   */
  constructor(thread, hostScripts) {
    this.#thread = thread;
    this.#hostScripts = hostScripts;
  }

  /** @param {ThreadDocument} document @returns {number} the DOM realm's number of it */
  add(document) {
    const id = this.#nextDocument++;
    this.#documents.set(id, document);
    return id;
  }

  /**
   * The client of the requests of a window: frames of the page's origin are in its thread, and have embedder policies of their own.
   *
   * @param {number | undefined} frame the DOM realm's number of the window
   */
  clientOf(frame) {
    const { client } = this.#thread;
    const record = this.ofFrame(frame);
    // Scripts can keep the functions of a frame that is gone, and its policy with it.
    if (record === undefined && frame !== undefined && frame !== 0)
      return { ...client, embedderPolicy: /** @type {const} */ ('require-corp') };
    const { embedderPolicy = client.embedderPolicy } = record?.document ?? client;
    return { ...client, embedderPolicy };
  }

  /**
   * Makes the context of a window for a document.
   *
   * @param {number} document
   * @param {number} frame
   * @param {object} options
   * @param {boolean} options.mayBeIsolated whether the frame element allows that; a page that lies here is isolated anyway
   * @param {number} options.around the frame of the window around it, whose policy an empty document has
   * @param {boolean} options.allowsScripts whether the frame element allows them in an empty document
   */
  create(document, frame, { mayBeIsolated, around, allowsScripts }) {
    const { embedderPolicy } = this.clientOf(around);
    const { sandbox: outer, isolated } = this.ofFrame(around)?.document ?? EMPTY_DOCUMENT;
    const sandbox = allowsScripts ? outer : combine(outer, { ...UNRESTRICTED, allowsScripts });
    const description = this.#take(document, { embedderPolicy, sandbox, isolated });
    if (description === undefined) throw new Error('there is no such document');
    if (this.#count === MAX_WINDOWS) throw new Error(`a page may open no more than ${MAX_WINDOWS} windows`);
    this.#count += 1;
    const window = vm.createContext(vm.constants.DONT_CONTEXTIFY);
    this.#thread.restrictRealm(window);
    const { client, loader, reports } = this.#thread;
    const isIsolated = client.isIsolated === true && mayBeIsolated && description.isIsolated !== false;
    const realm = new Realm(window, {
      originGroup: client.origin,
      hostScripts: this.#hostScripts,
      timeOrigin: description.startedAt,
      crossOriginIsolated: isIsolated,
    });
    if (description.profile !== undefined) this.#recording = new LoadRecording(realm, description.profile);
    const record = new WindowRecord(window, frame, realm, description, isIsolated, {
      fetch: (request) => loader.fetchForHost({ ...request, window: frame, initiator: 'script' }),
      referrerOf: (claimed) => this.referrerOf(frame, claimed),
      onFailure: (url, error) => reports.loadFailure({ window: frame, initiator: 'module', url }, error),
    });
    record.isFresh = document === 0;
    this.#windows.set(window, record);
    this.#open.set(realm.id, record);
    return window;
  }

  /**
   * Loads our own code into a window's realm.
   *
   * @param {object} window
   * @param {WindowHost} host
   */
  enter(window, host) {
    const record = this.get(window);
    if (record.isEntered) throw new Error('the window was entered before');
    const windowNative = new WindowNative(this.#thread, record);
    const code = loadWindowCode(this.#thread.store, record, host, windowNative.functions());
    record.native = windowNative;
    // The DOM realm gets the object, and a page may change that. The functions themselves are ours.
    record.code = /** @type {WindowCode} */ (Object.fromEntries(CODE.map((name) => [name, ownValue(code, name)])));
    return code;
  }

  /**
   * A document is shown once; the empty one, any number of times.
   *
   * @param {number} document
   * @param {Pick<ShownDocument, 'embedderPolicy' | 'sandbox' | 'isolated'>} inherited by an empty one
   * @returns {ShownDocument | undefined}
   */
  #take(document, { embedderPolicy, sandbox, isolated }) {
    if (document === 0) return { ...EMPTY_DOCUMENT, embedderPolicy, sandbox, isolated };
    const description = this.#documents.get(document);
    this.#documents.delete(document);
    return description;
  }

  /**
   * Records which document a window shows in place of its first, empty one. Any other document has a window of its own.
   *
   * @param {object} window
   * @param {number} document
   */
  use(window, document) {
    const record = this.#windows.get(window);
    if (record === undefined || !record.isFresh) return;
    const description = this.#take(document, record.document);
    if (description === undefined) return;
    record.isFresh = false;
    record.document = description;
  }

  /** A window was closed: its scripts are no longer needed. @param {object} window */
  close(window) {
    const record = this.#windows.get(window);
    if (record === undefined || !this.#open.delete(record.realm.id)) return;
    record.native?.close();
    this.#thread.workers.endOf(record);
    record.realm.close();
  }

  /** Whether its document is shown. Scripts can keep the functions of a window that is closed. @param {WindowRecord} record */
  isOpen(record) {
    return this.#open.has(record.realm.id);
  }

  /** @param {object} window */
  get(window) {
    const record = this.#windows.get(window);
    if (record === undefined) throw new Error('this is not a window of the page');
    return record;
  }

  /** The number of a window's frame; 0 for anything else. @param {object} window */
  frameOf(window) {
    return this.#windows.get(window)?.frame ?? 0;
  }

  /** A window whose document may run scripts. jsdom runs its own before our code is in the window. @param {object} window */
  withScripts(window) {
    const record = this.get(window);
    if (record.isEntered && record.document.sandbox?.allowsScripts === false)
      throw new Error('the document is sandboxed and may not run scripts');
    // Not sooner: our own code and jsdom's make them.
    if (record.isEntered) this.#thread.fixedPrototypes.fix(window);
    return record;
  }

  /** Ends the recording. @returns {Promise<{ bytes: Uint8Array } | { error: string }>} a trace as gzipped JSON */
  async takeProfile() {
    const recording = this.#recording;
    this.#recording = undefined;
    if (recording === undefined) return { error: 'there is no recording, or it was taken' };
    const taken = await recording.take();
    if ('error' in taken) return taken;
    if (taken.hasFullTables) this.#thread.reports.fullRecording();
    return { bytes: taken.bytes };
  }

  /** Describes a window's document to the DOM realm: JSON of a `WindowDescription`. @param {object} window */
  describe(window) {
    const { document, isIsolated, realm } = this.get(window);
    const { isSecure = false } = this.#thread.client;
    const description = {
      isIsolated,
      isSecure,
      mayProfile: document.profiling !== undefined,
      origin: realm.timeOrigin,
      timeOrigin: epochTimeOf(realm.timeOrigin),
      loading: describeNavigation(document.timing, clockOf({ isIsolated }, realm.timeOrigin)),
    };
    return JSON.stringify(description);
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

  /**
   * Takes a sample for each started session of a window. https://wicg.github.io/js-self-profiling/#force-sample
   *
   * @param {number} frame
   * @returns {boolean} whether there is such a window
   */
  forceSample(frame) {
    const record = this.ofFrame(frame);
    record?.realm.forceSample();
    return record !== undefined;
  }

  /** Pauses the sessions of all windows, or resumes them. @param {boolean} isPaused */
  setPaused(isPaused) {
    for (const { realm } of this.#open.values()) realm.pause(isPaused);
  }

  /** @param {number | undefined} frame @returns {WindowRecord | undefined} */
  ofFrame(frame) {
    return [...this.#open.values()].find((record) => record.frame === frame);
  }

  /** The referrer of a window's requests, see fetch/referrer.cjs. @param {number} frame @param {string} claimed */
  referrerOf(frame, claimed) {
    const { origin, url } = this.#thread.client;
    const own = this.ofFrame(frame)?.document.url ?? url;
    return referrerOf(claimed, { url: own.startsWith('about:') ? url : own, origin });
  }

  /**
   * The URL by which a window has cookies; undefined for none. A document can move to each URL of its origin.
   * https://html.spec.whatwg.org/multipage/dom.html#cookie-averse-document-object
   *
   * @param {object} window
   * @param {string} claimed
   */
  cookieUrlOf(window, claimed) {
    this.get(window);
    if (!URL.canParse(claimed)) return undefined;
    const url = new URL(claimed);
    const hasCookies = url.protocol === 'http:' || url.protocol === 'https:';
    return hasCookies && isSameOrigin(url, this.#thread.client.origin) ? url.href : undefined;
  }

  /**
   * The URL that stacks and profiles show for a script of a window's document, without its fragment: `selfprof page` looks for local files by it.
   *
   * @param {object} window
   * @param {string} claimed
   */
  scriptUrlOf(window, claimed) {
    const { document, frame, isEntered } = this.get(window);
    // jsdom runs scripts of its own before our code is in the window.
    if (!isEntered && this.#hostScripts.some((beginning) => claimed.startsWith(beginning))) return claimed;
    const own = withoutFragment(document.url);
    const shown = withoutFragment(claimed);
    return shown === own ? own : withoutFragment(credibleUrl(shown, this.#thread.client.url, frame !== 0));
  }

  /** @param {number} realm the addon's number for it */
  ofRealm(realm) {
    return this.#open.get(realm);
  }
}

/** A time on the addon's clock as milliseconds since the Unix epoch, coarsened as the window's clock is. @param {number} time */
function epochTimeOf(time) {
  const epoch = performance.timeOrigin + performance.now() - native.now();
  return Math.floor((time + epoch) * 10) / 10;
}

module.exports = { WindowRegistry };
