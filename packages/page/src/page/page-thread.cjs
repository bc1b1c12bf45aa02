'use strict';

// The program of a page thread. The documents of one origin of a page share a thread; a frame of another origin and a
// worker have threads of their own, so an endless loop or a full heap ends that thread alone, and its profiler samples
// nothing else. When a page is closed or navigates, its thread is released and opens the next document in fresh
// windows: loading jsdom takes half a second.

const { enableCompileCache } = require('node:module');
// Not those of jsdom, see tasks.cjs.
const { setImmediate } = require('node:timers');
const { pathToFileURL } = require('node:url');
const { MessageChannel, parentPort, receiveMessageOnPort, workerData } = require('node:worker_threads');

const { useJsdom } = require('../fetch/jsdom-packages.cjs');
const { installJsdomHooks } = require('./jsdom/jsdom-hooks.cjs');

enableCompileCache?.();
useJsdom(workerData.library);
installJsdomHooks(workerData.library, workerData.kind);

const { ensureAgent } = require('selfprof/internal/agent.cjs');
const native = require('selfprof/internal/native.cjs');
const { CookieCopy } = require('../fetch/cookie-copy.cjs');
const { Transport } = require('../fetch/http.cjs');
const { Network } = require('../fetch/network.cjs');
const { serialize } = require('../fetch/origin.cjs');
const { BlobUrlStore } = require('./thread/blob-url-store.cjs');
const { coarsened } = require('./thread/coarse-time.cjs');
const current = require('./thread/thread.cjs');
const { HeapSizes } = require('./thread/heap-sizes.cjs');
const { waitForIdle } = require('./thread/idle.cjs');
const { Loader } = require('./loading/loader.cjs');
const { TaskMonitor } = require('./thread/long-tasks.cjs');
const { transfersOf } = require('./thread/message-channels.cjs');
const { isHostAlone } = require('./thread/page-code.cjs');
const { remainingContexts } = require('./thread/remaining-contexts.cjs');
const { HOST_SCRIPTS } = require('./scripts/realm.cjs');
const { rejectionNotes } = require('./thread/rejections.cjs');
const { Reports } = require('./loading/reports.cjs');
const { installTasks } = require('./thread/tasks.cjs');
const { installV8Hooks } = require('./thread/v8-hooks.cjs');
const { Windows } = require('./windows/windows.cjs');

/** @typedef {import('node:worker_threads').MessagePort} MessagePort */
/** @typedef {import('./thread-messages.js').PageDocument} PageDocument */
/** @typedef {import('../fetch/request.cjs').Client & { url: string }} ThreadClient */

/**
 * What this file calls of the modules around jsdom.
 *
 * @typedef {object} DomProgram
 * @property {(message: any) => void} receive handles a message of the host
 * @property {(message: any) => void} open opens the document or starts the worker of a message
 * @property {(isVisible: boolean) => void} setVisible
 * @property {() => void} unload the documents of the thread are about to go: their last events are fired
 * @property {() => void} close closes all windows
 * @property {(error: unknown, window?: object) => void} report
 * @property {(reason: unknown, promise: object) => void} reject
 */

/** To and from the thread of the page host. */
const host = /** @type {MessagePort} */ (parentPort);

