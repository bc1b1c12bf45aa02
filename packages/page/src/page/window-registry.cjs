'use strict';

// The windows of a page thread: their contexts, their realms and the documents that they show. What a document may do follows from its
// headers, which come from the host.

const vm = require('node:vm');

const native = require('selfprof/internal/native.cjs');
const { withoutFragment } = require('../fetch/without-fragment.cjs');
const { UNRESTRICTED, combine } = require('../fetch/sandbox.cjs');
const { isSameOrigin } = require('../fetch/origin.cjs');
const { referrerOf } = require('../fetch/referrer.cjs');
const { LoadRecording } = require('./load-recording.cjs');
const { toPageRequest } = require('./page-request.cjs');
const { Realm } = require('./realm.cjs');
const { clockOf, describeNavigation } = require('./resource-timing.cjs');
const { callingRealm } = require('./page-code.cjs');
const { runClassicScript, syntaxErrorOfBody } = require('./script-compilation.cjs');
const { loadWindowCode } = require('./window-code.cjs');
const { WindowNative } = require('./window-native.cjs');
const { WindowRecord } = require('./window-record.cjs');

/** @typedef {import('../window/contracts.js').WindowHost} WindowHost */
/** @typedef {import('./thread-types.js').ShownDocument} ShownDocument */
/** @typedef {import('./thread-messages.js').PageDocument} ThreadDocument */

/** The document of a new frame, until it has loaded another one. @type {ShownDocument} */
const EMPTY_DOCUMENT = { url: 'about:blank', profiling: undefined };

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

  /** @param {ThreadDocument} document @returns {number} its number */
  add(document) {
    const id = this.#nextDocument++;
    this.#documents.set(id, document);
    return id;
  }

  /**
   * The client of the requests of a window: frames of the page's origin are in its thread, and have embedder policies of their own.
   *
   * @param {number | undefined} frame the number of the window
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
    const window = vm.createContext(vm.constants.DONT_CONTEXTIFY);
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
      fetch: (request) => loader.fetchForHost(toPageRequest({ ...request, window: frame, initiator: 'script' })),
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
    record.code = loadWindowCode(record, host, windowNative.addon());
    record.native = windowNative;
    return record.code;
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

  /** The thread is released. */
  closeAll() {
    this.#recording?.take();
    for (const { window } of [...this.#open.values()]) this.close(window);
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
    return record;
  }

  /**
   * Runs a classic script of a document.
   *
   * @param {object} window
   * @param {string} source
   * @param {string} url of the document
   * @param {number} line where it begins there, counted from 0
   * @param {number} column
   * @param {string} base what its `import()` resolves against; empty for scripts of jsdom itself
   * @returns {any} its completion value
   */
  runScript(window, source, url, line, column, base) {
    const { realm, bases, isEntered } = this.withScripts(window);
    // jsdom runs scripts of its own before our code is in the window.
    const shown = isEntered ? withoutFragment(url) : url;
    if (base !== '') bases.set(shown, base);
    return runClassicScript(realm, source, shown, { line, column });
  }

  /**
   * Runs a script of the page's user.
   *
   * @param {object} window
   * @param {string} source
   * @param {string} name that stacks show
   * @param {number} column
   * @param {string} base
   */
  runUserScript(window, source, name, column, base) {
    const { realm, bases } = this.get(window);
    bases.set(name, base);
    return runClassicScript(realm, source, name, { line: 0, column });
  }

  /** Runs a module that was prepared. @param {object} window @param {number} handle */
  runModule(window, handle) {
    this.withScripts(window).modules.run(handle, (thrown) => this.#thread.report(thrown, window));
  }

  /** Checks the body of an event handler. @param {object} window @param {string} parameters @param {string} body @throws {SyntaxError} */
  checkFunctionBody(window, parameters, body) {
    const { makeError } = this.withScripts(window).code;
    const message = syntaxErrorOfBody(parameters.split(', '), body);
    if (message !== undefined) throw makeError('SyntaxError', message);
  }

  /** The window whose script calls, by its global object; undefined when no script of a window does. */
  calling() {
    return this.ofRealm(callingRealm())?.window;
  }

  /** Whether a muted script threw an exception. If so, this tells the page's user, so call it once for each. @param {object} window @param {unknown} thrown */
  takeMuted(window, thrown) {
    const place = native.mutedException(thrown);
    if (place === undefined) return false;
    this.#thread.reports.laterMutedException(this.frameOf(window), place, thrown);
    return true;
  }

  /** `document.cookie`. @param {object} window @param {string} address the URL of its document */
  cookiesOf(window, address) {
    const url = this.#cookieUrlOf(window, address);
    return url === undefined ? '' : this.#thread.cookies.forScript(url, this.#thread.client);
  }

  /** `document.cookie = text`. @param {object} window @param {string} address the URL of its document @param {string} text */
  setCookie(window, address, text) {
    const url = this.#cookieUrlOf(window, address);
    if (url !== undefined) this.#thread.cookies.setByScript(url, text, this.#thread.client);
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

  /** Describes a window's document. @param {object} window @returns {import('../window/contracts.js').WindowDescription} */
  describe(window) {
    const { document, isIsolated, realm } = this.get(window);
    const { isSecure = false } = this.#thread.client;
    return {
      isIsolated,
      isSecure,
      mayProfile: document.profiling !== undefined,
      origin: realm.timeOrigin,
      timeOrigin: epochTimeOf(realm.timeOrigin),
      loading: describeNavigation(document.timing, clockOf({ isIsolated }, realm.timeOrigin)),
    };
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
   * Reports a resource to the window that it was fetched for, if it is open. https://w3c.github.io/resource-timing/#mark-resource-timing
   *
   * @param {number} frame
   * @param {string} url
   * @param {string} initiator
   * @param {import('../fetch/fetch-timing.cjs').FetchTiming | undefined} timing undefined for a response that was not fetched
   */
  reportResource(frame, url, initiator, timing) {
    if (timing !== undefined) this.ofFrame(frame)?.native?.reportResource(url, initiator, timing);
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
  #cookieUrlOf(window, claimed) {
    this.get(window);
    if (!URL.canParse(claimed)) return undefined;
    const url = new URL(claimed);
    const hasCookies = url.protocol === 'http:' || url.protocol === 'https:';
    return hasCookies && isSameOrigin(url, this.#thread.client.origin) ? url.href : undefined;
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
