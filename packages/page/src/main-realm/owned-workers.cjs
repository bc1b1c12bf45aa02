'use strict';

// The workers that the windows of this thread, or the worker in it, have started. Each is a thread, which the user's thread starts and
// ends; its messages come over a port of its own.

const { MessageChannel } = require('node:worker_threads');

const native = require('selfprof/internal/native.cjs');
const { MAX_URL, withoutFragment } = require('../any-realm/claimed-url.cjs');
const { serializedUrl } = require('../fetch/request.cjs');
const { oneOf, toCredentials } = require('./page-request.cjs');

/** @typedef {import('../any-realm/realm-contracts.js').Pipe} Pipe */
/** @typedef {import('./window-record.cjs').WindowRecord} WindowRecord */

const TYPES = /** @type {const} */ (['classic', 'module']);

/** How long the name of a worker may be, in characters: the user's thread keeps it, with the URL. */
const MAX_NAME = 1 << 16;

/** @typedef {{ window: WindowRecord, url: string, onFailure: () => void, isSent: boolean }} OwnedWorker `isSent` is whether the user's thread knows */

class OwnedWorkers {
  #thread;
  #limit;
  /** By id: the window that started the worker, and what is called when the worker fails. @type {Map<number, OwnedWorker>} */
  #workers = new Map();
  #nextId = 1;

  /**
   * @param {import('./page-thread.cjs').PageThread} thread
   * @param {number} limit how many there may be at once; the user's thread counts those of the whole page
   */
  constructor(thread, limit) {
    this.#thread = thread;
    this.#limit = limit;
  }

  /**
   * Starts a worker.
   *
   * @param {WindowRecord} window
   * @param {unknown} text JSON from the DOM realm
   * @param {(pipe: Pipe) => void} onPipe gets the port to the worker at once
   * @param {() => void} onFailure is called when the worker could not be started, or crashed
   * @returns {number} what `end` takes
   */
  start(window, text, onPipe, onFailure) {
    // It is not converted: that would run code of a page.
    if (typeof text !== 'string') return 0;
    const { url: address, type, credentials, name } = JSON.parse(text);
    const url = serializedUrl(String(address));
    const id = this.#nextId++;
    /** @type {OwnedWorker} */
    const worker = { window, url, onFailure: this.#thread.foreign.callable(onFailure), isSent: false };
    this.#workers.set(id, worker);
    const { port1, port2 } = new MessageChannel();
    const started = this.#thread.foreign.callable(onPipe);
    this.#thread.enter(() => started(this.#thread.moveToDom(port1)));
    const refusal = this.#refusalOf(window, url, String(name));
    if (refusal !== undefined) {
      port2.close();
      setImmediate(() => this.onGone({ id, error: refusal }));
      return id;
    }
    const request = {
      type: 'worker',
      id,
      window: window.frame,
      url,
      // Read now, because a page may revoke a blob: URL as soon as the worker is made.
      blob: this.#thread.blobs.shared(withoutFragment(url)),
      options: {
        type: oneOf(TYPES, type, 'classic'),
        credentials: toCredentials(credentials),
        name: String(name),
      },
      isIsolated: window.isIsolated,
      embedderPolicy: this.#thread.windows.clientOf(window.frame).embedderPolicy,
      profiling: window.document.profiling,
      referrer: window.document.url,
      startedAt: native.now(),
      port: port2,
    };
    const size = request.url.length + request.options.name.length;
    worker.isSent = this.#thread.tellLimited(request, { size, transferList: [port2] });
    if (!worker.isSent) {
      port2.close();
      setImmediate(() => this.onGone({ id, error: 'too many workers wait to be started' }));
    }
    return id;
  }

  /** Why a worker cannot be started. @param {WindowRecord} window @param {string} url @param {string} name */
  #refusalOf(window, url, name) {
    // Nothing would end it.
    if (!this.#thread.windows.isOpen(window)) return 'the document is not shown any more';
    if (this.#workers.size > this.#limit) return `a page may have no more than ${this.#limit} threads`;
    if (url.length > MAX_URL) return `the URL of a worker may have no more than ${MAX_URL} characters`;
    if (name.length > MAX_NAME) return `the name of a worker may have no more than ${MAX_NAME} characters`;
    return undefined;
  }

  /** Ends a worker, whatever it is doing. @param {number} id */
  end(id) {
    if (this.#workers.get(id)?.isSent) this.#thread.tell({ type: 'end worker', id });
    this.#workers.delete(id);
  }

  /** Ends the workers of a window. https://html.spec.whatwg.org/multipage/workers.html#the-worker's-lifetime @param {WindowRecord} window */
  endOf(window) {
    for (const [id, worker] of this.#workers) if (worker.window === window) this.end(id);
  }

  /** The user's thread says that a worker has ended, or could not be started. @param {{ id: number, error?: string, hasStarted?: boolean }} message */
  onGone({ id, error, hasStarted = false }) {
    const worker = this.#workers.get(id);
    this.#workers.delete(id);
    if (worker === undefined || error === undefined) return;
    this.#thread.reports.workerFailure(worker.window.frame, worker.url, { reason: error, hasStarted });
    this.#thread.enter(() => worker.onFailure());
  }
}

module.exports = { OwnedWorkers };
