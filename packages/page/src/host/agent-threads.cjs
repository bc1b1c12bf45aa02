'use strict';

// The threads of a page. Messages between threads pass through here, because only this class knows which threads belong together.

const { AsyncResource } = require('node:async_hooks');
const { randomInt } = require('node:crypto');
const { clearTimeout, setTimeout } = require('node:timers');

const { MAX_URL, credibleUrl } = require('../any-realm/claimed-url.cjs');
const { shortened } = require('../any-realm/report-limits.cjs');
const { LoadRefused, NoDocument } = require('../fetch/document-description.cjs');
const { isOpaque, serialize } = require('../fetch/origin.cjs');
const { referrerOf } = require('../fetch/referrer.cjs');
const slices = require('../fetch/time-slices.cjs');
const { urlOf } = require('../fetch/url-text.cjs');
const { AgentThread } = require('./agent-thread.cjs');
const { BlobRegistry } = require('./blob-registry.cjs');
const { messageOf } = require('../client/errors.cjs');
const { loadFrame } = require('./frame-loader.cjs');
const { closePorts, closeTransferredPorts, transferredPorts } = require('./message-ports.cjs');
const { movedBody } = require('./moved-body.cjs');
const { TOO_MANY_THREADS } = require('./page-context.cjs');
const { PageWorkers } = require('./page-workers.cjs');
const { WindowNumbers } = require('./window-numbers.cjs');

/** @typedef {import('node:worker_threads').MessagePort} MessagePort */
/** @typedef {import('./thread-handle.cjs').ThreadHandle} ThreadHandle */
/** @typedef {import('./agent-thread.cjs').Container} Container */
/** @typedef {import('./agent-thread.cjs').WorkerOwner} WorkerOwner */
/** @typedef {import('../any-realm/thread-messages.js').FromDomRealm} FromDomRealm */
/** @typedef {import('../any-realm/thread-messages.js').MainRealmReport} MainRealmReport */
/** @typedef {import('../any-realm/thread-messages.js').MainRealmRequest} MainRealmRequest */
/** @typedef {import('../any-realm/thread-messages.js').PageDocument} PageDocument */
/** @typedef {import('../any-realm/thread-messages.js').WorkerDocument} WorkerDocument */
/** @typedef {import('../any-realm/thread-messages.js').DocumentContent} DocumentContent */
/** @typedef {import('../any-realm/thread-messages.js').WorkerContent} WorkerContent */
/** @typedef {import('../any-realm/thread-messages.js').WindowAddress} WindowAddress */
/** @typedef {import('../fetch/request.cjs').BlobContent} BlobContent */

/** Messages of workers' DOM realms that concern the page. */
const OF_WORKERS = new Set(['console', 'exception', 'problem']);
/** How long the last listeners of a document may run, in milliseconds. */
const UNLOAD_TIMEOUT = 1_000;

/** How many windows of a thread are listed. */
const MAX_WINDOWS = 1_000;

/**
 * @typedef {object} ThreadListener
 * @property {(thread: AgentThread, message: FromDomRealm) => void} onMessage called with messages that concern the page
 * @property {(thread: AgentThread, problem: { kind: string, text: string, url: string, frame: number }) => void} onProblem called with a
 *   problem of a window of the thread, or of the host in it
 * @property {(thread: AgentThread, error: Error) => void} onCrash
 */

class AgentThreads {
  #host;
  #listener;
  /** By number. @type {Map<number, AgentThread>} */
  #threads = new Map();
  /** Threads that were reserved and are not open yet. */
  #reserved = 0;
  /** Threads whose documents get their last events. */
  #ending = 0;
  #numbers = new WindowNumbers();
  #isVisible;
  #blobs = new BlobRegistry();
  /** See `#whenCaughtUp`. @type {(() => void)[]} */
  #calls = [];
  #isCatchingUp = false;
  #workers;

  /**
   * @param {import('./page-context.cjs').PageContext} host
   * @param {ThreadListener} listener
   * @param {boolean} isVisible whether the page is in the foreground
   */
  constructor(host, listener, isVisible) {
    this.#host = host;
    this.#listener = listener;
    this.#isVisible = isVisible;
    this.#workers = new PageWorkers(host, this);
  }

