'use strict';

// A page: what its user does with it, and the thread that its document lives in.

const { EventEmitter, once } = require('node:events');
const path = require('node:path');
const { types } = require('node:util');
const { pathToFileURL } = require('node:url');
const { gunzipSync } = require('node:zlib');

const { NotCloneable, deserialize, serialize } = require('./clone.cjs');
const { now } = require('./network/timing.cjs');
const { describePage } = require('./policy/documents.cjs');
const { newOpaqueOrigin } = require('./policy/origin.cjs');
const { Sites } = require('./sites.cjs');

/** Structured clone in this realm: plain data alone comes out of a page. */
const PLATFORM = {
  kindOf(value) {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return typeof value;
    if (types.isProxy(value)) return 'Proxy';
    if (types.isNativeError(value)) return 'Error';
    if (types.isDate(value)) return 'Date';
    if (types.isRegExp(value)) return 'RegExp';
    if (types.isMap(value)) return 'Map';
    if (types.isSet(value)) return 'Set';
    if (types.isAnyArrayBuffer(value)) return 'ArrayBuffer';
    if (types.isArrayBufferView(value)) return 'ArrayBufferView';
    if (types.isBoxedPrimitive(value)) return 'Boxed';
    if (types.isPromise(value)) return 'Promise';
    if (types.isWeakMap(value)) return 'WeakMap';
    if (types.isWeakSet(value)) return 'WeakSet';
    if (types.isGeneratorObject(value)) return 'Generator';
    if (types.isModuleNamespaceObject(value)) return 'Module';
    if (types.isExternal(value)) return 'External';
    return typeof value;
  },
  deserialize(record) {
    switch (record?.type) {
      case 'Blob':
        return new Blob([record.bytes], { type: String(record.media) });
      case 'File':
        return new File([record.bytes], String(record.name), { type: String(record.media), lastModified: Number(record.lastModified) });
      case 'DOMException':
        return new DOMException(String(record.message), String(record.name));
      default: {
        const { type, ...members } = record ?? {};
        return members;
      }
    }
  },
};

/** What a script in a page threw. */
class PageError extends Error {
  name = 'PageError';

  /** @param {{ name: string, message: string, stack: string }} thrown */
  constructor({ name, message, stack }) {
    super(name === 'Error' ? `${message}` : `${name}: ${message}`);
    /** The error's name in the page. */
    this.errorName = `${name}`;
    /** Its stack in the page. */
    this.pageStack = `${stack}`;
  }
}

/** Something took longer than it may. */
class TimeoutError extends Error {
  name = 'TimeoutError';
}

const WAITS = ['idle', 'load', 'domcontentloaded', 'commit'];

/** For how long an idle page has had nothing to do, in milliseconds. */
const QUIET = 500;

/**
 * What ./automation.cjs may have a page do, and no user.
 *
 * @type {(page: Page) => {
 *   generation: number, isThere: boolean, sites: Sites | undefined, pending: Promise<void> | undefined,
 *   ask: (frame: number, message: object, limit: { timeout: number, what: string }) => Promise<object>,
 *   waitFor: (state: string) => Promise<void>,
 * }}
 */
let innerPage;

/** A recording as compressed JSON. @type {(page: Page, timeout: number) => Promise<Uint8Array>} */
let takeProfile;

/**
 * A page.
 *
 * Events: `console` ({ method, text }), `error` ({ message, stack, filename, lineno, colno }) for what nobody caught,
 * `problem` ({ kind, text, url }) for what could not be loaded or is not implemented, `navigated` (url), `crash` (error),
 * `close`.
 */
class Page extends EventEmitter {
  #host;
  /** @type {Sites | undefined} the threads of the document and its frames */
  #sites;
  /** @type {import('./sites.cjs').Site | undefined} the document's own */
  #main;
  #url = 'about:blank';
  #isClosed = false;
  #isVisible = true;
  /** How many navigations that the page asked for are under way, and the one that is to follow. */
  #following = 0;
  #nextLink;
  /** Counts navigations: the last one wins. */
  #navigation = 0;
  #state = new Set();
  /** Counts documents: what was found in one is not in the next. */
  #generation = 0;
  /** The navigation that the page itself asked for and that is under way. */
  #pending;
  /** The recording that was asked for, of this document and of those that it leads to. */
  #profile;

