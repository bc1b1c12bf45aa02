'use strict';

// The program of a page thread. A page, a frame of another origin in it and a worker each have a thread of their own, so that an endless
// loop, a full heap or a crash affects only that thread, and its profiler samples nothing else.

const path = require('node:path');
const { MessageChannel, parentPort, receiveMessageOnPort, workerData } = require('node:worker_threads');
const vm = require('node:vm');

const { ensureAgent } = require('selfprof/internal/agent.cjs');
const native = require('selfprof/internal/native.cjs');
const { UNRESTRICTED } = require('../any-realm/sandbox-attribute.cjs');
const { ValueSerializer } = require('../cloning/value-serializer.cjs');
const { Cookies } = require('../fetch/cookies.cjs');
const { useJsdom } = require('../fetch/jsdom-packages.cjs');
const { Network } = require('../fetch/network.cjs');
const { Transport } = require('../fetch/http.cjs');
const { serialize } = require('../fetch/origin.cjs');
const { isRestricted } = require('../fetch/sandbox.cjs');
const { AddressSpace } = require('./address-space.cjs');
const { AsyncWaits } = require('./async-waits.cjs');
const { BlobUrlStore } = require('./blob-url-store.cjs');
const { DomBridge } = require('./dom-bridge.cjs');
const { coarsened } = require('./coarse-time.cjs');
const { DomMessages } = require('./dom-messages.cjs');
const { DomPorts } = require('./dom-ports.cjs');
const { ForeignFunctions } = require('./foreign-functions.cjs');
const { FixedPrototypes } = require('./fixed-prototypes.cjs');
const { HeapSizes } = require('./heap-sizes.cjs');
const { HostModules } = require('./host-modules.cjs');
const { waitForIdle } = require('./idle.cjs');
const { countIntlMemory } = require('./intl-memory.cjs');
const { KeepaliveRequests } = require('./keepalive-requests.cjs');
const { Loader } = require('./loader.cjs');
const { ModuleStore } = require('./module-store.cjs');
const { coarsenTemporal } = require('./temporal-clock.cjs');
const { TaskMonitor } = require('./long-tasks.cjs');
const { callbackGlobals, overrides } = require('./overrides.cjs');
const { interceptor } = require('./request-interception.cjs');
const { isOwnError, isOwnPromise } = require('./own-objects.cjs');
const { OwnedWorkers } = require('./owned-workers.cjs');
const { ProfilerSessions } = require('./profiler-sessions.cjs');
const { Rejections } = require('./rejections.cjs');
const { Reports } = require('./reports.cjs');
const { isHostAlone } = require('./page-code.cjs');
const { checkHeapLimit } = require('./heap-limit.cjs');
const { HOST_SCRIPTS } = require('./realm.cjs');
const { limitTextMemory } = require('./text-memory.cjs');
const { removeV8Extensions } = require('./v8-extensions.cjs');
const { installV8Hooks } = require('./v8-hooks.cjs');
const { countWasmMemory } = require('./wasm-memory.cjs');
const { removeWasmStreaming } = require('./wasm-streaming.cjs');
const { WasmTypes } = require('./wasm-types.cjs');
const { WindowRegistry } = require('./window-registry.cjs');
const { WorkerScripts } = require('./worker-scripts.cjs');

/** @typedef {import('node:worker_threads').MessagePort} MessagePort */
/** @typedef {import('../any-realm/realm-contracts.js').DomProgram} DomProgram */
/** @typedef {import('../any-realm/thread-messages.js').DocumentContent} DocumentContent */
/** @typedef {import('../fetch/request.cjs').Client} ThreadClient */
/** @typedef {import('./thread-types.js').ThreadData} ThreadData */
/** @typedef {import('../any-realm/thread-messages.js').PageDocument} ThreadDocument */

/** @type {ThreadData} */
const threadData = workerData;
/** To the user's thread. */
const { control, unread } = threadData;
/** Tells the user's thread that there are messages for it. */
const bell = /** @type {MessagePort} */ (parentPort);

