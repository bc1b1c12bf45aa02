'use strict';

// The program of a page thread. The documents of one origin of a page share a thread; a frame of another origin and a worker have threads of
// their own, so an endless loop or a full heap ends that thread alone, and its profiler samples nothing else. When a page is closed or
// navigates, its thread is released and opens the next document in fresh windows: loading jsdom takes half a second.

const { enableCompileCache } = require('node:module');
// Not those of jsdom, see tasks.cjs.
const { setImmediate } = require('node:timers');
const { pathToFileURL } = require('node:url');
const { MessageChannel, parentPort, receiveMessageOnPort, workerData } = require('node:worker_threads');

enableCompileCache?.();

const { ensureAgent } = require('selfprof/internal/agent.cjs');
const native = require('selfprof/internal/native.cjs');
const { CookieCopy } = require('../fetch/cookie-copy.cjs');
const { Transport } = require('../fetch/http.cjs');
const { useJsdom } = require('../fetch/jsdom-packages.cjs');
const { Network } = require('../fetch/network.cjs');
const { serialize } = require('../fetch/origin.cjs');
const { UNRESTRICTED, isRestricted } = require('../fetch/sandbox.cjs');
const { BlobUrlStore } = require('./blob-url-store.cjs');
const { coarsened } = require('./coarse-time.cjs');
const current = require('./thread.cjs');
const { HeapSizes } = require('./heap-sizes.cjs');
const { waitForIdle } = require('./idle.cjs');
const { installJsdomHooks } = require('./jsdom-hooks.cjs');
const { Loader } = require('./loader.cjs');
const { TaskMonitor } = require('./long-tasks.cjs');
const { OwnedWorkers } = require('./owned-workers.cjs');
const { isHostAlone } = require('./page-code.cjs');
const { remainingContexts } = require('./remaining-contexts.cjs');
const { HOST_SCRIPTS } = require('./realm.cjs');
const { Rejections } = require('./rejections.cjs');
const { Reports } = require('./reports.cjs');
const { Tasks } = require('./tasks.cjs');
const { installV8Hooks } = require('./v8-hooks.cjs');
const { WindowRegistry } = require('./window-registry.cjs');
const { WorkerScripts } = require('./worker-scripts.cjs');

/** @typedef {import('node:worker_threads').MessagePort} MessagePort */
/** @typedef {import('./thread-messages.js').DocumentContent} DocumentContent */
/** @typedef {import('../fetch/request.cjs').Client} ThreadClient */
/** @typedef {import('./thread-types.js').ThreadData} ThreadData */
/** @typedef {import('./thread-types.js').DomProgram} DomProgram */
/** @typedef {import('./thread-messages.js').PageDocument} ThreadDocument */

/** To and from the thread of the page host. */
const host = /** @type {MessagePort} */ (parentPort);

class PageThread {
  #monitor = new TaskMonitor((began, ended) => this.windows.reportLongTask(began, ended));
  tasks = new Tasks(this);
  /** How V8 prepares for profilers of pages: the same for all windows that the thread ever has. @type {'eager' | 'lazy' | undefined} */
  mode;
  /** Whether the page is in the foreground. Sessions are paused while it is not. */
  isVisible = true;
  /** Whether the thread is a worker that has closed itself: none of its code runs any more. */
  isClosing = false;
  workerScripts = new WorkerScripts(this);
  reports = new Reports(this);
  heapSizes;
  /** When the thread was started, on the clock of `native.now()`. */
  #startedAt = coarsened(native.now() - performance.now(), false);
  timeOrigin = coarsened(performance.timeOrigin, false);
  #options;
  #transport;
  #kind;
  #hostScripts;
  #jsdomScripts;
  /** Requests to the host that it has not answered. @type {Map<number, (answer: any) => void>} */
  #asked = new Map();
  #nextQuestion = 1;
  /** Whether the page's user decides about requests. */
  #isIntercepted = false;
  /** What lives as long as the documents of a page do. @type {PageParts | undefined} */
  #parts;
  /** The programs of jsdom's documents or of a worker. @type {DomProgram} */
  dom;

