'use strict';

// The program of a page thread. A page, a frame of another origin in it and a worker have a thread of their own each: an
// endless loop, a full heap or a crash there is the page's alone, and its profiler samples nothing else.

const path = require('node:path');
const { MessageChannel, moveMessagePortToContext, receiveMessageOnPort, workerData } = require('node:worker_threads');
const vm = require('node:vm');

const { begin } = require('../../agent.cjs');
const native = require('../../native.cjs');
const { Cookies } = require('../network/cookies.cjs');
const { Network } = require('../network/fetch.cjs');
const { Transport } = require('../network/http.cjs');
const { serialize } = require('../policy/origin.cjs');
const { Blobs } = require('./blobs.cjs');
const { Gate } = require('./gate.cjs');
const { hostPages } = require('./hosting.cjs');
const { Loader } = require('./loader.cjs');
const { HostModules } = require('./host-modules.cjs');
const { stillness } = require('./stillness.cjs');
const { Tasks } = require('./tasks.cjs');
const { substitutes } = require('./substitutes.cjs');
const { Sessions } = require('./window-native.cjs');
const { Windows } = require('./windows.cjs');
const { OwnWorkers } = require('./workers.cjs');

/** To whoever opened the page. */
const { control } = workerData;

const DOM_MODULES = path.join(__dirname, '..', 'dom');

class PageThread {
  /** @type {import('../network/fetch.cjs').Client} who fetches, once there is a document */
  client;
  windows;
  gate = new Gate(this);
  #tasks = new Tasks((began, ended) => this.windows.reportLongTask(began, ended));
  loader;
  /** How V8 prepares for profilers, `eager` or `lazy`; of all windows of the thread. */
  mode;
  sessions;
  /** Whether the page is in the foreground. Sessions rest while it is not. */
  isVisible = true;
  blobs;
  workers;
  /** A worker that closed itself: nothing of it is run any more. */
  isClosing = false;
  #modules;
  /** What dom/main.cjs exports: functions of the DOM realm. */
  dom;
  #cookies;
  #options;
  /** What the user's thread is asked for. */
  #asked = new Map();
  #nextQuestion = 1;

  constructor({ library, options, cookies, port, kind }) {
    this.#options = options;
    const hostFolders = [path.join(__dirname, '..', '..', '..') + path.sep, packagesOf(library.folder)];
    hostPages(hostFolders, (id, realm, referrer, specifier, attributes) => {
      const window = this.windows.ofRealm(realm);
      const base = window?.bases.get(referrer) ?? referrer;
      window?.modules.import(id, specifier, attributes, base).catch((error) => this.fail(error));
    });
    native.onImportMeta((meta, url, global) => {
      const { code, modules } = this.windows.get(global);
      code.describeModule(meta, url, (specifier) => modules.resolve(String(specifier), url));
    });
    this.sessions = new Sessions(options.sampleBudget);
    this.windows = new Windows(this, ['node:', ...hostFolders]);
    this.#cookies = new Cookies(library, cookies, (change) => control.postMessage({ type: 'cookie', change }));
    this.loader = new Loader(this, new Network(new Transport(options.network), this.#cookies, options.userAgent));
    this.workers = new OwnWorkers(this, options.threadLimit);
    this.#loadDom(library, port, kind);
  }

  #loadDom(library, port, kind) {
    // No code from strings: a page can reach this realm's `Function` through the constructor of any of jsdom's functions.
    const context = vm.createContext(vm.constants.DONT_CONTEXTIFY, { codeGeneration: { strings: false, wasm: false } });
    native.forbidEval(vm.runInContext('(function () {})', context));
    let gate;
    const realm = new HostModules(context, substitutes(library, () => gate, kind), {}, workerData.code);
    this.#modules = realm;
    gate = realm.require(path.join(DOM_MODULES, 'gate.cjs'), this.gate.functions());
    this.dom = realm.require(path.join(DOM_MODULES, kind === 'worker' ? 'worker/main.cjs' : 'main.cjs'));
    this.moveToDom = (moved) => moveMessagePortToContext(moved, context);
    this.dom.connect(this.moveToDom(port));
  }

  /** Gives a port of Node's to the DOM realm. @type {(port: import('node:worker_threads').MessagePort) => object} */
  moveToDom;

  /** Runs code of the DOM realm. What it throws is the page's affair. */
  enter(callback) {
    if (this.isClosing) return undefined;
    try {
      return this.#tasks.run(callback);
    } catch (error) {
      this.report(error);
      return undefined;
    }
  }

  /** Something of our own went wrong. It must not get into a page's hands. */
  fail(error) {
    control.postMessage({ type: 'failure', message: String(error.stack) });
  }

  report(error, window) {
    if (isOwn(error)) {
      this.fail(error);
      return;
    }
    try {
      this.dom.report(error, window);
    } catch {
      // The page broke its own reporting.
    }
  }

  reject(reason, promise) {
    if (isOwn(reason) || isOwn(promise)) {
      this.fail(reason);
      return;
    }
    try {
      this.dom.reject(reason, promise);
    } catch {
      // As above.
    }
  }

  /** Tells the user's thread something that no page can have said. */
  tell(message, transferList) {
    control.postMessage(message, transferList);
  }

  /** Asks the user's thread for something. */
  ask(message) {
    return new Promise((resolve) => {
      const id = this.#nextQuestion++;
      this.#asked.set(id, resolve);
      this.tell({ ...message, id });
    });
  }

  /** Asks the user's thread for something, and lets nothing run before it is there. */
  askNow(message) {
    const signal = new Int32Array(new SharedArrayBuffer(4));
    const { port1, port2 } = new MessageChannel();
    this.tell({ ...message, signal, port: port2 }, [port2]);
    Atomics.wait(signal, 0, 0);
    const answer = receiveMessageOnPort(port1)?.message;
    port1.close();
    return answer;
  }

  cookiesForScript(url) {
    return this.#cookies.forScript(url);
  }

  setCookieByScript(url, text) {
    this.#cookies.setByScript(url, text);
  }

  /** https://html.spec.whatwg.org/multipage/interaction.html#page-visibility */
  #setVisible(isVisible) {
    if (isVisible === this.isVisible) return;
    this.isVisible = isVisible;
    // Listeners of the page are told in the state that they are told of: a profiler that one makes is in it, too.
    this.windows.setPaused(!isVisible);
    this.enter(() => this.dom.setVisible(isVisible));
  }

