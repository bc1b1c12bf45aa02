'use strict';

// The use of a page thread by the documents of one origin of a page, or by a worker: from the first document to the
// release.

const { EventEmitter } = require('node:events');

/** @typedef {import('../page/thread-messages.js').ToThread} ToThread */
/** @typedef {import('../page/thread-messages.js').FromThread} FromThread */
/** @typedef {import('../page/thread-messages.js').ThreadRequest} ThreadRequest */
/** @typedef {import('../page/thread-messages.js').ThreadAnswer} ThreadAnswer */

/**
 * An answer that is awaited: it rejects when the thread ends first, or when it is forgotten.
 *
 * @typedef {{ answer: Promise<ThreadAnswer>, forget: () => void }} Asked
 */

/**
 * Events: `message` with what the thread reports, and `exit` when it is no longer used, with the error that ended the
 * thread, if any.
 *
 * @extends {EventEmitter<{ message: [FromThread], exit: [error?: Error] }>}
 */
class ThreadHandle extends EventEmitter {
  #pool;
  #thread;
  /** Awaited answers, by id. @type {Map<number, { resolve: (answer: any) => void, reject: (error: Error) => void }>} */
  #awaited = new Map();
  #nextId = 1;
  #hasEnded = false;
  /**
   * A thread can be closed with its page and with the frame that holds it, at once.
   *
   * @type {Promise<void> | undefined}
   */
  #released;
  #onMessage = (/** @type {FromThread | ThreadAnswer | { type: 'ready' }} */ message) => {
    if (message.type === 'ready') return;
    if (message.type !== 'done') {
      this.emit('message', message);
      return;
    }
    this.#awaited.get(message.id)?.resolve(message);
    this.#awaited.delete(message.id);
  };
  #onExit = () => this.#end(this.#thread.failure);

  /** @param {import('./thread-pool.cjs').ThreadPool} pool @param {import('./thread-pool.cjs').PooledThread} thread */
  constructor(pool, thread) {
    super();
    this.#pool = pool;
    this.#thread = thread;
    thread.on('message', this.#onMessage);
    thread.on('exit', this.#onExit);
  }

  /** @param {ToThread} message @param {readonly import('node:worker_threads').Transferable[]} [transferList] */
  post(message, transferList) {
    if (!this.#hasEnded) this.#thread.postMessage(message, transferList);
  }

  /** @param {ThreadRequest} request @returns {Asked} */
  ask(request) {
    const id = this.#nextId++;
    const { promise: answer, resolve, reject } = Promise.withResolvers();
    if (this.#hasEnded) reject(new Error('the page is closed'));
    else this.#awaited.set(id, { resolve, reject });
    this.post(/** @type {ToThread} */ ({ ...request, id }));
    const forget = () => {
      this.#awaited.delete(id);
      reject(new Error('the answer is no longer awaited'));
    };
    return { answer, forget };
  }

  /**
   * Whether the thread answers in time. One that has ended does not.
   *
   * @param {ThreadRequest} request
   * @param {number} milliseconds
   */
  async answersInTime(request, milliseconds) {
    const { answer, forget } = this.ask(request);
    const timer = setTimeout(forget, milliseconds);
    try {
      return await answer;
    } catch {
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  /** @param {Error} [error] */
  #end(error) {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#thread.off('message', this.#onMessage);
    this.#thread.off('exit', this.#onExit);
    for (const { reject } of this.#awaited.values()) reject(error ?? new Error('the page is closed'));
    this.#awaited.clear();
    this.emit('exit', error);
  }

  /**
   * Closes the windows of the thread and gives it back; a thread that does not answer in time is terminated.
   *
   * @param {number} milliseconds
   */
  async release(milliseconds) {
    this.#released ??= this.#release(milliseconds);
    await this.#released;
  }

  /** @param {number} milliseconds */
  async #release(milliseconds) {
    if (this.#hasEnded) return;
    const released = await this.answersInTime({ type: 'release' }, milliseconds);
    this.#end();
    if (released === undefined) await this.#thread.terminate();
    else await this.#pool.giveBack(this.#thread, Number(released.contexts));
  }

  /** Ends the thread, whatever it is doing. @param {Error} [error] why, if it has crashed */
  async terminate(error) {
    this.#end(error);
    await this.#thread.terminate();
  }
}

module.exports = { ThreadHandle };