  static {
    innerPage = (page) => ({
      generation: page.#generation,
      isThere: page.#main !== undefined && page.#sites.all().includes(page.#main),
      sites: page.#sites,
      pending: page.#pending,
      ask: (frame, message, limit) => page.#ask(frame, message, limit),
      waitFor: (state) => page.#waitFor(state, page.#main),
    });
    takeProfile = (page, timeout) => page.#takeProfile(timeout);
  }

  /** @param {import('./host.cjs').HostInternals} host */
  constructor(host) {
    super();
    this.#host = host;
  }

  /** The URL of the document. */
  get url() {
    return this.#url;
  }

  get closed() {
    return this.#isClosed;
  }

  /**
   * Loads another document.
   *
   * @param {string | URL} url a URL, or a path on disk
   * @param {import('../../page.js').NavigateOptions} [options]
   * @returns {Promise<{ url: string, status: number, headers: [string, string][] }>} the response
   */
  async navigate(url, { waitUntil = 'load', timeout = this.#host.timeout, referrer = '', root, headers, profile } = {}) {
    if (!WAITS.includes(waitUntil)) throw new TypeError(`waitUntil is '${waitUntil}'; it is one of ${WAITS.join(', ')}`);
    this.#assertOpen();
    const target = toUrl(url);
    const given = readHeaders(headers, target);
    this.#profile = profile === undefined ? undefined : toProfile(profile);
    const load = () => this.#load(target, { waitUntil, referrer, root, given });
    return await withTimeout(timeout, `loading ${url}`, load, async () => {
      // What came too late is not to take the page over.
      this.#navigation += 1;
      if (this.#main !== undefined && !(await this.#main.thread.isResponsive(RESPONSE_LIMIT))) await this.#kill(this.#main);
    });
  }

  async #load(url, { waitUntil, referrer, root, given = [] }) {
    const navigation = ++this.#navigation;
    const startedAt = now();
    const started = this.#host.startThread();
    let site;
    try {
      const response = await this.#fetch(url, referrer);
      response.headers = [...response.headers.filter(([name]) => given.every(([other]) => other !== name)), ...given];
      await started.ready();
      this.#assertOpen();
      if (navigation !== this.#navigation) throw new Error(`another navigation took over from ${url}`);
      site = await this.#commit(started, { ...response, startedAt }, root);
      const { status, headers } = response;
      await this.#waitFor(waitUntil, site);
      return { url: response.url, status, headers };
    } catch (error) {
      if (site === undefined) started.terminate();
      throw error;
    }
  }

  #fetch(url, referrer) {
    if (url.protocol === 'about:') {
      return { url: url.href, status: 200, headers: [['content-type', 'text/html']], body: new Uint8Array(), referrer };
    }
    // Its user asks for it, so it comes from nowhere.
    const client = { origin: newOpaqueOrigin(), embedderPolicy: 'unsafe-none' };
    const request = { url: url.href, mode: 'navigate', credentials: 'include', destination: 'document', referrer, isTopLevel: true };
    return this.#host.network.fetch(request, client).then((response) => ({ ...response, referrer }));
  }

  /** Replaces the document by one in a thread of its own. */
  async #commit(thread, response, root) {
    const { startedAt, timing } = response;
    const document = { ...describePage(response, root), startedAt, timing, profile: this.#profile };
    await this.#sites?.closeAll();
    this.#generation += 1;
    this.#url = document.url;
    this.#state = new Set(['commit']);
    this.#sites = new Sites(this.#host, {
      hear: (site, message) => this.#onMessage(site, message),
      problem: (site, kind, text, url) => this.emit('problem', { kind, text, url, frame: this.#sites.frameOf(site, 0) }),
      crash: (site, error) => this.#onCrash(site, error),
    }, this.#isVisible);
    this.#main = this.#sites.open(thread, document, response);
    this.emit('navigated', this.#url);
    return this.#main;
  }

  #onCrash(site, error) {
    if (site === this.#main) this.emit('crash', error);
    else this.emit('problem', { kind: 'crash', text: error.message, url: site.document.url, frame: 0 });
  }

  async #waitFor(state, site) {
    if (state === 'idle') {
      await this.#waitFor('load', site);
      await site.thread.command({ type: 'await idle', quiet: QUIET }).answer;
      return;
    }
    const reached = async () => {
      while (!this.#state.has(state)) {
        if (this.#main !== site) throw new Error('another navigation took over');
        const waiting = new AbortController();
        const { signal } = waiting;
        const crashed = once(this, 'crash', { signal }).then(([error]) => Promise.reject(error));
        try {
          await Promise.race([once(this, 'state', { signal }), once(this, 'close', { signal }), once(this, 'navigated', { signal }), crashed]);
        } finally {
          waiting.abort();
        }
        this.#assertOpen();
      }
    };
    await site.thread.hold(reached());
  }

  /** Messages of a DOM realm: whatever they say, they are the page's word and no more. */
  #onMessage(site, message) {
    if (this.#isClosed) return;
    const text = (key) => (typeof message[key] === 'string' ? message[key] : '');
    const number = (key) => (typeof message[key] === 'number' ? message[key] : 0);
    // What is none of its windows is its outermost.
    const frame = this.#sites.frameOf(site, site.windows.has(number('frame')) ? number('frame') : 0);
    switch (message.type) {
      case 'DOMContentLoaded':
      case 'load':
        if (frame !== 0) return;
        this.#state.add(message.type.toLowerCase());
        this.emit('state');
        this.emit(message.type.toLowerCase());
        return;
      case 'console':
        this.emit('console', { method: text('method'), text: text('text'), frame });
        return;
      case 'exception': {
        // Not `error`: Node ends a program that does not listen to that.
        const report = { message: text('message'), stack: text('stack'), filename: text('filename') };
        this.emit('pageerror', { ...report, lineno: number('lineno'), colno: number('colno'), frame });
        return;
      }
      case 'problem':
        this.emit('problem', { kind: text('kind'), text: text('text'), url: text('url'), frame });
        return;
      case 'navigate':
        this.#followLink(text('url'), text('referrer'));
        return;
      default:
    }
  }

  /** A navigation that the page asks for. */
  #followLink(target, referrer) {
    let url;
    try {
      url = new URL(target);
    } catch {
      return;
    }
    // A page of the network cannot take its user to the disk.
    if (url.protocol !== 'http:' && url.protocol !== 'https:' && !(url.protocol === 'file:' && this.#url.startsWith('file:'))) {
      this.emit('problem', { kind: 'navigation', text: `${url.protocol} is not a scheme that a page may navigate to`, url: target, frame: 0 });
      return;
    }
    // Each has a thread started: of a page that goes elsewhere again and again, the last wish counts.
    if (this.#following === MAX_FOLLOWING) {
      this.#nextLink = [target, referrer];
      return;
    }
    this.#following += 1;
    const done = () => {
      this.#following -= 1;
      const next = this.#nextLink;
      this.#nextLink = undefined;
      if (next !== undefined && !this.#isClosed) this.#followLink(...next);
    };
    const pending = this.#load(url, { waitUntil: 'commit', referrer }).then(done, (error) => {
      if (!this.#isClosed) this.emit('problem', { kind: 'navigation', text: error.message, url: target, frame: 0 });
      done();
    });
    this.#pending = pending.finally(() => {
      if (this.#pending === settled) this.#pending = undefined;
    });
    const settled = this.#pending;
  }

  /**
   * The windows of the page: itself and its frames.
   *
   * @returns {{ frame: number, parent: number | undefined, url: string, origin: string }[]}
   */
  frames() {
    return this.#sites?.list() ?? [];
  }

  /**
   * The dedicated workers of the page, of its frames, and of workers. A script is run in one, or a sample forced, by its number.
   *
   * @returns {{ frame: number, parent: number, url: string, name: string, type: 'classic' | 'module' }[]}
   */
  workers() {
    return this.#sites?.workers() ?? [];
  }

  /**
   * Runs a function, or an expression, in the page and gives its result, which is awaited. Arguments and result are cloned.
   *
   * @param {string | Function} script
   * @param {unknown[]} parameters for a function
   * @throws {PageError} what the script threw, or why its result cannot be cloned
   * @throws {TimeoutError} when it takes longer than the host's timeout; a page that does not answer then is ended
   */
  async evaluate(script, ...parameters) {
    return await this.evaluateIn({}, script, ...parameters);
  }

  /** As `evaluate`, with a timeout of its own, or in a frame. */
  async evaluateIn({ timeout = this.#host.timeout, frame = 0 }, script, ...parameters) {
    this.#assertOpen();
    const isFunction = typeof script === 'function';
    if (!isFunction && typeof script !== 'string') throw new TypeError('evaluate takes a function or a string');
    let record;
    try {
      record = serialize(parameters, PLATFORM);
    } catch (error) {
      if (error instanceof NotCloneable) throw new DOMException(error.message, 'DataCloneError');
      throw error;
    }
    const source = isFunction ? `(${script})` : script;
    const message = { type: 'evaluate', source, isFunction, parameters: record };
    const answer = await this.#ask(frame, message, { timeout, what: 'the script' });
    if (answer.error !== undefined) throw new PageError(answer.error);
    return deserialize(answer.value, PLATFORM).value;
  }

  /** Asks a window's DOM for something. */
  #ask(frame, message, { timeout, what }) {
    const { site, frame: inner } = this.#find(frame);
    return this.#await(site, site.thread.ask({ ...message, frame: inner }), what, timeout);
  }

  /**
   * Ends the recording that `profile` asked for.
   *
   * @param {{ timeout?: number }} [options]
   * @returns {Promise<object>} a `ProfilerTrace`
   */
  async takeProfile({ timeout = this.#host.timeout } = {}) {
    return JSON.parse(gunzipSync(await takeProfile(this, timeout)).toString());
  }

  async #takeProfile(timeout) {
    this.#assertOpen();
    if (this.#profile === undefined) throw new Error('no recording was asked for: navigate with `profile`');
    const site = this.#main;
    const { bytes, error } = await this.#await(site, site.thread.command({ type: 'take profile' }), 'ending the recording', timeout);
    if (error !== undefined) throw new Error(error);
    return bytes;
  }

  /**
   * Has each started profiler of a frame take a sample as soon as the page's thread is free; paused and stopped ones, and
   * those of other frames, take none. https://wicg.github.io/js-self-profiling/#force-sample
   *
   * @throws {TimeoutError} when it takes longer than the timeout; a page that does not answer then is ended
   */
  async forceSample({ frame = 0, timeout = this.#host.timeout } = {}) {
    this.#assertOpen();
    const { site, frame: inner } = this.#find(frame);
    const asked = site.thread.command({ type: 'force sample', frame: inner });
    const { error } = await this.#await(site, asked, 'forcing a sample', timeout);
    if (error !== undefined) throw new Error(error);
  }

  /** Whether the page is in the foreground. */
  get visible() {
    return this.#isVisible;
  }

  /**
   * Takes the page to the background, or back: its documents become hidden and are told, and its profilers are paused. It
   * stays there when it is navigated. https://html.spec.whatwg.org/multipage/interaction.html#page-visibility
   *
   * @param {boolean} isVisible
   * @throws {TimeoutError} as above
   */
  async setVisible(isVisible, { timeout = this.#host.timeout } = {}) {
    this.#assertOpen();
    if (typeof isVisible !== 'boolean') throw new TypeError('setVisible takes true or false');
    this.#isVisible = isVisible;
    const what = isVisible ? 'showing the page' : 'hiding the page';
    await Promise.all(this.#sites.setVisible(isVisible).map(({ site, asked }) => this.#await(site, asked, what, timeout)));
  }

  #find(frame) {
    const target = this.#sites.find(frame);
    if (target === undefined) throw new Error(`the page has no frame ${frame}`);
    return target;
  }

  /** Waits for what a thread was asked for, and ends one that does not answer. */
  #await(site, asked, what, timeout) {
    return withTimeout(timeout, what, () => asked.answer, async () => {
      asked.forget();
      if (!(await site.thread.isResponsive(RESPONSE_LIMIT))) await this.#kill(site);
    });
  }

  /** Ends a thread that does not answer. */
  async #kill(site) {
    await site.thread.terminate();
    this.#onCrash(site, new Error('the page does not answer'));
  }

  #assertOpen() {
    if (this.#isClosed) throw new Error('the page is closed');
  }

  async close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#host.forget(this);
    await this.#sites?.closeAll();
    this.emit('close');
  }

  async [Symbol.asyncDispose]() {
    await this.close();
  }
}

/** What a recording of a page's load is made with, checked. */
function toProfile({ sampleInterval = 1, maxBufferSize = MAX_SAMPLES, includeSameOriginFrames = false } = {}) {
  if (!(Number.isFinite(sampleInterval) && sampleInterval > 0)) {
    throw new RangeError(`profile.sampleInterval is ${sampleInterval}; it is a number of milliseconds above 0`);
  }
  if (!(Number.isSafeInteger(maxBufferSize) && maxBufferSize > 0 && maxBufferSize <= 0xffff_ffff)) {
    throw new RangeError(`profile.maxBufferSize is ${maxBufferSize}; it is a number of samples above 0`);
  }
  return { sampleInterval, maxBufferSize, includeSameOriginFrames: includeSameOriginFrames === true };
}

/** How many samples a recording has when nothing else was asked for: a quarter of an hour at 1 ms. */
const MAX_SAMPLES = 1_000_000;

/** How many navigations that a page asked for may be under way at once. */
const MAX_FOLLOWING = 4;

/** How long a page may take to say that it is there, after a script in it timed out. */
const RESPONSE_LIMIT = 1_000;

/** A URL, or a path on disk. */
function toUrl(place) {
  if (place instanceof URL) return place;
  const text = String(place);
  if (/^[\w.-]+:\d+(\/|$)/.test(text)) throw new TypeError(`${text} is neither a URL nor a path\n\nhint: http://${text}`);
  if (/^[a-z][a-z0-9+.-]+:/i.test(text)) return new URL(text);
  return pathToFileURL(path.resolve(text));
}

/** Headers for a document that no server sends. */
function readHeaders(headers, url) {
  if (headers === undefined) return [];
  if (url.protocol === 'http:' || url.protocol === 'https:') {
    throw new TypeError(`headers are for documents on disk, and ${url} has those that its server sends`);
  }
  const list = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return list.map(([name, value]) => [String(name).toLowerCase(), String(value)]);
}

/** The longest that a timer of Node's waits, in milliseconds: 24 days. More is for ever. */
const MAX_DELAY = 0x7fff_ffff;

/** Does work that may take so long and no longer. `onTimeout` cleans up before the caller hears of it. */
async function withTimeout(milliseconds, what, work, onTimeout = () => {}) {
  if (milliseconds > MAX_DELAY) return await work();
  let timer;
  let isLate = false;
  const late = new Promise((resolve) => {
    timer = setTimeout(async () => {
      isLate = true;
      await onTimeout();
      resolve();
    }, milliseconds);
  });
  const done = work();
  try {
    const result = await Promise.race([done, late]);
    if (!isLate) return result;
  } catch (error) {
    if (!isLate) throw error;
  } finally {
    clearTimeout(timer);
    done.catch(() => {});
  }
  await late;
  throw new TimeoutError(`${what} took longer than ${milliseconds} ms`);
}

module.exports = { MAX_DELAY, Page, PageError, TimeoutError, innerPage, takeProfile };
