'use strict';

// A page thread, as seen by the user's thread.

const { EventEmitter } = require('node:events');
const path = require('node:path');
const { clearTimeout, setTimeout } = require('node:timers');
const { MessageChannel, MessagePort, Worker } = require('node:worker_threads');

const { PAGE_STATE } = require('../any-realm/page-state.cjs');
const { inheritedFlags } = require('../client/inherited-flags.cjs');
const loadedModules = require('./loaded-modules.cjs');
const { watchMemory } = require('./memory-watch.cjs');
const { unwatch, watchLoss } = require('./lost-threads.cjs');
const { closePorts } = require('./message-ports.cjs');
const { cloneKey } = require('./script-values.cjs');
const { ThreadInbox } = require('./thread-inbox.cjs');
const { waitAtMost } = require('./time-limit.cjs');

/** @typedef {import('../any-realm/thread-messages.js').Expected} Expected */
/** @typedef {import('../any-realm/thread-messages.js').ToMainRealm} ToMainRealm */
/** @typedef {import('../any-realm/thread-messages.js').FromMainRealm} FromMainRealm */
/** @typedef {import('../any-realm/thread-messages.js').MainRealmReport} MainRealmReport */
/** @typedef {import('../any-realm/thread-messages.js').MainRealmRequest} MainRealmRequest */
/** @typedef {import('../any-realm/thread-messages.js').MainRealmAnswer} MainRealmAnswer */
/** @typedef {import('../any-realm/thread-messages.js').ToDomRealm} ToDomRealm */
/** @typedef {import('../any-realm/thread-messages.js').FromDomRealm} FromDomRealm */
/** @typedef {import('../any-realm/thread-messages.js').DomRealmRequest} DomRealmRequest */
/** @typedef {import('node:worker_threads').Transferable[]} TransferList */

const PROGRAM = path.join(__dirname, '..', 'main-realm', 'page-thread.cjs');

/**
 * Node's options of a page thread. Its intrinsics are frozen so that a page could not change what the host runs even if it got hold of an
 * object of the main realm. vm modules are for ES modules among jsdom's dependencies. Node would print warnings about a page's code to the
 * user's terminal, with the URLs that the page chose for it.
 */
const NODE_OPTIONS = ['--frozen-intrinsics', '--experimental-vm-modules', '--no-warnings'];

/** The stack of a thread, in megabytes. Scripts get 4 of them; the rest is for V8, see crates/v8/shim/untrusted_thread.cc. */
const STACK = 64;

/** The code of errors that end a thread because of its memory, as Node has it. */
const OUT_OF_MEMORY = 'ERR_WORKER_OUT_OF_MEMORY';

/** How long the end of a thread is awaited, in milliseconds. V8 does not interrupt each of its built-in functions, and some run for years. */
const MAX_TERMINATION = 5_000;

/** When it is asked for again, in milliseconds: after twice as long each time. */
const FIRST_DELAY = 100;
const MAX_DELAY = 60_000;

/** How much may be sent to a DOM realm before it is read, in kilobytes. */
const MAX_UNREAD = 128 << 10;

/** Messages that count as unread until they are answered: the documents of frames and the scripts of workers may take long to load. */
const COUNTED_LONGER = new Set(['blob', 'frame', 'intercept', 'worker']);

/**
 * An answer that is awaited.
 *
 * @template Answer
 * @typedef {object} Asked
 * @property {Promise<Answer>} answer rejects when the thread ends first, or when it is forgotten
 * @property {() => void} forget
 */

/**
 * @typedef {object} ThreadStart
 * @property {import('./browser-context.cjs').Library} library jsdom
 * @property {import('tough-cookie').SerializedCookieJar | undefined} cookies
 * @property {import('./browser-context.cjs').ThreadOptions} options
 * @property {'page' | 'worker'} kind what is to be opened in it
 * @property {Int32Array} pageState see any-realm/page-state.cjs
 */

/**
 * Events: `dom-message` from the DOM realm, `main-message` from the main realm, `exit` when it is no longer used, with the error that ended
 * the thread, if any, and `gone` when it does not run any more.
 *
 * @extends {EventEmitter<{ 'dom-message': [FromDomRealm], 'main-message': [MainRealmReport], exit: [error?: Error], gone: [] }>}
 */