/** How much of what a page can cause may wait to be read by the user's thread, in bytes; and how much of shared memory, in kilobytes. */
const MAX_UNREAD = 64 << 20;
const MAX_UNREAD_MEMORY = 512 << 10;

const DOM_REALM = path.join(__dirname, '..', 'dom-realm');

class PageThread {
  bridge = new DomBridge(this);
  #tasks = new TaskMonitor((began, ended) => this.windows.reportLongTask(began, ended));
  /** How V8 prepares for profilers of pages, `eager` or `lazy`: the same for all windows of the thread. @type {'eager' | 'lazy' | undefined} */
  mode;
  /** Whether the page is in the foreground. Sessions are paused while it is not. */
  isVisible = true;
  /** Whether the thread is a worker that has closed itself: none of its code runs any more. */
  isClosing = false;
  workerScripts = new WorkerScripts(this);
  reports = new Reports(this);
  domMessages = new DomMessages(this);
  keepaliveRequests = new KeepaliveRequests(this);
  fixedPrototypes = new FixedPrototypes();
  #rejections = new Rejections((reason, promise) => contain(() => this.reject(reason, promise)));
  #addressSpace;
  #wasmTypes;
  #asyncWaits = new AsyncWaits();
  /** The host's modules. */
  store;
  /** When the thread was started, on the clock of `native.now()`. */
  #startedAt = coarsened(native.now() - performance.now(), false);
  #cookies;
  #options;
  /** Requests to the user's thread that it has not answered. @type {Map<number, (answer: any) => void>} */
  #asked = new Map();
  #nextQuestion = 1;
  #hostScripts;
  /** The client of the thread's requests, and the URL of its outermost document. @type {(ThreadClient & { url: string }) | undefined} */
  #client;
  /** @type {BlobUrlStore | undefined} */
  #blobs;
  #domPorts;
  /** Messages for the DOM realm, which are read as objects of that realm. */
  #domPort;

  #kind;