  /**
   * Opens a document in a thread.
   *
   * @param {ThreadHandle} handle of a thread that is ready
   * @param {PageDocument} document
   * @param {DocumentContent} content
   * @param {{ container?: Container, lease?: import('../fetch/request.cjs').Response['lease'] }} [holder] the frame element that holds it,
   *   and the lease of the content
   */
  open(handle, document, { body, referrer, base }, { container, lease } = {}) {
    const thread = this.#add(handle, document, { container });
    const ancestors =
      container === undefined
        ? undefined
        : { parent: this.addressOf(container.thread, container.window), top: this.addressOf(container.thread.top, 0) };
    const content = { body: movedBody(body), referrer, base };
    const storage = this.#host.storage.itemsOf(storageKeyOf(thread));
    const { initScripts } = this.#host;
    /** @type {import('../any-realm/thread-messages.js').ToMainRealm} */
    const message = { type: 'open', document, content, ancestors, storage, initScripts, isVisible: this.#isVisible };
    handle.deliver(message, lease, [content.body.buffer]);
    return thread;
  }

  /**
   * Opens a worker in a thread.
   *
   * @param {ThreadHandle} handle of a thread that is ready
   * @param {WorkerDocument} document
   * @param {WorkerContent} content
   * @param {WorkerOwner} owner
   * @param {MessagePort} port to the owner
   */
  openWorker(handle, document, { response: { lease, ...response }, referrer }, owner, port) {
    const thread = this.#add(handle, document, { owner });
    const body = movedBody(response.body);
    const content = { response: { ...response, body }, referrer };
    handle.deliver({ type: 'open worker', document, content, port }, lease, [port, body.buffer]);
    return thread;
  }

  /**
   * @param {ThreadHandle} handle
   * @param {PageDocument | WorkerDocument} document
   * @param {ConstructorParameters<typeof AgentThread>[3]} holder
   */
  #add(handle, document, holder) {
    // Pages get such numbers, and must not count the threads of other origins by them.
    const thread = new AgentThread(randomInt(2 ** 47), handle, document, holder);
    this.#threads.set(thread.id, thread);
    handle.on('dom-message', (message) => this.#onDomMessage(thread, message));
    handle.on('main-message', (message) => this.#onMainMessage(thread, message));
    handle.on('exit', (error) => {
      this.#forget(thread);
      this.#workers.onExit(thread, error);
      if (error !== undefined) this.#listener.onCrash(thread, error);
    });
    this.numberOf(thread, 0);
    return thread;
  }

  /** @param {AgentThread} thread */
  has(thread) {
    return this.#threads.has(thread.id);
  }

  /** @param {number} id */
  byId(id) {
    return this.#threads.get(id);
  }

  all() {
    return [...this.#threads.values()];
  }

  /** How much of each kind is kept, for tests. */
  get counts() {
    const { size: windows } = this.#numbers;
    const { size: blobs } = this.#blobs;
    return { threads: this.#threads.size, reserved: this.#reserved, windows, blobs, workers: this.#workers.size };
  }

  /** Reserves one of the page's threads. @returns {() => void} releases it @throws {LoadRefused} */
  reserve() {
    const { threadLimit } = this.#host;
    if (this.#threads.size + this.#reserved >= threadLimit)
      throw new LoadRefused(`the page has reached its limit of ${threadLimit} threads`);
    if (this.#host.hasTooManyThreads) throw new LoadRefused(TOO_MANY_THREADS);
    this.#reserved += 1;
    return () => {
      this.#reserved -= 1;
    };
  }

  /** @param {AgentThread} thread @param {number} window @returns {WindowAddress} */
  addressOf(thread, window) {
    return { thread: thread.id, frame: window, origin: serialize(thread.document.origin) };
  }

  /** The number of a window in the public API. @param {AgentThread} thread @param {number} window */
  numberOf(thread, window) {
    return this.#numbers.numberOf(thread, window);
  }

  /** The window with a number of the public API. @param {number} number */
  find(number) {
    const found = this.#numbers.find(number);
    return found !== undefined && this.has(found.thread) ? found : undefined;
  }

  /** The windows of the page, in the order in which they were opened. */
  frames() {
    const frames = [];
    for (const thread of this.all()) {
      if (thread.owner !== undefined) continue;
      for (const [window, { url, parent }] of thread.windows) {
        const { container } = thread;
        let outer = thread.windows.has(parent) ? this.numberOf(thread, parent) : undefined;
        if (window === 0 && container !== undefined) outer = this.numberOf(container.thread, container.window);
        frames.push({
          frame: this.numberOf(thread, window),
          parent: outer,
          url,
          origin: serialize(thread.document.origin),
        });
      }
    }
    return frames.sort((a, b) => a.frame - b.frame);
  }

  /** The workers of the page, in the order in which they were started. */
  workers() {
    const workers = [];
    for (const thread of this.all()) {
      const { owner, document } = thread;
      if (owner === undefined || document.worker === undefined) continue;
      const { name, type } = document.worker;
      const parent = this.numberOf(owner.thread, owner.window);
      workers.push({ frame: this.numberOf(thread, 0), parent, url: document.url, name, type });
    }
    return workers;
  }

  /**
   * The number of a window inside another, as the other's thread describes it.
   *
   * @param {number} outer number of the other window
   * @param {{ window?: unknown, remote?: unknown }} inner its number in the same thread, or the number of a frame element that holds a
   *   window of another thread; sent by a page, so it may be anything
   * @returns {number | undefined}
   */
  frameWithin(outer, { window, remote }) {
    const target = this.find(outer);
    if (target === undefined) return undefined;
    const { thread } = target;
    if (typeof window === 'number') return thread.windows.has(window) ? this.numberOf(thread, window) : undefined;
    const child = this.#childOf(thread, remote);
    return child === undefined ? undefined : this.numberOf(child, 0);
  }

  /**
   * Brings the page to the foreground or the background. Workers are not visible, and are not notified.
   *
   * @param {boolean} isVisible
   * @returns {{ thread: AgentThread, asked: ReturnType<ThreadHandle['askMain']> }[]}
   */
  setVisible(isVisible) {
    this.#isVisible = isVisible;
    const shown = this.all().filter(({ owner }) => owner === undefined);
    return shown.map((thread) => ({ thread, asked: thread.handle.askMain({ type: 'visibility', isVisible }) }));
  }

  /** Fires the last events of the page's documents. They are there until their listeners have returned, or until that has taken too long. */
  async unload() {
    const shown = this.all().filter(({ owner }) => owner === undefined);
    await Promise.all(shown.map((thread) => this.#unload(thread)));
  }

  /** @param {AgentThread} thread @returns {Promise<boolean>} whether its listeners returned in time */
  #unload(thread) {
    thread.unloaded ??= answersInTime(thread.handle.askMain({ type: 'unload' }), UNLOAD_TIMEOUT);
    return thread.unloaded;
  }

  /** @param {AgentThread} thread @param {FromDomRealm} message */
  #onDomMessage(thread, message) {
    if (message.type === 'storage') {
      this.#onStorage(thread, message);
      return;
    }
    const { container } = thread;
    // Of workers, not a navigation, which only the document around could ask for: its frames' workers run code of any origin.
    if (!this.has(thread) || (thread.owner !== undefined && !OF_WORKERS.has(message.type))) {
      closeTransferredPorts(message.record);
      return;
    }
    if (thread.owner !== undefined) {
      this.#listener.onMessage(thread, message);
      return;
    }
    switch (message.type) {
      case 'post':
        this.#postMessage(thread, message);
        return;
      case 'window':
      case 'window at':
      case 'window closed':
        this.#onWindow(thread, message);
        return;
      case 'close remote':
        this.closeFrame(thread, message.frame);
        return;
      case 'load':
        // A frame can say so without end.
        if (message.frame === 0)
          container?.thread.handle.forwardToDom({ type: 'remote loaded', frame: container.frame }, 1, []);
        break;
      case 'navigate': {
        // A document that is being unloaded navigates no more.
        if (thread.unloaded !== undefined) return;
        if (container === undefined) break;
        // A frame navigates itself: its embedder's thread requests that, as for every frame.
        const url = String(message.url);
        // One that is too long is refused there.
        if (url.length <= MAX_URL && (urlOf(url)?.protocol ?? 'javascript:') === 'javascript:') return;
        const referrer = referrerOf(String(message.referrer), thread.document);
        this.#navigateFrame(thread, container, { url, referrer });
        return;
      }
      default:
    }
    this.#listener.onMessage(thread, message);
  }

  /**
   * Has the embedder's thread navigate a frame. While that thread is busy, the latest request alone waits.
   *
   * @param {AgentThread} thread of the frame
   * @param {Container} container
   * @param {{ url: string, referrer: string }} navigation
   */
  #navigateFrame(thread, container, navigation) {
    if (thread.isNavigating) {
      thread.nextNavigation = navigation;
      return;
    }
    thread.isNavigating = true;
    const release = () => {
      thread.isNavigating = false;
      const next = thread.nextNavigation;
      thread.nextNavigation = undefined;
      if (next !== undefined) this.#navigateFrame(thread, container, next);
    };
    const { handle } = container.thread;
    handle.deliver({ type: 'navigate frame', frame: container.frame, asker: thread.id, ...navigation }, { release });
  }

  /** A document has changed an item of localStorage or sessionStorage. @param {AgentThread} thread @param {FromDomRealm} message */
  #onStorage(thread, message) {
    if (thread.owner !== undefined) return;
    const key = storageKeyOf(thread);
    const change = this.#host.storage.change(key, message);
    if (change === undefined) return;
    const { url } = thread.document;
    const weight = Number(message.weight) + Math.ceil(url.length / 512);
    for (const other of this.all()) {
      if (other === thread || other.owner !== undefined || storageKeyOf(other) !== key) continue;
      other.handle.forwardToDom({ type: 'storage', ...change, url }, weight, []);
    }
  }

  /** A window was opened, shows another document, or was closed. @param {AgentThread} thread @param {FromDomRealm} message */
  #onWindow(thread, { type, frame, parent, url }) {
    // The page's own has the number 0, and is there.
    if (typeof frame !== 'number' || !(Number.isSafeInteger(frame) && frame >= 0)) return;
    if (type === 'window closed') {
      if (frame === 0) return;
      if (thread.windows.delete(frame)) this.#numbers.forgetWindow(thread, frame);
      thread.endFrameRequests({ window: frame });
      for (const child of this.all())
        if (child.container?.thread === thread && child.container.window === frame) this.close(child);
      return;
    }
    const known = thread.windows.get(frame);
    const shown = credibleUrl(shortened(String(url)), shortened(thread.document.url), frame !== 0);
    if (known !== undefined) known.url = shown;
    else if (type === 'window' && thread.windows.size < MAX_WINDOWS) {
      // Numbers rise, so a window is in none that is made after it.
      const around = Number(parent);
      thread.windows.set(frame, { url: shown, parent: around >= 0 && around < frame ? around : 0 });
    }
  }

  /**
   * Messages between windows of different threads. https://html.spec.whatwg.org/multipage/web-messaging.html#window-post-message-steps
   *
   * @param {AgentThread} sender
   * @param {FromDomRealm} message
   */
  #postMessage(sender, { from, to, record, targetOrigin, weight }) {
    const { thread, frame } = /** @type {Partial<Record<keyof WindowAddress, unknown>>} */ (Object(to));
    const target = typeof thread === 'number' ? this.#threads.get(thread) : undefined;
    if (target === undefined || target === sender || !mayReceive(target, targetOrigin)) {
      closeTransferredPorts(record);
      return;
    }
    const source = this.addressOf(sender, typeof from === 'number' && sender.windows.has(from) ? from : 0);
    const number = typeof frame === 'number' ? frame : 0;
    const message = { type: /** @type {const} */ ('message'), frame: number, record, source };
    target.handle.forwardToDom(message, Number(weight), transferredPorts(record));
  }

  /** @param {AgentThread} thread @param {MainRealmReport} message */
  #onMainMessage(thread, message) {
    const { handle } = thread;
    // A document that was removed may still store cookies and send requests while it is unloaded.
    if (!this.has(thread) && message.type !== 'cookie' && message.type !== 'keepalive') {
      closePorts(message);
      return;
    }
    switch (message.type) {
      case 'cookie':
        this.#host.shareCookie(message.change, handle);
        return;
      case 'failure':
        this.#listener.onProblem(thread, { kind: 'host', text: message.message, url: '', frame: 0 });
        return;
      case 'problem':
        this.#listener.onProblem(thread, message);
        return;
      case 'worker':
        this.#workers.start(thread, message).finally(() => handle.finishWhenReceived(message));
        return;
      case 'end worker':
        this.#workers.end(thread, message.id);
        return;
      case 'worker failed':
        this.#workers.fail(thread, message.error);
        return;
      case 'closed':
        this.close(thread);
        return;
      case 'import':
        this.#workers.importScript(thread, message);
        return;
      case 'blob made':
        this.#blobs.add(thread, message);
        return;
      case 'blob gone':
        this.#blobs.remove(thread, message.url);
        return;
      case 'blob':
        this.#answerBlob(thread, message);
        return;
      case 'keepalive':
        this.#startKept(thread, message);
        return;
      case 'intercept':
        this.#intercept(thread, message);
        return;
      case 'end frame':
        this.#endFrameRequest(thread, message.id);
        return;
      case 'frame':
        thread
          .withFrameRequest(message, (signal) => loadFrame(this.#host, this, thread, message, signal))
          .catch((error) => {
            const isUnchanged = error instanceof NoDocument;
            handle.postToMain({ type: 'frame', id: message.id, error: messageOf(error), isUnchanged });
          })
          .finally(() => handle.finishWhenReceived(message));
        return;
      default:
    }
  }

  /** @param {AgentThread} thread @param {Extract<MainRealmReport, { type: 'intercept' }>} message */
  async #intercept({ handle }, message) {
    const { id, request } = message;
    const interception = await this.#host.intercept(request);
    handle.postToMain({ type: 'answer', id, interception });
    handle.finishWhenReceived(message);
  }

  /** A frame no longer waits for a document, which may have been opened meanwhile. @param {AgentThread} thread @param {number} id of its request */
  #endFrameRequest(thread, id) {
    thread.endFrameRequests({ id });
    const opened = this.all().find(({ container }) => container?.thread === thread && container.request === id);
    if (opened !== undefined) this.close(opened);
  }

  /** @param {AgentThread} thread @param {import('../any-realm/thread-messages.js').KeptRequest} message */
  #startKept(thread, message) {
    const client = { ...this.clientOf(thread), embedderPolicy: message.embedderPolicy };
    this.#host.startKept(client, thread.handle, message);
  }

