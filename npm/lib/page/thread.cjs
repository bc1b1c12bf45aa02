'use strict';

// A page thread, as its user's thread sees it.

const { EventEmitter } = require('node:events');
const path = require('node:path');
const { types } = require('node:util');
const { MessageChannel, Worker, receiveMessageOnPort } = require('node:worker_threads');

const codeCache = require('./code-cache.cjs');
const { watchMemory } = require('./memory-watch.cjs');

const PROGRAM = path.join(__dirname, 'thread', 'main.cjs');

/**
 * The options of Node that a page thread runs with. Its intrinsics are frozen, so that not even an object of the main realm
 * that got astray would let a page change what the host runs. Modules are for jsdom's dependencies.
 */
const NODE_OPTIONS = ['--frozen-intrinsics', '--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];

/** How much may wait to be taken by a thread, in the units of dom/outbox.cjs. */
const MAX_UNTAKEN = 64 << 10;

/** Events: `message` from the DOM realm, `control` from the main realm, `exit` with an error or without. */
class ThreadHandle extends EventEmitter {
  #worker;
  /** To the thread's DOM realm. */
  #port;
  /** To its main realm. */
  #control;
  #waiting = new Map();
  #next = 1;
  #ready;
  #isGone = false;
  #stopWatching;
  /** How much of what the DOM realm said has not been heard, see dom/outbox.cjs; and how much it has not taken of others. */
  #unheard;
  #untaken = new Int32Array(new SharedArrayBuffer(4));
  /** Commands that were carried out before a message that is being heard. */
  #early;

  /**
   * @param {object} start
   * @param {{ folder: string, version: string }} start.library jsdom
   * @param {object} start.cookies a saved jar
   * @param {object} start.options of the host, plain data
   * @param {'page' | 'worker'} start.kind what is to be opened in it
   */
  constructor({ library, cookies, options, kind }) {
    super();
    const dom = new MessageChannel();
    const main = new MessageChannel();
    this.#port = dom.port1;
    this.#control = main.port1;
    this.#worker = new Worker(PROGRAM, {
      workerData: { library, cookies, options, code: codeCache.current(), kind, port: dom.port2, control: main.port2 },
      transferList: [dom.port2, main.port2],
      // Nothing of this process's environment or command line is a page's business.
      argv: [],
      env: {},
      execArgv: NODE_OPTIONS,
      name: `selfprof ${kind}`,
      resourceLimits: { maxOldGenerationSizeMb: options.memoryLimit },
    });
    this.#ready = new Promise((resolve, reject) => {
      this.#waiting.set('ready', { resolve, reject });
    });
    this.#ready.catch(() => {});
    // Pages keep no program alive; what waits for one does.
    this.#worker.unref();
    this.#port.on('message', (message) => this.#receive(message));
    this.#port.unref();
    this.#port.postMessage({ type: 'untaken', untaken: this.#untaken });
    this.#control.on('message', (message) => this.#receiveControl(message));
    this.#control.unref();
    const { memoryLimit } = options;
    this.#stopWatching = watchMemory(this.#worker, memoryLimit * 2 ** 20, () => {
      const error = new Error(`the page's buffers take more memory than the ${memoryLimit} MB that it may have`);
      this.#end(Object.assign(error, { code: 'ERR_WORKER_OUT_OF_MEMORY' }));
      this.#worker.terminate();
    });
    this.#worker.on('error', (error) => this.#end(error));
    // Nothing else ends a thread from within: see crates/v8/shim/hosting.cc.
    this.#worker.on('exit', () => this.#end(new Error(`the page's memory, of ${options.memoryLimit} MB, is full`)));
  }

  /** Waits until the DOM is loaded. */
  ready() {
    return this.#hold(this.#ready);
  }

  /** Keeps the program alive while a promise is not settled. */
  async #hold(promise) {
    this.#worker.ref();
    this.#holds += 1;
    try {
      return await promise;
    } finally {
      this.#holds -= 1;
      // What ends is waited for, too: `terminate` took hold of it.
      if (this.#holds === 0 && !this.#isGone) this.#worker.unref();
    }
  }

  #holds = 0;

  /** Tells the thread's main realm something. */
  control(message, transferList) {
    if (!this.#isGone) this.#control.postMessage(message, transferList);
  }

  /** Tells the thread's DOM realm something. */
  tell(message, transferList = []) {
    if (!this.#isGone) this.#port.postMessage(message, transferList);
  }

  /** Hands on what another thread has said. Of one that does not take it, the rest is lost. */
  forward(message, transferList) {
    const weight = Number.isInteger(message.weight) && message.weight > 0 ? message.weight : 1;
    if (Atomics.load(this.#untaken, 0) + weight > MAX_UNTAKEN) return;
    Atomics.add(this.#untaken, 0, weight);
    this.tell({ ...message, weight }, transferList);
  }

  /**
   * Asks the DOM realm for something.
   *
   * @returns {{ answer: Promise<object>, forget: () => void }} rejects when the thread ends first, or when nobody wants the
   *   answer any more
   */
  ask(message) {
    return this.#askVia(this.#port, 'evaluation', message);
  }

  /** Asks the main realm for something, as {@link ask} does. */
  command(message) {
    return this.#askVia(this.#control, 'command', message);
  }

  /** Answers are told apart by where they come from: a page gives those of its DOM realm alone. */
  #askVia(port, kind, message) {
    const id = this.#next++;
    const key = `${kind} ${id}`;
    const answer = new Promise((resolve, reject) => {
      if (this.#isGone) {
        reject(new Error('the page is closed'));
        return;
      }
      this.#waiting.set(key, { resolve, reject });
      port.postMessage({ ...message, id });
    });
    const forget = () => {
      this.#waiting.get(key)?.reject(new Error('nobody waits for the answer'));
      this.#waiting.delete(key);
    };
    return { answer: this.#hold(answer), forget };
  }

  /** Waits for an event of this thread that is not an answer. */
  hold(promise) {
    return this.#hold(promise);
  }

  #receive(message) {
    // It comes from a realm that the page can reach: it may be anything.
    if (this.#isRetired || typeof message !== 'object' || message === null || typeof message.type !== 'string') return;
    // What the main realm said before comes first, though it comes another way.
    if (this.#countHeard(message)) return;
    const finished = (this.#early = []);
    this.drain();
    this.#early = undefined;
    this.#emitMessage(message);
    for (const command of finished) this.#finish(command);
  }

  /** Makes room for more. Returns whether the message was about that alone. */
  #countHeard({ type, unheard, weight }) {
    if (type === 'unheard') {
      if (types.isInt32Array(unheard) && types.isSharedArrayBuffer(unheard.buffer)) this.#unheard = unheard;
      return true;
    }
    if (this.#unheard !== undefined && Number.isInteger(weight)) Atomics.sub(this.#unheard, 0, weight);
    return false;
  }

  #emitMessage(message) {
    if (message.type === 'evaluated') {
      if (typeof message.id === 'number') this.#answer('evaluation', message);
    } else {
      this.emit('message', message);
    }
  }

  /** Hears what the main realm has said so far. */
  drain() {
    if (this.#isGone) return;
    for (let early = receiveMessageOnPort(this.#control); early !== undefined; early = receiveMessageOnPort(this.#control)) {
      this.#receiveControl(early.message);
    }
  }

  /** A command was carried out. What the DOM realm said meanwhile comes first, too. */
  #finish(message) {
    for (let early = receiveMessageOnPort(this.#port); early !== undefined; early = receiveMessageOnPort(this.#port)) {
      this.#receive(early.message);
    }
    this.#answer('command', message);
  }

  #answer(kind, message) {
    const key = `${kind} ${message.id}`;
    this.#waiting.get(key)?.resolve(message);
    this.#waiting.delete(key);
  }

  #receiveControl(message) {
    if (message.type === 'ready') {
      this.#waiting.get('ready')?.resolve();
      this.#waiting.delete('ready');
    } else if (message.type === 'done') {
      if (this.#early !== undefined) this.#early.push(message);
      else this.#finish(message);
    } else if (message.type === 'pong') {
      this.#waiting.get(`ping ${message.id}`)?.resolve();
    } else if (!this.#isRetired) {
      this.emit('control', message);
    }
  }

  /** Whether the thread runs its event loop within this many milliseconds. */
  async isResponsive(milliseconds) {
    const id = this.#next++;
    let timer;
    const answered = new Promise((resolve, reject) => {
      this.#waiting.set(`ping ${id}`, { resolve: () => resolve(true), reject: () => resolve(false) });
      timer = setTimeout(() => resolve(false), milliseconds);
    });
    this.control({ type: 'ping', id });
    try {
      return await this.#hold(answered);
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(`ping ${id}`);
    }
  }

  #end(error) {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#stopWatching();
    this.#port.close();
    this.#control.close();
    for (const { reject } of this.#waiting.values()) reject(error ?? new Error('the page is closed'));
    this.#waiting.clear();
    this.emit('exit', error);
  }

  /** Ends the thread, which has run a page, when it has handed over what others can use. */
  async retire() {
    this.#isRetired = true;
    if (!this.#isGone) await codeCache.takeFrom(() => this.command({ type: 'code' }));
    await this.terminate();
  }

  #isRetired = false;

  /** Ends the thread, whatever it is doing. */
  async terminate() {
    this.#end();
    await this.#worker.terminate();
  }
}

module.exports = { ThreadHandle };