  /** @param {ThreadData} data */
  constructor({ library, options, cookies, cloneKey, pageState, port, kind, modules: loaded, lost }) {
    checkHeapLimit(options.memoryLimit);
    this.#kind = kind;
    this.#options = options;
    this.store = new ModuleStore(loaded);
    this.#addressSpace = new AddressSpace(pageState, options.memoryLimit);
    this.#wasmTypes = new WasmTypes(pageState);
    this.values = new ValueSerializer(cloneKey, this.#addressSpace);
    const jsdomScripts = library.packages;
    this.#hostScripts = [...HOST_SCRIPTS, ...jsdomScripts];
    installV8Hooks(this.#hostScripts, {
      importModule: (id, realm, referrer, specifier, attributes) => {
        const window = this.windows.ofRealm(realm);
        const base = window?.bases.get(referrer) ?? referrer;
        window?.modules.import(id, specifier, attributes, base).catch((error) => this.fail(error));
      },
      errorText: (error) => this.foreign.errorText(error),
      promiseRejected: (isRejected, promise, reason) => this.#rejections.note(isRejected, promise, reason),
    });
    if (lost !== undefined) native.endAlone(lost);
    native.onImportMeta((/** @type {object} */ meta, /** @type {string} */ url, /** @type {object} */ global) => {
      const { code, modules } = this.windows.get(global);
      const { describeModule } = code;
      describeModule(meta, url, (specifier) => modules.resolve(specifier, url));
    });
    this.heapSizes = new HeapSizes(options.memoryLimit);
    this.sessions = new ProfilerSessions(options.sampleBudget);
    this.windows = new WindowRegistry(this, jsdomScripts);
    useJsdom(library);
    this.#cookies = new Cookies(cookies, (change) => this.tellLimited({ type: 'cookie', change }));
    const intercept = interceptor(this, pageState);
    const transport = new Transport(options.network);
    this.loader = new Loader(
      this,
      new Network(transport, this.#cookies, options.userAgent, undefined, undefined, intercept),
    );
    this.workers = new OwnedWorkers(this, options.threadLimit);

    // No code from strings: a page can reach the DOM realm's `Function` through the constructor of any of jsdom's functions.
    const context = vm.createContext(vm.constants.DONT_CONTEXTIFY, { codeGeneration: { strings: false, wasm: false } });
    const anchor = vm.runInContext('(function () {})', context);
    native.forbidEval(anchor);
    this.restrictRealm(context);
    this.#domPorts = new DomPorts(context, (error) => this.report(error));
    this.foreign = new ForeignFunctions(context);
    /** Calls a function of the page from the DOM realm, as `Reflect.apply`, and notes what it throws. */
    this.apply = native.notingApply(anchor);
    /** @type {unknown} */
    let bridge;
    const modules = new HostModules(
      context,
      this.store,
      'dom',
      overrides(library, () => bridge, kind),
      {},
      callbackGlobals(library, context, this.apply),
    );
    bridge = modules.require(path.join(DOM_REALM, 'main-realm-bridge.cjs'), this.bridge.functions());
    const program = kind === 'worker' ? path.join('worker', 'worker-program.cjs') : 'dom-program.cjs';
    /** Functions of the DOM realm. */
    this.dom = /** @type {DomProgram} */ (modules.require(path.join(DOM_REALM, program)));
    this.#domPort = this.#domPorts.move(port);
  }

  /** Gives a port to the DOM realm. @param {MessagePort} port */
  moveToDom(port) {
    return this.#domPorts.move(port);
  }

  /** Restricts what pages can do and take by the built-in objects of a realm. @param {object} context in which no page has run */
  restrictRealm(context) {
    removeV8Extensions(context);
    this.fixedPrototypes.install(context);
    coarsenTemporal(context);
    countIntlMemory(context);
    limitTextMemory(context);
    removeWasmStreaming(context);
    countWasmMemory(context, this.#options.memoryLimit, this.#wasmTypes);
    this.#addressSpace.limit(context);
    this.#asyncWaits.limit(context);
  }

  /** The client of the thread's requests, once the thread has a document. */
  get client() {
    if (this.#client === undefined) throw new Error('the thread has no document yet');
    return this.#client;
  }

  get blobs() {
    if (this.#blobs === undefined) throw new Error('the thread has no document yet');
    return this.#blobs;
  }

  /**
   * Runs code of the DOM realm. What it throws is reported to the page.
   *
   * @template Result
   * @param {() => Result} callback
   */
  enter(callback) {
    if (this.isClosing) return undefined;
    try {
      return this.#tasks.run(callback);
    } catch (error) {
      this.report(error);
      return undefined;
    }
  }

  /** Runs the promise jobs that are due. Does nothing in the middle of a page's code. */
  runPromiseJobs() {
    if (!this.isClosing && isHostAlone(this.#hostScripts)) native.runPromiseJobs();
  }

  /** Reports an error of the host to the user's thread. The page must not get it. @param {unknown} error */
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
    if (isOfMainRealm(error)) {
      this.fail(error);
      return;
    }
    try {
      this.dom.report(error, window);
    } catch {
      // The page has broken its own error reporting.
    }
  }

  /**
   * Reports the unhandled rejection of a promise of the page.
   *
   * @param {unknown} reason
   * @param {Promise<unknown>} promise
   */
  reject(reason, promise) {
    if (isOfMainRealm(reason) || isOfMainRealm(promise)) {
      this.fail(reason);
      return;
    }
    // https://html.spec.whatwg.org/multipage/webappapis.html#the-hostpromiserejectiontracker-implementation
    const place = native.mutedRejection(promise);
    if (place !== undefined) {
      this.reports.mutedRejection(place, reason);
      return;
    }
    try {
      this.dom.reject(reason, promise);
    } catch {
      // As above.
    }
  }

  /**
   * Sends a message of the main realm to the user's thread. No page can send one.
   *
   * @param {object} message
   * @param {import('node:worker_threads').Transferable[]} [transferList]
   */
  tell(message, transferList = []) {
    control.postMessage(message, transferList);
    // Not before: the user's thread takes messages from the port until it has as many.
    Atomics.add(unread, 2, 1);
    if (Atomics.exchange(unread, 4, 1) === 0) bell.postMessage(0);
  }

  /**
   * Sends a message that a page can cause without limit. While too much is unread, it is dropped.
   *
   * @param {object} message
   * @param {{ size?: number, limit?: number | undefined, transferList?: import('node:worker_threads').Transferable[] | undefined }} [options] its size in
   *   bytes, by default the length of its JSON; and how much may be unread with it
   * @returns {boolean} whether it was sent
   * @throws if the list has what cannot be transferred
   */
  tellLimited(message, { size = JSON.stringify(message).length, limit = MAX_UNREAD, transferList } = {}) {
    const weight = 1 + Math.floor(size / 1024);
    if (Atomics.load(unread, 0) + weight > limit / 1024) return false;
    this.tell({ ...message, weight }, transferList);
    Atomics.add(unread, 0, weight);
    return true;
  }

  /**
   * Sends a message with shared memory, unless too much of it is unread: a page may have given it up by then.
   *
   * @param {object} message
   * @param {number} bytes of shared memory
   * @param {number} size of the message, in bytes
   * @returns {boolean} whether it was sent
   */
  tellWithMemory(message, bytes, size) {
    const memory = 1 + (bytes >> 10);
    if (Atomics.load(unread, 1) + memory > MAX_UNREAD_MEMORY) return false;
    if (!this.tellLimited({ ...message, memory }, { size })) return false;
    Atomics.add(unread, 1, memory);
    return true;
  }

  /**
   * Sends a request to the user's thread.
   *
   * @param {object} message
   * @param {number} size in characters
   * @returns {Promise<any>} its answer; an empty one when too much is unread
   */
  ask(message, size) {
    return new Promise((resolve) => {
      const id = this.#nextQuestion++;
      if (this.tellLimited({ ...message, id }, { size })) this.#asked.set(id, resolve);
      else resolve({});
    });
  }

  /** Sends a request to the user's thread and blocks until the answer is here. @param {object} message */
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
    const isIsolated = this.#client?.isIsolated === true;
    // The difference is rounded down only by its floating-point error.
    return coarsened(coarsened(native.now(), isIsolated) - this.#startedAt + 1e-6, isIsolated);
  }

  /** The value of `document.cookie`. @param {object} window @param {string} claimed the URL of its document */
  cookiesForScript(window, claimed) {
    const url = this.windows.cookieUrlOf(window, claimed);
    return url === undefined ? '' : this.#cookies.forScript(url, this.#client);
  }

  /**
   * Performs `document.cookie = text`.
   *
   * @param {object} window
   * @param {string} claimed the URL of its document
   * @param {string} text
   */
  setCookieByScript(window, claimed, text) {
    const url = this.windows.cookieUrlOf(window, claimed);
    if (url !== undefined) this.#cookies.setByScript(url, text, this.#client);
  }

  /** https://html.spec.whatwg.org/multipage/interaction.html#page-visibility @param {boolean} isVisible */
  #setVisible(isVisible) {
    if (isVisible === this.isVisible) return;
    this.isVisible = isVisible;
    // First, so that a profiler that a listener of `visibilitychange` makes is in the right state.
    this.windows.setPaused(!isVisible);
    this.enter(() => this.dom.setVisible(isVisible));
  }

  /** Makes this the thread of a document, or of a worker. @param {ThreadDocument} document */
  #become({ url, origin, embedderPolicy, isIsolated, isSecure, hasCrossSiteAncestor, profiling, profile }) {
    const blobs = new BlobUrlStore(this, serialize(origin));
    this.#blobs = blobs;
    const blobAt = (/** @type {string} */ blobUrl) => blobs.find(blobUrl);
    this.#client = { url, origin, embedderPolicy, isIsolated, isSecure, hasCrossSiteAncestor, blobAt };
    // A document that may profile has V8 prepare as its headers say. Other documents pay nothing.
    const { mode } = ensureAgent({ mode: profiling ?? (profile === undefined ? 'lazy' : 'eager') });
    // A page does not learn that its load is recorded. The environment overrides the mode of all.
    const isOfRecording = profiling === undefined && profile !== undefined && !process.env.SELFPROF_PROFILING_MODE;
    this.mode = isOfRecording ? 'lazy' : mode;
  }

  /** The worker closes itself: the task that is running ends, and nothing runs after it. Does nothing in a page. */
  close() {
    if (this.isClosing || this.#kind !== 'worker') return;
    this.isClosing = true;
    this.bridge.close();
    setImmediate(() => this.tell({ type: 'closed' }));
  }

  /**
   * Describes a document to the DOM realm.
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

  /** What the user's thread sends, by the message's type. @type {Record<string, (message: any) => void>} */
  #onMessage = {
    cookie: ({ change }) => this.#cookies.apply(change),
    open: ({ document, content, ancestors, storage, initScripts, isVisible }) => {
      this.#setVisible(isVisible);
      this.#become(document);
      const description = {
        ...this.describe(document, content),
        userAgent: this.#options.userAgent,
        ancestors,
        storage,
        initScripts,
      };
      this.enter(() => this.dom.open(JSON.stringify(description), this.bridge.bytesForDom(content.body)));
    },
    'open worker': ({ document, content, port }) => {
      this.#become(document);
      const { userAgent } = this.#options;
      const description = { ...this.describe(document, content), ...document.worker, userAgent };
      this.enter(() => this.dom.open(JSON.stringify(description), this.moveToDom(port)));
      this.workerScripts.runWorker(document, content, () => this.enter(() => this.dom.start?.()));
    },
    'worker gone': (message) => this.workers.onGone(message),
    answer: ({ id, ...answer }) => {
      this.#asked.get(id)?.(answer);
      this.#asked.delete(id);
    },
    // It counts as delivered, with what came before.
    answered: () => {},
    dom: ({ weight, asked }) => {
      Atomics.sub(unread, 3, weight);
      if (asked !== undefined) this.domMessages.expect(asked);
      const message = receiveMessageOnPort(/** @type {any} */ (this.#domPort))?.message;
      this.#domPorts.prepare(message);
      this.enter(() => this.dom.receive(message));
    },
    frame: (message) => this.loader.onFrame(message),
    'navigate frame': ({ frame, ...navigation }) => {
      const ticket = this.loader.askedNavigations.add(navigation);
      this.enter(() => this.dom.navigateFrame?.(frame, ticket));
    },
    fetched: ({ window, url, initiator, timing }) => {
      if (timing !== undefined) this.windows.ofFrame(window)?.native?.reportResource(url, initiator, timing);
    },
    'force sample': ({ id, frame }) => {
      const exists = this.windows.forceSample(frame);
      this.tell({ type: 'done', id, error: exists ? undefined : 'the frame is gone' });
    },
    modules: ({ id }) => this.tell({ type: 'done', id, modules: this.store.pack() }),
    visibility: ({ id, isVisible }) => {
      this.#setVisible(isVisible);
      this.tell({ type: 'done', id });
    },
    unload: ({ id }) => {
      this.enter(() => this.dom.unload?.());
      this.tell({ type: 'done', id });
    },
    ping: ({ id }) => this.tell({ type: 'pong', id }),
    'take profile': async ({ id }) => this.tell({ type: 'done', id, ...(await this.windows.takeProfile()) }),
    'await idle': async ({ id, quiet }) => {
      await waitForIdle(quiet, () => this.loader.isBusy);
      this.tell({ type: 'done', id });
    },
  };

  /** @param {{ type: string, delivery?: number }} message */
  onMessage(message) {
    if (message.delivery !== undefined) this.tell({ type: 'delivered', delivery: message.delivery });
    this.#onMessage[message.type](message);
  }
}

/** Whether something thrown is of the main realm. @param {unknown} value */
function isOfMainRealm(value) {
  return isOwnError(value) || isOwnPromise(value);
}

/** What these listeners throw would end the thread, and Node would call methods of it to show it. @param {() => void} listener */
function contain(listener) {
  try {
    listener();
  } catch {
    // It may be of the page, so nothing can be said about it.
  }
}

const thread = new PageThread(threadData);

// The page's errors must not end the thread: they are reported to the window that they happened in.
process.on('uncaughtException', (error) => contain(() => thread.report(error)));

control.on('message', (message) => thread.onMessage(message));
thread.tell({ type: 'ready' });

module.exports = { PageThread };