  /** @param {ThreadData} data */
  constructor({ library, options, kind }) {
    this.#kind = kind;
    this.#options = options;
    // Modules of ECMAScript have URLs, those of CommonJS paths.
    this.#jsdomScripts = library.packages.flatMap((folder) => [folder, pathToFileURL(folder).href]);
    this.#hostScripts = [...HOST_SCRIPTS, ...this.#jsdomScripts];
    this.heapSizes = new HeapSizes(options.memoryLimit);
    const rejections = new Rejections((reason, promise) => this.reject(reason, promise));
    installV8Hooks(this.#hostScripts, {
      importModule: (id, realm, referrer, specifier, attributes) => {
        const window = this.windows.ofRealm(realm);
        const base = window?.bases.get(referrer) ?? referrer;
        window?.modules.import(id, specifier, attributes, base).catch((error) => this.fail(error));
      },
      promiseRejected: (isRejected, promise, reason) => rejections.note(isRejected, promise, reason),
    });
    native.onImportMeta((/** @type {object} */ meta, /** @type {string} */ url, /** @type {object} */ global) => {
      const { code, modules } = this.windows.get(global);
      code.describeModule(meta, url, (/** @type {string} */ specifier) => modules.resolve(specifier, url));
    });
    useJsdom(library);
    this.#transport = new Transport(options.network);
    // What functions of a page throw is noted, so that exceptions of muted scripts are known later. jsdom calls them with these.
    const { construct } = Reflect;
    Reflect.apply = /** @type {typeof Reflect.apply} */ (native.notingApply(() => {}));
    Reflect.construct = (
      /** @type {any} */ callee,
      /** @type {any} */ parameters,
      /** @type {any} */ target = callee,
    ) => Reflect.apply(construct, undefined, [callee, parameters, target]);
    this.tasks.install();
    installJsdomHooks(library, kind);
    current.thread = this;
    this.dom = require(kind === 'worker' ? './worker/worker-program.cjs' : './dom-program.cjs');
  }

  get #open() {
    if (this.#parts === undefined) throw new Error('the thread has no document');
    return this.#parts;
  }

  /** The windows of the thread. */
  get windows() {
    return this.#open.windows;
  }

  get workers() {
    return this.#open.workers;
  }

  get loader() {
    return this.#open.loader;
  }

  get blobs() {
    return this.#open.blobs;
  }

  get cookies() {
    return this.#open.cookies;
  }

  /** The client of the thread's requests, with the URL of its outermost document. */
  get client() {
    return this.#open.client;
  }

  /** What the names of its BroadcastChannels begin with: those of other pages and origins have other names. */
  get channelPrefix() {
    return `${this.#open.page} ${this.client.origin}`;
  }

  /** Whether it has documents. */
  get isOpen() {
    return this.#parts !== undefined;
  }

  /**
   * Runs code of jsdom or of a page as a task. What it throws is reported to the page.
   *
   * @template Result
   * @param {() => Result} callback
   */
  enter(callback) {
    if (this.isClosing || this.#parts === undefined) return undefined;
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
      if (this.#parts === undefined) this.fail(error);
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
    else if (this.#parts !== undefined) this.dom.reject(reason, promise);
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

  /** The time since the thread was started, no finer than pages may know it. https://w3c.github.io/hr-time/#dfn-coarsen-time */
  coarseNow() {
    const isIsolated = this.#parts?.client.isIsolated === true;
    // The difference is rounded down only by its floating-point error.
    return coarsened(coarsened(native.now(), isIsolated) - this.#startedAt + 1e-6, isIsolated);
  }

  /** https://html.spec.whatwg.org/multipage/interaction.html#page-visibility @param {boolean} isVisible */
  #setVisible(isVisible) {
    if (isVisible === this.isVisible) return;
    this.isVisible = isVisible;
    if (this.#parts === undefined) {
      this.dom.setVisible(isVisible);
      return;
    }
    // First, so that a profiler that a listener of `visibilitychange` makes is in the right state.
    this.windows.setPaused(!isVisible);
    this.enter(() => this.dom.setVisible(isVisible));
  }

  /**
   * Makes this the thread of a document, or of a worker.
   *
   * @param {ThreadDocument} document
   * @param {import('./thread-types.js').SavedCookies} saved
   * @param {string} page the name of the page that it is in
   */
  #become(
    { url, origin, embedderPolicy, isIsolated, isSecure, hasCrossSiteAncestor, profiling, profile },
    saved,
    page,
  ) {
    const cookies = new CookieCopy(saved, (change) => this.tell({ type: 'cookie', change }));
    const blobs = new BlobUrlStore(this, serialize(origin));
    const blobAt = (/** @type {string} */ blobUrl) => blobs.find(blobUrl);
    this.#parts = {
      client: { url, origin, embedderPolicy, isIsolated, isSecure, hasCrossSiteAncestor, blobAt },
      page,
      cookies,
      blobs,
      windows: new WindowRegistry(this, this.#jsdomScripts),
      workers: new OwnedWorkers(this),
      loader: new Loader(this, new Network(this.#transport, cookies, this.#options.userAgent)),
    };
    this.loader.intercept(this.#isIntercepted);
    // A document that may profile has V8 prepare as its headers say. Other documents pay nothing.
    const { mode } = ensureAgent({ mode: profiling ?? (profile === undefined ? 'lazy' : 'eager') });
    // A page does not learn that its load is recorded. The environment overrides the mode of all.
    const isOfRecording = profiling === undefined && profile !== undefined && !process.env.SELFPROF_PROFILING_MODE;
    this.mode = isOfRecording ? 'lazy' : mode;
  }

  /** Closes all windows, so that the thread can open other documents. */
  #release() {
    this.dom.close?.();
    this.#parts?.windows.closeAll();
    this.#parts?.loader.close();
    this.tasks.clear();
    this.#parts = undefined;
    this.#asked.clear();
    this.#isIntercepted = false;
  }

  /** The worker closes itself: the task that is running ends, and nothing runs after it. Does nothing in a page. */
  close() {
    if (this.isClosing || this.#kind !== 'worker') return;
    this.isClosing = true;
    this.tasks.clear();
    setImmediate(() => this.tell({ type: 'closed' }));
  }

  /**
   * Describes a document to the modules around jsdom.
   *
   * @param {ThreadDocument} document
   * @param {Pick<DocumentContent, 'referrer' | 'base'>} content
   */
  describe(document, { referrer, base }) {
    const { url, contentType, origin, isIsolated, isSecure, sandbox } = document;
    return {
      document: this.windows.add(document),
      url,
      contentType,
      referrer,
      origin: serialize(origin),
      isIsolated,
      isSecure,
      base,
      isRestricted: isRestricted(sandbox),
      ...(sandbox ?? UNRESTRICTED),
    };
  }

  /** What the host sends, by the message's type. @type {Record<string, (message: any) => unknown>} */
  #onMessage = {
    open: ({ page, document, content, cookies, ancestors, storage, initScripts, isVisible }) => {
      this.#setVisible(isVisible);
      this.#become(document, cookies, page);
      const { userAgent } = this.#options;
      const description = { ...this.describe(document, content), userAgent, ancestors, storage, initScripts };
      this.enter(() => this.dom.open(description, content.body));
    },
    'open worker': ({ page, document, content, cookies, port }) => {
      this.#become(document, cookies, page);
      const { userAgent } = this.#options;
      const description = { ...this.describe(document, content), ...document.worker, userAgent };
      this.enter(() => this.dom.open(description, port));
      this.workerScripts.runWorker(document, content, () => this.enter(() => this.dom.start?.()));
    },
    release: ({ id }) => {
      this.#release();
      this.tell({ type: 'done', id, contexts: remainingContexts() });
    },
    answer: ({ id, ...answer }) => {
      this.#asked.get(id)?.(answer);
      this.#asked.delete(id);
    },
    intercepting: ({ isIntercepted }) => {
      this.#isIntercepted = isIntercepted;
      this.#parts?.loader.intercept(isIntercepted);
    },
    cookie: ({ change, isOwn }) => this.#parts?.cookies.receive(change, isOwn),
    'worker gone': (message) => this.#parts?.workers.onGone(message),
    frame: (message) => this.#parts?.loader.onFrame(message),
    'navigate frame': ({ frame, ...navigation }) => this.enter(() => this.dom.navigateFrame?.(frame, navigation)),
    fetched: ({ window, url, initiator, timing }) => {
      this.#parts?.windows.reportResource(window, url, initiator, timing);
    },
    'force sample': ({ id, frame }) => {
      const exists = this.windows.forceSample(frame);
      this.tell({ type: 'done', id, error: exists ? undefined : 'the frame is gone' });
    },
    visibility: ({ id, isVisible }) => {
      this.#setVisible(isVisible);
      this.tell({ type: 'done', id });
    },
    unload: ({ id }) => {
      this.enter(() => this.dom.unload?.());
      this.tell({ type: 'done', id });
    },
    ping: ({ id }) => this.tell({ type: 'done', id }),
    'take profile': async ({ id }) => this.tell({ type: 'done', id, ...(await this.windows.takeProfile()) }),
    'await idle': async ({ id, quiet }) => {
      await waitForIdle(quiet, () => this.#parts?.loader.isBusy === true);
      this.tell({ type: 'done', id });
    },
  };

  /** @param {{ type: string }} message */
  onMessage(message) {
    const handler = this.#onMessage[message.type];
    if (handler !== undefined) handler(message);
    else this.enter(() => this.dom.receive(message));
  }
}

/**
 * @typedef {object} PageParts
 * @property {ThreadClient & { url: string }} client
 * @property {string} page its name
 * @property {CookieCopy} cookies
 * @property {BlobUrlStore} blobs
 * @property {WindowRegistry} windows
 * @property {OwnedWorkers} workers
 * @property {Loader} loader
 */

const thread = new PageThread(workerData);

// The page's errors must not end the thread: they are reported to the window that they happened in.
process.on('uncaughtException', (error) => thread.report(error));

host.on('message', (message) => thread.onMessage(message));
thread.tell({ type: 'ready' });

module.exports = { PageThread };
