'use strict';

// The threads of a page. Messages between threads pass through here, because only this class knows which threads belong
// together.

const { randomUUID } = require('node:crypto');

const { isOpaque, serialize } = require('../fetch/origin.cjs');
const { referrerOf } = require('../fetch/referrer.cjs');
const { NoDocument } = require('../fetch/document-description.cjs');
const { AgentThread } = require('./agent-thread.cjs');
const { messageOf } = require('../client/errors.cjs');
const { FrameLoader } = require('./frame-loader.cjs');
const { PageWorkers } = require('./page-workers.cjs');

/** @typedef {import('node:worker_threads').MessagePort} MessagePort */
/** @typedef {import('./thread-handle.cjs').ThreadHandle} ThreadHandle */
/** @typedef {import('./agent-thread.cjs').Container} Container */
/** @typedef {import('./agent-thread.cjs').WorkerOwner} WorkerOwner */
/** @typedef {import('../page/thread-messages.js').FromThread} FromThread */
/** @typedef {import('../page/thread-messages.js').PageMessage} PageMessage */
/** @typedef {import('../page/thread-messages.js').PageDocument} PageDocument */
/** @typedef {import('../page/thread-messages.js').WorkerDocument} WorkerDocument */
/** @typedef {import('../page/thread-messages.js').DocumentContent} DocumentContent */
/** @typedef {import('../page/thread-messages.js').WorkerContent} WorkerContent */
/** @typedef {import('../page/thread-messages.js').SharedBlob} SharedBlob */
/** @typedef {import('../page/thread-messages.js').WindowAddress} WindowAddress */
/** @typedef {import('../fetch/request.cjs').BlobContent} BlobContent */

/** How long the last listeners of a document may run, and closing its windows may take, in milliseconds. */
const UNLOAD_TIMEOUT = 1_000;

/**
 * @typedef {object} ThreadListener
 * @property {(thread: AgentThread, message: PageMessage) => void} onMessage called with messages that concern the page
 * @property {(thread: AgentThread, error: Error) => void} onCrash
 */

class AgentThreads {
  #host;
  #listener;
  /** By number. @type {Map<number, AgentThread>} */
  #threads = new Map();
  #nextThread = 1;
  /** Windows in the public API, by their numbers there. @type {Map<number, { thread: AgentThread, window: number }>} */
  #windows = new Map();
  #nextWindow = 0;
  #isVisible;
  /**
   * The blob: URLs that the threads made, for the other threads. The bytes are shared.
   *
   * @type {Map<string, { thread: AgentThread, blob: SharedBlob }>}
   */
  #blobs = new Map();
  /** No other page has it. */
  #name = randomUUID();
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
   * Opens a document in a thread of its own.
   *
   * @param {PageDocument} document
   * @param {DocumentContent} content
   * @param {Container} [container] the frame element that holds it
   */
  open(document, content, container) {
    const handle = this.#host.takeThread('page', document);
    const thread = this.#add(handle, document, { container });
    const ancestors =
      container === undefined
        ? undefined
        : { parent: this.addressOf(container.thread, container.window), top: this.addressOf(container.thread.top, 0) };
    handle.post({
      type: 'open',
      page: this.#name,
      document,
      content,
      cookies: this.#host.saveCookies(),
      ancestors,
      storage: this.#host.storage.itemsOf(storageKeyOf(thread)),
      initScripts: this.#host.initScripts,
      isVisible: this.#isVisible,
    });
    return thread;
  }