class PageThread {
  #monitor = new TaskMonitor((began, ended) => this.windows.reportLongTask(began, ended));
  /**
   * How V8 prepares for profilers of pages: the same for all windows that the thread ever has.
   *
   * @type {'eager' | 'lazy' | undefined}
   */
  mode;
  /** Whether the page is in the foreground. Sessions are paused while it is not. */
  isVisible = true;
  /** Whether the thread is a worker that has closed itself: none of its code runs any more. */
  isClosing = false;
  reports = new Reports(this);
  heapSizes;
  /** When the thread was started, on the clock of `native.now()`. */
  #startedAt = coarsened(native.now() - performance.now(), false);
  timeOrigin = coarsened(performance.timeOrigin, false);
  #options;
  #transport;
  #kind;
  #hostScripts;
  /** Requests to the host that it has not answered. @type {Map<number, (answer: any) => void>} */
  #asked = new Map();
  #nextQuestion = 1;
  /** Whether the page's user decides about requests. */
  #isIntercepted = false;
  windows;
  /** Whether it has documents, or a worker. What follows lives as long as they do. */
  isOpen = false;
  /** The client of the thread's requests, with the URL of its outermost document. @type {ThreadClient} */
  client = /** @type {any} */ (undefined);
  /** The name of the page. */
  #page = '';
  /** @type {CookieCopy} */
  cookies = /** @type {any} */ (undefined);
  /** @type {BlobUrlStore} */
  blobs = /** @type {any} */ (undefined);
  /** @type {Loader} */
  loader = /** @type {any} */ (undefined);
  /** The programs of jsdom's documents or of a worker. @type {DomProgram} */
  dom;