class ThreadHandle extends EventEmitter {
  #worker;
  #domPort;
  #mainPort;
  /** Awaited answers, by kind and id. @type {Map<string, { resolve: (answer: any) => void, reject: (error: Error) => void }>} */
  #awaited = new Map();
  #nextId = 1;
  /** Of messages that the thread has not received: what is to be done then, as with leases of responses. @type {Map<number, { release(): void }>} */
  #deliveries = new Map();
  #ready;
  #hasEnded = false;
  /** @type {Promise<void> | undefined} */
  #terminated;
  #isRetired = false;
  /** Whether V8 has lost the thread: Node never finds that it has ended. */
  #isLost = false;
  /** Shared with the thread: see `watchLoss`. */
  #lossFlag;
  /** @type {PromiseWithResolvers<void>} */
  #loss = Promise.withResolvers();
  #stopWatching;
  /** Counters that both threads share, see `unread` in main-realm/thread-types.d.ts. */
  #unread = new Int32Array(new SharedArrayBuffer(20));
  #inbox;

  /** @param {ThreadStart} start */
  constructor({ library, cookies, options, kind, pageState }) {
    super();
    const { memoryLimit } = options;
    this.#lossFlag = watchLoss((loss) => this.#lose(loss, memoryLimit));
    const dom = new MessageChannel();
    const main = new MessageChannel();
    this.#domPort = dom.port1;
    this.#mainPort = main.port1;
    try {
      this.#worker = new Worker(PROGRAM, {
        workerData: {
          library,
          cookies,
          options,
          modules: loadedModules.current(),
          cloneKey,
          pageState,
          unread: this.#unread,
          kind,
          lost: this.#lossFlag,
          port: dom.port2,
          control: main.port2,
        },
        transferList: [dom.port2, main.port2],
        // Pages must not learn this process's environment and command line.
        argv: [],
        env: {},
        execArgv: [...NODE_OPTIONS, ...inheritedFlags()],
        name: `selfprof ${kind}`,
        resourceLimits: { maxOldGenerationSizeMb: options.memoryLimit, stackSizeMb: STACK },
      });
    } catch (error) {
      // Such as of a program that may have no threads.
      unwatch(this.#lossFlag);
      for (const port of [dom.port1, main.port1]) port.close();
      throw error;
    }
    this.#ready = this.#await('ready');
    this.#ready.catch(() => {});
    const sent = () => Atomics.load(this.#unread, 2);
    this.#inbox = new ThreadInbox(this.#mainPort, sent, (message) => this.#onMessage(message));
    this.#worker.on('message', () => {
      Atomics.store(this.#unread, 4, 0);
      this.#inbox.ring();
    });
    // A page does not keep the program alive: see `keepAlive` in time-limit.cjs. Listeners of messages do, until then.
    this.#worker.unref();
    this.#domPort.unref();
    this.#mainPort.unref();
    this.#stopWatching = watchMemory(
      this.#worker,
      { limit: memoryLimit * 2 ** 20, page: pageState[PAGE_STATE.number], lost: this.#lossFlag },
      () => {
        // First, because a listener of the user may throw.
        this.#askToEnd();
        const error = new Error(`the page's buffers exceed its memory limit of ${memoryLimit} MB`);
        this.#end(Object.assign(error, { code: OUT_OF_MEMORY }));
      },
    );
    this.#worker.on('error', (/** @type {unknown} */ error) => {
      // Nothing of a page gets here, but what ends a thread may be anything.
      const isError = error instanceof Error && typeof error.message === 'string';
      this.#end(isError ? error : new Error("the page's thread has failed"));
    });
    // Only a full heap ends a thread from within: see crates/v8/shim/untrusted_thread.cc.
    this.#worker.on('exit', () => {
      unwatch(this.#lossFlag);
      this.#stopWatching();
      const error = new Error(`the page's heap exceeds its memory limit of ${memoryLimit} MB`);
      this.#end(Object.assign(error, { code: OUT_OF_MEMORY }));
      this.emit('gone');
    });
  }

  /** Whether it takes no more messages. */
  get hasEnded() {
    return this.#hasEnded;
  }

  /** Resolves when jsdom is loaded. */
  ready() {
    return this.#ready;
  }

  /** @param {ToMainRealm} message @param {TransferList} [transferList] */
  postToMain(message, transferList = []) {
    if (!this.#hasEnded) this.#mainPort.postMessage(message, transferList);
  }

  /**
   * Posts a message, such as one with the bytes of a response: they count as the page's until the thread has them.
   *
   * @param {ToMainRealm} message
   * @param {{ release(): void } | undefined} lease released when the thread has the message, or has ended
   * @param {TransferList} [transferList]
   */
  deliver(message, lease, transferList = []) {
    if (this.#hasEnded) {
      lease?.release();
      return;
    }
    const delivery = this.#nextId++;
    if (lease !== undefined) this.#deliveries.set(delivery, lease);
    this.#mainPort.postMessage({ ...message, delivery }, transferList);
  }

  /**
   * @param {ToDomRealm} message
   * @param {{ transferList?: TransferList, weight?: number, asked?: Expected }} [options] its weight in kilobytes, if it counts, and the
   *   answer if it is a request
   */
  postToDom(message, { transferList = [], weight = 0, asked } = {}) {
    if (this.#hasEnded) return;
    Atomics.add(this.#unread, 3, weight);
    try {
      this.#domPort.postMessage(message, transferList);
    } catch (error) {
      Atomics.sub(this.#unread, 3, weight);
      throw error;
    }
    this.#mainPort.postMessage({ type: 'dom', weight, asked });
  }

  /**
   * Forwards a message of another thread, unless too many are unread. One that cannot be sent is lost.
   *
   * @param {Extract<ToDomRealm, { type: 'message' | 'remote loaded' | 'storage' }>} message
   * @param {number} weight as its sender counts it, in kilobytes
   * @param {TransferList} transferList
   */
  forwardToDom(message, weight, transferList) {
    try {
      if (Atomics.load(this.#unread, 3) + weight > MAX_UNREAD) throw new RangeError('too many messages are unread');
      this.postToDom(message, { transferList, weight });
    } catch {
      // Or a port has been closed at its other end meanwhile.
      for (const port of transferList) if (port instanceof MessagePort) port.close();
    }
  }

  /**
   * @param {DomRealmRequest & { frame: number }} request
   * @param {number} maxShapeCost what the shapes of its result may cost, see cloning/object-shapes.cjs
   * @returns {Asked<FromDomRealm>}
   */
  askDom(request, maxShapeCost) {
    const id = this.#nextId++;
    return this.#ask('evaluation', id, () => this.postToDom({ ...request, id }, { asked: { id, maxShapeCost } }));
  }

  /**
   * @param {MainRealmRequest} request
   * @returns {Asked<MainRealmAnswer>}
   */
  askMain(request) {
    const id = this.#nextId++;
    return this.#ask('command', id, () => this.postToMain({ ...request, id }));
  }

  /**
   * Answers are distinguished by the realm that they come from: a page can make up answers of its DOM realm only.
   *
   * @param {'evaluation' | 'command'} kind
   * @param {number} id
   * @param {() => void} post
   * @returns {Asked<any>}
   */
  #ask(kind, id, post) {
    const key = `${kind} ${id}`;
    const answer = this.#hasEnded ? Promise.reject(new Error('the page is closed')) : this.#await(key);
    post();
    const forget = () => {
      this.#awaited.get(key)?.reject(new Error('the answer is no longer awaited'));
      this.#awaited.delete(key);
    };
    return { answer, forget };
  }

  /** @param {string} key @returns {Promise<any>} */
  #await(key) {
    return new Promise((resolve, reject) => {
      this.#awaited.set(key, { resolve, reject });
    });
  }

  /** @param {string} key @param {unknown} [answer] */
  #settle(key, answer) {
    this.#awaited.get(key)?.resolve(answer);
    this.#awaited.delete(key);
  }

  /** How many answers are awaited, for tests. */
  get awaited() {
    return this.#awaited.size;
  }

  /** @param {FromDomRealm} message */
  #onDomMessage(message) {
    if (message.type === 'evaluated') this.#settle(`evaluation ${message.id}`, message);
    else this.emit('dom-message', message);
  }

  /** Resolves when the messages that the main realm has sent so far are handled, or will not be. */
  caughtUp() {
    return this.#inbox.caughtUp();
  }

  /** @param {FromMainRealm} message */
  #onMessage(message) {
    if (!COUNTED_LONGER.has(message.type)) this.finish(message);
    if ('memory' in message) Atomics.sub(this.#unread, 1, message.memory);
    switch (message.type) {
      case 'dom':
        if (this.#isRetired) closePorts(message);
        else this.#onDomMessage(message.message);
        return;
      case 'done':
        this.#settle(`command ${message.id}`, message);
        return;
      case 'ready':
        this.#settle('ready');
        return;
      case 'delivered':
        this.#deliveries.get(message.delivery)?.release();
        this.#deliveries.delete(message.delivery);
        return;
      case 'pong':
        this.#settle(`ping ${message.id}`, true);
        return;
      default:
        if (this.#isRetired) closePorts(message);
        else this.emit('main-message', message);
    }
  }

  /** A message of the main realm has been handled, and its memory is free. @param {FromMainRealm} message */
  finish(message) {
    if ('weight' in message) Atomics.sub(this.#unread, 0, message.weight ?? 0);
  }

  /** The same once the thread has received what was posted so far: answers, which have the URLs of the requests, would fill memory too. @param {FromMainRealm} message */
  finishWhenReceived(message) {
    this.deliver({ type: 'answered' }, { release: () => this.finish(message) });
  }

  /** Whether the thread's event loop answers in time. @param {number} milliseconds */
  async isResponsive(milliseconds) {
    const id = this.#nextId++;
    const key = `ping ${id}`;
    const answered = this.#await(key).catch(() => false);
    const timer = setTimeout(() => this.#settle(key, false), milliseconds).unref();
    this.postToMain({ type: 'ping', id });
    try {
      return await answered;
    } finally {
      clearTimeout(timer);
    }
  }

  /** @param {Error} [error] */
  #end(error) {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#inbox.end();
    this.#domPort.close();
    for (const lease of this.#deliveries.values()) lease.release();
    this.#deliveries.clear();
    for (const { reject } of this.#awaited.values()) reject(error ?? new Error('the page is closed'));
    this.#awaited.clear();
    this.emit('exit', error);
  }

  /**
   * @param {import('./lost-threads.cjs').Loss} loss
   * @param {number} memoryLimit in megabytes
   */
  #lose(loss, memoryLimit) {
    this.#isLost = true;
    this.#stopWatching();
    const [code, message] = {
      memory: [OUT_OF_MEMORY, `V8 has run out of memory for the page, whose memory limit is ${memoryLimit} MB`],
      stack: ['ERR_PAGE_STACK_FULL', `V8 has filled the stack of the page's thread, which has ${STACK} MB`],
      error: [
        'ERR_PAGE_V8_FAILED',
        'V8 has ended the page because of an internal error, which it has printed to stderr',
      ],
    }[loss];
    this.#worker.unref();
    this.#loss.resolve();
    this.#end(Object.assign(new Error(message), { code }));
  }

  /** Ends the thread of a page, once it has provided the modules that other threads can use. */
  async retire() {
    this.#isRetired = true;
    if (!this.#hasEnded) await loadedModules.takeFrom(() => this.askMain({ type: 'modules' }));
    await this.terminate();
  }

  /**
   * V8 forgets that a thread is to end when native code catches that, as some of Node's does. So it is asked for until it has happened.
   *
   * @returns {Promise<unknown>} settled at the end
   */
  #askToEnd() {
    if (this.#isLost) return this.#loss.promise;
    let delay = FIRST_DELAY;
    const askAgain = () => {
      if (this.#isLost) return;
      this.#worker.terminate();
      // That keeps the program alive.
      this.#worker.unref();
      delay = Math.min(2 * delay, MAX_DELAY);
      timer = setTimeout(askAgain, delay).unref();
    };
    let timer = setTimeout(askAgain, delay).unref();
    this.#worker.once('exit', () => clearTimeout(timer));
    // Each call listens.
    this.#worker.setMaxListeners(0);
    const ended = this.#worker.terminate();
    this.#worker.unref();
    return ended;
  }

  /** Ends the thread, whatever it is doing. @returns {Promise<boolean>} whether it had not ended before */
  async terminate() {
    const isFirst = !this.#hasEnded;
    this.#end();
    this.#terminated ??= waitAtMost(MAX_TERMINATION, Promise.race([this.#loss.promise, this.#askToEnd()]));
    await this.#terminated;
    return isFirst;
  }
}

module.exports = { ThreadHandle };