  /**
   * Opens a worker in a thread.
   *
   * @param {WorkerDocument} document
   * @param {WorkerContent} content
   * @param {WorkerOwner} owner
   * @param {MessagePort} port to the owner
   */
  openWorker(document, content, owner, port) {
    const handle = this.#host.takeThread('worker', document);
    const thread = this.#add(handle, document, { owner });
    const cookies = this.#host.saveCookies();
    handle.post({ type: 'open worker', page: this.#name, document, content, cookies, port }, [port]);
    return thread;
  }

  /**
   * @param {ThreadHandle} handle
   * @param {PageDocument | WorkerDocument} document
   * @param {ConstructorParameters<typeof AgentThread>[3]} holder
   */
  #add(handle, document, holder) {
    const thread = new AgentThread(this.#nextThread++, handle, document, holder);
    this.#threads.set(thread.id, thread);
    handle.on('message', (message) => this.#onMessage(thread, message));
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

  /** @param {AgentThread} thread @param {number} window @returns {WindowAddress} */
  addressOf(thread, window) {
    return { thread: thread.id, frame: window, origin: serialize(thread.document.origin) };
  }

  /**
   * The number of a window or a worker in the public API: 0 is the page itself, and no number is used twice.
   *
   * @param {AgentThread} thread
   * @param {number} window
   */
  numberOf(thread, window) {
    for (const [number, known] of this.#windows) if (known.thread === thread && known.window === window) return number;
    const number = this.#nextWindow++;
    this.#windows.set(number, { thread, window });
    return number;
  }

  /** The window with a number of the public API. @param {number} number */
  find(number) {
    return this.#windows.get(number);
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
   * @param {{ window?: number, remote?: number }} inner its number in the same thread, or the number of a frame element
   *   that holds a window of another thread
   * @returns {number | undefined}
   */
  frameWithin(outer, { window, remote }) {
    const target = this.find(outer);
    if (target === undefined) return undefined;
    const { thread } = target;
    if (window !== undefined) return thread.windows.has(window) ? this.numberOf(thread, window) : undefined;
    const child = this.#childOf(thread, remote);
    return child === undefined ? undefined : this.numberOf(child, 0);
  }

  /**
   * Brings the page to the foreground or the background. Workers are not visible, and are not notified.
   *
   * @param {boolean} isVisible
   * @returns {{ thread: AgentThread, asked: import('./thread-handle.cjs').Asked }[]}
   */
  setVisible(isVisible) {
    this.#isVisible = isVisible;
    const shown = this.all().filter(({ owner }) => owner === undefined);
    return shown.map((thread) => ({ thread, asked: thread.handle.ask({ type: 'visibility', isVisible }) }));
  }

  /**
   * Fires the last events of the page's documents. They are there until their listeners have returned, or until that
   * has taken too long.
   */
  async unload() {
    const shown = this.all().filter(({ owner }) => owner === undefined);
    await Promise.all(shown.map((thread) => this.#unload(thread)));
  }

  /** @param {AgentThread} thread @returns {Promise<boolean>} whether its listeners returned in time */
  #unload(thread) {
    thread.unloaded ??= thread.handle
      .answersInTime({ type: 'unload' }, UNLOAD_TIMEOUT)
      .then((answer) => answer !== undefined);
    return thread.unloaded;
  }

  /**
   * What threads report, also while their documents are unloaded, which are gone from the page then.
   *
   * @type {Record<string, (thread: AgentThread, message: any) => unknown>}
   */
  #handlersOfAll = {
    cookie: ({ handle }, { change }) => this.#host.shareCookie(change, handle),
    storage: (thread, change) => this.#onStorage(thread, change),
    keepalive: (thread, message) =>
      this.#host.startKept(
        { ...this.clientOf(thread), embedderPolicy: message.embedderPolicy },
        thread.handle,
        message,
      ),
    'fetch now': (thread, request) => this.#fetchNow(thread, request),
  };

  /**
   * What threads of the page report and ask for. All else is for the page itself.
   *
   * @type {Record<string, (thread: AgentThread, message: any) => unknown>}
   */
  #handlers = {
    worker: (thread, request) => this.#workers.start(thread, request),
    'end worker': (thread, { id }) => this.#workers.end(thread, id),
    'worker failed': (thread, { error }) => this.#workers.fail(thread, error),
    closed: (thread) => this.close(thread),
    'blob made': (thread, { url, media, bytes }) => this.#blobs.set(url, { thread, blob: { media, bytes } }),
    'blob gone': (_thread, { url }) => this.#blobs.delete(url),
    blob: async ({ handle, document }, { id, url }) =>
      handle.post({ type: 'answer', id, blob: await this.#findBlob(url, document.origin) }),
    frame: (thread, request) => this.#loadFrame(thread, request),
    intercept: async ({ handle }, { id, request }) =>
      handle.post({ type: 'answer', id, interception: await this.#host.network.intercept?.(request) }),
    'end frame': (thread, { id }) => this.#endFrameRequest(thread, id),
    post: (thread, message) => this.#postMessage(thread, message),
    window: (thread, { frame, url, parent }) => thread.windows.set(frame, { url, parent }),
    'window closed': (thread, { frame }) => this.#onWindowClosed(thread, frame),
    'close remote': (thread, { frame }) => this.closeFrame(thread, frame),
  };

  /** @param {AgentThread} thread @param {FromThread} message */
  #onMessage(thread, message) {
    const ofAll = this.#handlersOfAll[message.type];
    if (ofAll !== undefined) {
      ofAll(thread, message);
      return;
    }
    if (!this.has(thread)) return;
    const { container } = thread;
    const handler = this.#handlers[message.type];
    if (handler !== undefined) {
      handler(thread, message);
      return;
    }
    if (message.type === 'window at') {
      const known = thread.windows.get(message.frame);
      if (known !== undefined) known.url = message.url;
    } else if (message.type === 'load' && message.frame === 0 && container !== undefined) {
      container.thread.handle.post({ type: 'remote loaded', frame: container.frame });
    } else if (message.type === 'navigate') {
      // A document that is being unloaded navigates no more.
      if (thread.unloaded !== undefined) return;
      if (container !== undefined) {
        this.#navigateFrame(thread, container, message);
        return;
      }
    }
    this.#listener.onMessage(thread, /** @type {PageMessage} */ (message));
  }

  /**
   * A frame navigates itself: its embedder's thread requests that, as for every frame.
   *
   * @param {AgentThread} thread
   * @param {Container} container
   * @param {{ url: string, referrer: string }} navigation
   */
  #navigateFrame(thread, { thread: embedder, frame }, { url, referrer: claimed }) {
    if (!URL.canParse(url) || new URL(url).protocol === 'javascript:') return;
    const referrer = referrerOf(claimed, thread.document);
    embedder.handle.post({ type: 'navigate frame', frame, asker: thread.id, url, referrer });
  }

  /** @param {AgentThread} thread @param {import('../page/thread-messages.js').FrameRequest} message */
  async #loadFrame(thread, message) {
    try {
      await thread.withFrameRequest(message, (signal) =>
        new FrameLoader(this.#host, this, thread, message, signal).load(),
      );
    } catch (error) {
      const isUnchanged = error instanceof NoDocument;
      thread.handle.post({ type: 'frame', id: message.id, error: messageOf(error), isUnchanged });
    }
  }

  /**
   * Fetches for a thread that waits for it.
   *
   * @param {AgentThread} thread
   * @param {import('../page/thread-messages.js').BlockingRequest} message
   */
  async #fetchNow(thread, { request, embedderPolicy, signal, port }) {
    const client = { ...this.clientOf(thread), embedderPolicy };
    const answer = await thread.withRequest(new AbortController(), (aborted) =>
      this.#host.answerOf(request, client, aborted),
    );
    port.postMessage(answer);
    port.close();
    Atomics.store(signal, 0, 1);
    Atomics.notify(signal, 0);
  }

  /**
   * A document has changed an item of localStorage or sessionStorage.
   *
   * @param {AgentThread} thread
   * @param {Extract<FromThread, { type: 'storage' }>} change
   */
  #onStorage(thread, { area, name, value }) {
    const key = storageKeyOf(thread);
    if (key === undefined) return;
    this.#host.storage.change(key, { area, name, value });
    const { url } = thread.document;
    for (const other of this.all()) {
      if (other === thread || other.owner !== undefined || storageKeyOf(other) !== key) continue;
      other.handle.post({ type: 'storage', area, name, value, url });
    }
  }

  /** @param {AgentThread} thread @param {number} window */
  #onWindowClosed(thread, window) {
    // The page's own is closed with its thread.
    if (window === 0 || !thread.windows.delete(window)) return;
    this.#windows.delete(this.numberOf(thread, window));
    thread.endFrameRequests({ window });
    for (const child of this.all())
      if (child.container?.thread === thread && child.container.window === window) this.close(child);
  }

  /**
   * Messages between windows of different threads.
   * https://html.spec.whatwg.org/multipage/web-messaging.html#window-post-message-steps
   *
   * @param {AgentThread} sender
   * @param {Extract<FromThread, { type: 'post' }>} message
   */
  #postMessage(sender, { from, to, record, targetOrigin }) {
    const target = this.#threads.get(to.thread);
    if (target === undefined || !mayReceive(target, targetOrigin)) {
      for (const port of record.ports) port.close();
      return;
    }
    const source = this.addressOf(sender, sender.windows.has(from) ? from : 0);
    target.handle.post({ type: 'message', frame: to.frame, record, source }, record.ports);
  }

  /**
   * A frame no longer waits for a document, which may have been opened meanwhile.
   *
   * @param {AgentThread} thread
   * @param {number} id of its request
   */
  #endFrameRequest(thread, id) {
    thread.endFrameRequests({ id });
    const opened = this.all().find(({ container }) => container?.thread === thread && container.request === id);
    if (opened !== undefined) this.close(opened);
  }

  /**
   * Looks up a blob: URL. A thread that made one may have reported it, and its message may not have been read yet: each
   * has answered by then.
   *
   * @param {string} url
   * @param {import('../fetch/origin.cjs').Origin} origin
   */
  async #findBlob(url, origin) {
    const find = () => {
      const { thread, blob } = this.#blobs.get(url) ?? {};
      return thread?.document.origin === origin ? blob : undefined;
    };
    if (find() === undefined)
      await Promise.all(this.all().map(({ handle }) => handle.answersInTime({ type: 'ping' }, UNLOAD_TIMEOUT)));
    return find();
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

  /** @param {AgentThread} thread @param {number | undefined} frame number of a frame element */
  #childOf(thread, frame) {
    return this.all().find(({ container }) => container?.thread === thread && container.frame === frame);
  }