  /** @param {string} url @param {import('../fetch/origin.cjs').Origin} origin */
  async #findBlob(url, origin) {
    const find = () => this.#blobs.get(url, origin);
    return find() ?? (await new Promise((resolve) => this.#whenCaughtUp(() => resolve(find()))));
  }

  /** @param {AgentThread} thread @param {Extract<MainRealmReport, { type: 'blob' }>} question */
  #answerBlob(thread, question) {
    const { id, url } = question;
    const { handle, document } = thread;
    const find = () => this.#blobs.get(url, document.origin);
    const answer = () => {
      handle.postToMain({ type: 'answer', id, blob: find() });
      handle.finish(question);
    };
    if (find() === undefined) this.#whenCaughtUp(answer);
    else answer();
  }

  /**
   * Calls back in a slice of time when all that the threads have sent so far is handled: a thread may have reported what it made, and nobody has read that
   * yet. Threads can ask thousands of questions, so those that come meanwhile wait together.
   *
   * @param {() => void} call
   */
  #whenCaughtUp(call) {
    this.#calls.push(call);
    if (!this.#isCatchingUp) this.#catchUp();
  }

  async #catchUp() {
    this.#isCatchingUp = true;
    while (this.#calls.length > 0) {
      const calls = this.#calls.values();
      this.#calls = [];
      await Promise.all(this.all().map(({ handle }) => handle.caughtUp()));
      await new Promise((resolve) => {
        const callNext = AsyncResource.bind(() => {
          const { value: call, done } = calls.next();
          call?.();
          if (done) resolve(undefined);
          return !done;
        });
        slices.add(callNext);
      });
    }
    this.#isCatchingUp = false;
  }

  /**
   * The client of requests that this thread makes for another one.
   *
   * @param {AgentThread} thread
   * @param {BlobContent} [blob] the content of the blob: URL that is fetched, if it is known already
   * @returns {import('../fetch/request.cjs').Client}
   */
  clientOf({ document: { origin, embedderPolicy, hasCrossSiteAncestor } }, blob) {
    const blobAt = async (/** @type {string} */ url) => {
      const shared = await this.#findBlob(url, origin);
      return shared === undefined ? undefined : { type: shared.media, bytes: new Uint8Array(shared.bytes) };
    };
    return { origin, embedderPolicy, hasCrossSiteAncestor, blobAt: (url) => blob ?? blobAt(url) };
  }

  /** @param {AgentThread} thread @param {unknown} frame number of a frame element */
  #childOf(thread, frame) {
    return this.all().find(({ container }) => container?.thread === thread && container.frame === frame);
  }

  /** Ends the thread of a frame, if it has one. @param {AgentThread} embedder @param {unknown} frame number of the frame element */
  closeFrame(embedder, frame) {
    const child = this.#childOf(embedder, frame);
    if (child !== undefined) this.close(child);
  }

  /** @param {AgentThread} thread */
  #forget(thread) {
    if (!this.#threads.delete(thread.id)) return;
    thread.endRequests();
    this.#numbers.forgetThread(thread);
    this.#blobs.forget(thread);
    for (const child of this.all())
      if (child.container?.thread === thread || child.owner?.thread === thread) this.close(child);
  }

  /** Ends a thread, with the threads of its frames and workers. @param {AgentThread} thread */
  async close(thread) {
    this.#forget(thread);
    // A worker has no last events, and has loaded only a part of the modules that a page can provide. Threads that are ending do not count
    // as those of the page, so they have a limit of their own.
    if (thread.owner !== undefined || this.#ending >= this.#host.threadLimit) {
      await thread.handle.terminate();
      return;
    }
    this.#ending += 1;
    try {
      if (await this.#unload(thread)) await thread.handle.retire();
      else await thread.handle.terminate();
    } finally {
      this.#ending -= 1;
    }
  }

  async closeAll() {
    await Promise.all(this.all().map((thread) => this.close(thread)));
  }
}

/**
 * By what the items of a thread's documents are kept; undefined for opaque origins. In pages of other origins, a frame has items of its own.
 * https://storage.spec.whatwg.org/#obtain-a-storage-key
 *
 * @param {AgentThread} thread
 */
function storageKeyOf(thread) {
  const { origin } = thread.document;
  if (isOpaque(origin)) return undefined;
  const around = thread.top.document.origin;
  return around === origin ? origin : `${origin} in ${around}`;
}

/**
 * Whether a thread answers in time. One that has ended does not.
 *
 * @param {{ answer: Promise<unknown>, forget: () => void }} asked
 * @param {number} milliseconds
 */
async function answersInTime({ answer, forget }, milliseconds) {
  const timer = setTimeout(forget, milliseconds).unref();
  try {
    await answer;
    return true;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}

/** @param {AgentThread} target @param {unknown} targetOrigin of a message */
function mayReceive({ owner, document }, targetOrigin) {
  if (owner !== undefined) return false;
  // Opaque origins are all serialized as `null`, so that matches none of them.
  return targetOrigin === '*' || (targetOrigin !== 'null' && targetOrigin === serialize(document.origin));
}

module.exports = { AgentThreads };
