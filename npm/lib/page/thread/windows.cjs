'use strict';

// The windows of a page thread, as the main realm knows them: their contexts, their realms, and the documents that they show.
// What a document may do is decided by its headers, which the main realm gets from its user's thread and never from a page.

const path = require('node:path');
const vm = require('node:vm');

const { SAMPLER } = require('../../agent.cjs');
const native = require('../../native.cjs');
const { HostModules } = require('./host-modules.cjs');
const { LoadRecording } = require('./load-recording.cjs');
const { describeNavigation } = require('./resource-timing.cjs');
const { WindowNative, clockOf } = require('./window-native.cjs');
const { WindowModules } = require('./modules.cjs');

const LIB = path.join(__dirname, '..', '..');
const WINDOW_MODULES = path.join(LIB, 'page', 'window');

/** What our modules in a window find whatever the page did to its global object. */
const INTRINSICS = [
  'Array', 'Boolean', 'DOMException', 'Error', 'Event', 'EventTarget', 'FinalizationRegistry', 'Float64Array', 'Map', 'Math',
  'Number', 'Object', 'Promise', 'RangeError', 'Reflect', 'Set', 'String', 'Symbol', 'TypeError', 'Uint32Array', 'Uint8Array',
  'WeakRef',
];

/** Modules of the package that run in windows too, with what stands for those that are Node's. */
function windowSubstitutes(host, facade) {
  const files = new Map([
    [path.join(LIB, 'capabilities.cjs'), path.join(WINDOW_MODULES, 'capabilities.cjs')],
    [path.join(LIB, 'events.cjs'), path.join(WINDOW_MODULES, 'events.cjs')],
    ['node:perf_hooks', path.join(WINDOW_MODULES, 'perf-hooks.cjs')],
  ]);
  return (specifier) => {
    if (specifier === 'selfprof:host') return { value: host };
    if (specifier === path.join(LIB, 'native.cjs')) return { value: facade() };
    const file = files.get(specifier);
    return file === undefined ? undefined : { file };
  };
}

/** What the host does for a document: markers of profiles. */
const WORK = ['parse', 'style'];

/** How many windows a page may have had: each is a realm, and V8 gives their memory back late. */
const MAX_WINDOWS = 1_000;

/**
 * A window.
 *
 * @typedef {object} WindowRecord
 * @property {object} window its global object
 * @property {object} anchor an object of its realm that no page can have replaced
 * @property {number} frame what the DOM realm calls it
 * @property {number} realm the addon's number for its realm
 * @property {number} origin its time origin on the addon's clock, in milliseconds
 * @property {import('../policy/documents.cjs').Description} document
 * @property {object} code what window/main.cjs exports, once it was entered
 * @property {WindowModules} modules
 * @property {Map<string, string>} bases base URLs of classic scripts, by the URLs that they are compiled under
 */

class Windows {
  #thread;
  #hostScripts;
  #documents = new Map([[0, { url: 'about:blank', profiling: undefined }]]);
  #windows = new WeakMap();
  /** Of windows that were not closed, by realm. */
  #open = new Map();
  #nextDocument = 1;
  #count = 0;
  /** @type {LoadRecording | undefined} what the page's user has recorded of its document */
  #recording;

  /**
   * @param {import('./main.cjs').PageThread} thread
   * @param {string[]} hostScripts prefixes of the paths of the host's own scripts
   */
  constructor(thread, hostScripts) {
    this.#thread = thread;
    this.#hostScripts = hostScripts;
  }

  /** @param {import('../policy/documents.cjs').Description} document @returns {number} what the DOM realm calls it */
  add(document) {
    const id = this.#nextDocument++;
    this.#documents.set(id, document);
    return id;
  }