  /** Takes on what the thread's documents, or its worker, are. */
  #become({ origin, embedderPolicy, isIsolated, isSecure, profiling, profile }) {
    this.blobs = new Blobs(this, serialize(origin));
    this.client = { origin, embedderPolicy, isIsolated, isSecure, blobAt: (url) => this.blobs.find(url) };
    // Who may profile has V8 prepare for it as its headers say; for others nothing is paid.
    this.mode = begin({ mode: profiling ?? (profile === undefined ? 'lazy' : 'eager') }).mode;
  }

  /** A worker closes itself: what runs now runs to its end, and then nothing more. */
  close() {
    if (this.isClosing) return;
    this.isClosing = true;
    this.gate.close();
    setImmediate(() => this.tell({ type: 'closed' }));
  }

  /** What the DOM realm is told of a document. */
  describe(document, { referrer }) {
    const { url, contentType, origin, isIsolated, isSecure } = document;
    return { document: this.windows.add(document), url, contentType, referrer, origin: serialize(origin), isIsolated, isSecure };
  }

  onMessage = {
    cookie: ({ change }) => this.#cookies.apply(change),
    open: ({ document, content, place, isVisible }) => {
      this.#setVisible(isVisible);
      this.#become(document);
      const description = { ...this.describe(document, content), userAgent: this.#options.userAgent, place };
      this.enter(() => this.dom.open(JSON.stringify(description), this.gate.bytesForDom(content.body)));
    },
    'open worker': ({ document, content, port }) => {
      this.#become(document);
      const { userAgent } = this.#options;
      const description = { ...this.describe(document, content), ...document.worker, userAgent };
      this.enter(() => this.dom.open(JSON.stringify(description), this.moveToDom(port)));
      this.loader.runWorker(document, content, () => this.enter(() => this.dom.start()));
    },
    'worker gone': (message) => this.workers.onGone(message),
    answer: ({ id, ...answer }) => {
      this.#asked.get(id)?.(answer);
      this.#asked.delete(id);
    },
    frame: (message) => this.loader.onFrame(message),
    fetched: ({ window, url, initiator, timing }) => {
      if (timing !== undefined) this.windows.ofFrame(window)?.native?.reportResource(url, initiator, timing);
    },
    'force sample': ({ id, frame }) => {
      const isThere = this.windows.forceSample(frame);
      control.postMessage({ type: 'done', id, error: isThere ? undefined : 'the frame is gone' });
    },
    code: ({ id }) => control.postMessage({ type: 'done', id, code: this.#modules.code() }),
    visibility: ({ id, isVisible }) => {
      this.#setVisible(isVisible);
      control.postMessage({ type: 'done', id });
    },
    ping: ({ id }) => control.postMessage({ type: 'pong', id }),
    'take profile': async ({ id }) => control.postMessage({ type: 'done', id, ...(await this.windows.takeProfile()) }),
    'await idle': async ({ id, quiet }) => {
      await stillness(quiet, () => this.loader.isBusy);
      control.postMessage({ type: 'done', id });
    },
  };
}

/** Where a package and those that it requires lie, as package managers install them. */
function packagesOf(folder) {
  const [root, ...inner] = folder.split(`${path.sep}node_modules${path.sep}`);
  return (inner.length === 0 ? folder : path.join(root, 'node_modules')) + path.sep;
}

/** Whether something thrown is of the main realm. */
function isOwn(value) {
  return value instanceof Error || value instanceof Promise;
}

const thread = new PageThread(workerData);

// Neither may end the thread: both are the page's, and the window it happened in is told.
process.on('uncaughtException', (error) => thread.report(error));
process.on('unhandledRejection', (reason, promise) => thread.reject(reason, promise));

control.on('message', (message) => thread.onMessage[message.type](message));
control.postMessage({ type: 'ready' });

module.exports = { PageThread };