  /**
   * Ends the use of the thread of a frame, if it has one.
   *
   * @param {AgentThread} embedder
   * @param {number} frame number of the frame element
   */
  closeFrame(embedder, frame) {
    const child = this.#childOf(embedder, frame);
    if (child !== undefined) this.close(child);
  }

  /** @param {AgentThread} thread */
  #forget(thread) {
    if (!this.#threads.delete(thread.id)) return;
    thread.endRequests();
    for (const [number, { thread: holder }] of this.#windows) if (holder === thread) this.#windows.delete(number);
    for (const [url, { thread: maker }] of this.#blobs) if (maker === thread) this.#blobs.delete(url);
    for (const child of this.all())
      if (child.container?.thread === thread || child.owner?.thread === thread) this.close(child);
  }

  /** Ends the use of a thread, with the threads of its frames and workers. @param {AgentThread} thread */
  async close(thread) {
    this.#forget(thread);
    // A worker has no last events, and ends in the middle of what it does.
    if (thread.owner === undefined && (await this.#unload(thread))) await thread.handle.release(UNLOAD_TIMEOUT);
    else await thread.handle.terminate();
  }

  async closeAll() {
    await Promise.all(this.all().map((thread) => this.close(thread)));
  }
}

/**
 * By what the items of a thread's documents are kept; undefined for opaque origins and workers. In pages of other
 * origins, a frame has items of its own. https://storage.spec.whatwg.org/#obtain-a-storage-key
 *
 * @param {AgentThread} thread
 */
function storageKeyOf(thread) {
  const { origin } = thread.document;
  if (thread.owner !== undefined || isOpaque(origin)) return undefined;
  const around = thread.top.document.origin;
  return around === origin ? origin : `${origin} in ${around}`;
}

/** @param {AgentThread} target @param {string} targetOrigin of a message */
function mayReceive({ owner, document }, targetOrigin) {
  if (owner !== undefined) return false;
  // Opaque origins are all serialized as `null`, so that matches none of them.
  return targetOrigin === '*' || (targetOrigin !== 'null' && targetOrigin === serialize(document.origin));
}

module.exports = { AgentThreads };