  /** Makes the context of a window for a document. */
  create(document, frame) {
    const record = this.#take(document);
    if (record === undefined) throw new Error('there is no such document');
    if (this.#count === MAX_WINDOWS) throw new Error(`a page may have no more than ${MAX_WINDOWS} windows`);
    this.#count += 1;
    const window = vm.createContext(vm.constants.DONT_CONTEXTIFY);
    const origin = record.startedAt ?? native.now();
    const realm = native.openRealm({
      originGroup: this.#thread.client.origin,
      hostScripts: this.#hostScripts,
      samplerScripts: SAMPLER,
      timeOrigin: origin,
      crossOriginIsolated: this.#thread.client.isIsolated === true,
    });
    if (record.profile !== undefined) this.#recording = new LoadRecording(realm, record.profile);
    const anchor = vm.runInContext('(function () {})', window);
    const known = { window, anchor, frame, realm, origin, document: record, code: undefined, modules: undefined, bases: new Map() };
    known.modules = new WindowModules(known, (request) =>
      this.#thread.loader.fetchForHost({ ...request, window: frame, initiator: 'script' }),
    );
    this.#windows.set(window, known);
    this.#open.set(realm, known);
    return window;
  }

  /** Loads our own code into a window's realm. */
  enter(window, host) {
    const known = this.get(window);
    if (known.code !== undefined) throw new Error('the window was entered before');
    // What our modules need of a global object is taken before a page can replace it, and what Node's has, made.
    const globals = { process: host.process, setImmediate: host.setImmediate };
    for (const name of INTRINSICS) globals[name] = window[name];
    const modules = new HostModules(window, windowSubstitutes(host, () => known.facade), globals);
    known.native = new WindowNative(this.#thread, known);
    known.facade = modules.require(path.join(WINDOW_MODULES, 'native.cjs'), known.native.functions());
    known.code = modules.require(path.join(WINDOW_MODULES, 'main.cjs'));
    known.code.takeWork(...WORK.map((marker) => this.#workFunction(known, marker)));
    return known.code;
  }

  /** A function of the window's realm that calls what it is given, and tells its profilers what that is. */
  #workFunction({ anchor, realm }, marker) {
    const source = `'use strict'; (function (work) { /* ${marker} */ return work(); })`;
    return native.compileScript(anchor, source, path.join(WINDOW_MODULES, `${marker}.work`), { realm, work: marker });
  }

  /** A document is shown once; the empty one, any number of times. */
  #take(document) {
    const record = this.#documents.get(document);
    if (document !== 0) this.#documents.delete(document);
    return record;
  }

  /** Says what document a window shows now. */
  use(window, document) {
    const known = this.#windows.get(window);
    const record = this.#take(document);
    if (known !== undefined && record !== undefined) known.document = record;
  }

  /** Its scripts are no longer needed. */
  close(window) {
    const known = this.#windows.get(window);
    if (known === undefined || !this.#open.delete(known.realm)) return;
    known.native?.close();
    this.#thread.workers.endOf(known);
    native.closeRealm(known.realm);
  }

  /** @returns {WindowRecord} */
  get(window) {
    const known = this.#windows.get(window);
    if (known === undefined) throw new Error('this is not a window of the page');
    return known;
  }

  /** Ends the recording. @returns {Promise<{ bytes: Uint8Array } | { error: string }>} a trace as compressed JSON */
  async takeProfile() {
    const recording = this.#recording;
    this.#recording = undefined;
    return recording === undefined ? { error: 'there is no recording, or it was taken' } : await recording.take();
  }

  /** Says to the DOM realm what a window's document is like, as JSON. */
  describe(window) {
    const { document, origin } = this.get(window);
    const { isIsolated = false, isSecure = false } = this.#thread.client;
    const loading = describeNavigation(document.timing, clockOf(this.#thread, { origin }));
    const mayProfile = document.profiling !== undefined;
    return JSON.stringify({ isIsolated, isSecure, mayProfile, origin, loading, ...this.#timesOf(origin) });
  }

  /** The time origin on the clock of the epoch, coarsened as the window's clock is. */
  #timesOf(origin) {
    const epoch = performance.timeOrigin + performance.now() - native.now();
    return { timeOrigin: Math.floor((origin + epoch) * 10) / 10 };
  }

  /** Tells all windows of a task that was long. https://w3c.github.io/longtasks/#report-long-tasks */
  reportLongTask(began, ended) {
    // Whose work it was is only known where there is but one.
    const name = this.#open.size === 1 ? 'self' : 'unknown';
    for (const window of this.#open.values()) window.native?.reportLongTask(name, began, ended);
  }

  /**
   * Each started session of a window takes a sample now.
   * https://wicg.github.io/js-self-profiling/#force-sample
   *
   * @returns {boolean} whether there is such a window
   */
  forceSample(frame) {
    const known = this.ofFrame(frame);
    if (known !== undefined) native.forceSample(known.realm);
    return known !== undefined;
  }

  /** Pauses the sessions of all windows, or resumes them. */
  setPaused(isPaused) {
    for (const realm of this.#open.keys()) native.pauseRealm(realm, isPaused);
  }

  /** @returns {WindowRecord | undefined} */
  ofFrame(frame) {
    return [...this.#open.values()].find((known) => known.frame === frame);
  }

  ofRealm(realm) {
    return this.#open.get(realm);
  }
}

module.exports = { Windows };