  /**
   * @param {object} data `workerData`
   * @param {'page' | 'worker'} data.kind
   * @param {{ folder: string, version: string, packages: string[] }} data.library jsdom
   * @param {{ network: import('../fetch/http.cjs').TransportOptions, userAgent: string, memoryLimit: number }}
   *   data.options
   */
  constructor({ library, options, kind }) {
    this.#kind = kind;
    this.#options = options;
    // Modules of ECMAScript have URLs, those of CommonJS paths.
    const jsdomScripts = library.packages.flatMap((folder) => [folder, pathToFileURL(folder).href]);
    this.#hostScripts = [...HOST_SCRIPTS, ...jsdomScripts];
    this.windows = new Windows(this, jsdomScripts);
    this.heapSizes = new HeapSizes(options.memoryLimit);
    installV8Hooks(this.#hostScripts, {
      importModule: (id, realm, referrer, specifier, attributes) => {
        const window = this.windows.ofRealm(realm);
        const base = window?.bases.get(referrer) ?? referrer;
        window?.modules.import(id, specifier, attributes, base).catch((error) => this.fail(error));
      },
      promiseRejected: rejectionNotes((reason, promise) => this.reject(reason, promise)),
    });
    native.onImportMeta((/** @type {object} */ meta, /** @type {string} */ url, /** @type {object} */ global) => {
      const { code, modules } = this.windows.get(global);
      code.describeModule(meta, url, (/** @type {string} */ specifier) => modules.resolve(specifier, url));
    });
    this.#transport = new Transport(options.network);
    // What functions of a page throw is noted, so that exceptions of muted scripts are known later. jsdom calls them
    // with these.
    const { construct } = Reflect;
    Reflect.apply = /** @type {typeof Reflect.apply} */ (native.notingApply(() => {}));
    Reflect.construct = (
      /** @type {any} */ callee,
      /** @type {any} */ parameters,
      /** @type {any} */ target = callee,
    ) => Reflect.apply(construct, undefined, [callee, parameters, target]);
    installTasks((task) => this.enter(task));
    current.thread = this;
    this.dom = require(kind === 'worker' ? './worker/worker-program.cjs' : './documents/dom-program.cjs');
  }

  get userAgent() {
    return this.#options.userAgent;
  }

  /** The origin of its documents, as scripts see it. */
  get origin() {
    return serialize(this.client.origin);
  }

  /** What the names of its BroadcastChannels begin with: those of other pages and origins have other names. */
  get channelPrefix() {
    return `${this.#page} ${this.client.origin}`;
  }

  /**
   * Runs code of jsdom or of a page as a task. What it throws is reported to the page.
   *
   * @template Result
   * @param {() => Result} callback
   */
  enter(callback) {
    if (this.isClosing || !this.isOpen) return undefined;
    try {
      return this.#monitor.run(callback);
    } catch (error) {
      this.report(error);
      return undefined;
    }
  }

  /** Runs the promise jobs that are due. Does nothing in the middle of a page's code. */
  runPromiseJobs() {
    if (!this.isClosing && isHostAlone(this.#hostScripts)) native.runPromiseJobs();
  }

  /** Reports an error of the host itself. @param {unknown} error */
  fail(error) {
    this.reports.hostFailure(error);
  }

  /**
   * Reports what code of the page threw.
   *
   * @param {unknown} error
   * @param {object} [window]
   */
  report(error, window) {
    try {
      if (!this.isOpen) this.fail(error);
      else this.dom.report(error, window);
    } catch (failure) {
      this.fail(failure);
    }
  }

  /**
   * Reports the unhandled rejection of a promise.
   *
   * @param {unknown} reason
   * @param {Promise<unknown>} promise
   */
  reject(reason, promise) {
    // https://html.spec.whatwg.org/multipage/webappapis.html#the-hostpromiserejectiontracker-implementation
    const place = native.mutedRejection(promise);
    if (place !== undefined) this.reports.mutedRejection(place, reason);
    // Those of streams are promises of this realm, and what a page throws in their reactions is not.
    else if (promise instanceof Promise && reason instanceof Error) this.fail(reason);
    else if (this.isOpen) this.dom.reject(reason, promise);
  }

  /**
   * Sends a message to the host.
   *
   * @param {object} message
   * @param {import('node:worker_threads').Transferable[]} [transferList]
   */
  tell(message, transferList = []) {
    host.postMessage(message, transferList);
  }

  /**
   * Sends a request to the host.
   *
   * @param {object} message
   * @returns {Promise<any>} its answer
   */
  ask(message) {
    return new Promise((resolve) => {
      const id = this.#nextQuestion++;
      this.#asked.set(id, resolve);
      this.tell({ ...message, id });
    });
  }

  /**
   * Answers a request of the host.
   *
   * @param {number} id
   * @param {import('../window/contracts.js').EvaluationOutcome | import('../window/contracts.js').CommandOutcome}
   *   outcome
   */
  answer(id, outcome) {
    if ('value' in outcome) this.tell({ type: 'done', id, record: outcome.value }, transfersOf(outcome.value));
    else this.tell({ type: 'done', id, ...outcome });
  }

  /** Sends a request to the host and blocks until the answer is here. @param {object} message */
  askNow(message) {
    const signal = new Int32Array(new SharedArrayBuffer(4));
    const { port1, port2 } = new MessageChannel();
    this.tell({ ...message, signal, port: port2 }, [port2]);
    Atomics.wait(signal, 0, 0);
    const answer = receiveMessageOnPort(port1)?.message;
    port1.close();
    return answer;
  }

  /**
   * The time since the thread was started, no finer than pages may know it.
   * https://w3c.github.io/hr-time/#dfn-coarsen-time
   */
  coarseNow() {
    const isIsolated = this.client?.isIsolated === true;
    // The difference is rounded down only by its floating-point error.
    return coarsened(coarsened(native.now(), isIsolated) - this.#startedAt + 1e-6, isIsolated);
  }

  /** https://html.spec.whatwg.org/multipage/interaction.html#page-visibility @param {boolean} isVisible */
  #setVisible(isVisible) {
    if (isVisible === this.isVisible) return;
    this.isVisible = isVisible;
    // First, so that a profiler that a listener of `visibilitychange` makes is in the right state.
    this.windows.setPaused(!isVisible);
    this.enter(() => this.dom.setVisible(isVisible));
  }

  /**
   * Makes this the thread of a document, or of a worker.
   *
   * @param {object} opened
   * @param {string} opened.page the name of the page that it is in
   * @param {PageDocument} opened.document
   * @param {import('./thread-messages.js').SavedCookies} opened.cookies
   */
  #become({ page, document, cookies }) {
    const { url, origin, embedderPolicy, isIsolated, isSecure, hasCrossSiteAncestor, profiling, profile } = document;
    const blobs = new BlobUrlStore(this, serialize(origin));
    const blobAt = (/** @type {string} */ blobUrl) => blobs.find(blobUrl);
    this.#page = page;
    this.client = { url, origin, embedderPolicy, isIsolated, isSecure, hasCrossSiteAncestor, blobAt };
    this.cookies = new CookieCopy(cookies, (change) => this.tell({ type: 'cookie', change }));
    this.blobs = blobs;
    this.loader = new Loader(this, new Network(this.#transport, this.cookies, this.userAgent));
    this.loader.intercept(this.#isIntercepted);
    this.isOpen = true;
    // A document that may profile has V8 prepare as its headers say. Other documents pay nothing.
    const { mode } = ensureAgent({ mode: profiling ?? (profile === undefined ? 'lazy' : 'eager') });
    // A page does not learn that its load is recorded. The environment overrides the mode of all.
    const isOfRecording = profiling === undefined && profile !== undefined && !process.env.SELFPROF_PROFILING_MODE;
    this.mode = isOfRecording ? 'lazy' : mode;
  }

  /** Closes all windows, so that the thread can open other documents. */
  #release() {
    if (this.isOpen) {
      this.windows.takeProfile();
      this.dom.close();
      this.loader.close();
    }
    this.isOpen = false;
    this.#asked.clear();
    this.#isIntercepted = false;
  }

  /** The worker closes itself: the task that is running ends, and nothing runs after it. Does nothing in a page. */
  close() {
    if (this.isClosing || this.#kind !== 'worker') return;
    this.isClosing = true;
    setImmediate(() => this.tell({ type: 'closed' }));
  }

  /** What the host sends, by the message's type. @type {Record<string, (message: any) => unknown>} */
  #onMessage = {
    open: (message) => {
      this.#become(message);
      this.#setVisible(message.isVisible);
      this.enter(() => this.dom.open(message));
    },
    'open worker': (message) => {
      this.#become(message);
      this.enter(() => this.dom.open(message));
    },
    answer: ({ id, ...answer }) => {
      this.#asked.get(id)?.(answer);
      this.#asked.delete(id);
    },
    intercepting: ({ isIntercepted }) => {
      this.#isIntercepted = isIntercepted;
      if (this.isOpen) this.loader.intercept(isIntercepted);
    },
    cookie: ({ change, isOwn }) => this.isOpen && this.cookies.receive(change, isOwn),
    frame: (message) => this.isOpen && this.loader.onFrame(message),
    fetched: ({ window, url, initiator, timing }) => {
      this.windows.ofFrame(window)?.native?.reportResource(url, initiator, timing);
    },
  };

  /** Requests of the host. What they give is part of the answer. @type {Record<string, (message: any) => unknown>} */
  #onRequest = {
    release: () => {
      this.#release();
      return { contexts: remainingContexts() };
    },
    'force sample': ({ frame }) => {
      const window = this.windows.ofFrame(frame);
      window?.realm.forceSample();
      return { error: window === undefined ? 'the frame is gone' : undefined };
    },
    visibility: ({ isVisible }) => this.#setVisible(isVisible),
    unload: () => this.enter(() => this.dom.unload()),
    ping: () => {},
    'take profile': () => this.windows.takeProfile(),
    'await idle': ({ quiet }) => waitForIdle(quiet, () => this.isOpen && this.loader.isBusy),
  };

  /** @param {{ type: string, id: number }} message */
  async onMessage(message) {
    const { type, id } = message;
    const handler = this.#onMessage[type];
    const request = this.#onRequest[type];
    if (handler !== undefined) handler(message);
    else if (request === undefined) this.enter(() => this.dom.receive(message));
    else this.tell({ type: 'done', id, .../** @type {object | undefined} */ (await request(message)) });
  }
}

const thread = new PageThread(workerData);

// The page's errors must not end the thread: they are reported to the window that they happened in.
process.on('uncaughtException', (error) => thread.report(error));

host.on('message', (message) => thread.onMessage(message));
thread.tell({ type: 'ready' });

module.exports = { PageThread };
