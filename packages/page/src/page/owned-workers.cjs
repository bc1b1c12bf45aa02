'use strict';

// The workers that the windows of this thread, or the worker in it, have started. Each is a thread, which the host starts and ends; its
// messages come over a port of its own.

const { MessageChannel } = require('node:worker_threads');

const native = require('selfprof/internal/native.cjs');
const { withoutFragment } = require('../fetch/without-fragment.cjs');

/** @typedef {import('./window-record.cjs').WindowRecord} WindowRecord */
/** @typedef {import('../fetch/worker-description.cjs').WorkerOptions & { url: string }} RequestedWorker */
/** @typedef {{ window: WindowRecord, url: string, onFailure: () => void }} OwnedWorker */

class OwnedWorkers {
  #thread;
  /** By id: the window that started the worker, and what is called when the worker fails. @type {Map<number, OwnedWorker>} */
  #workers = new Map();
  #nextId = 1;

  /** @param {import('./page-thread.cjs').PageThread} thread */
  constructor(thread) {
    this.#thread = thread;
  }

  /**
   * Starts a worker.
   *
   * @param {WindowRecord} window
   * @param {RequestedWorker} request
   * @param {() => void} onFailure is called when the worker could not be started, or crashed
   * @returns {{ id: number, port: import('node:worker_threads').MessagePort }} what `end` takes, and the port to the worker
   */
  start(window, { url, ...options }, onFailure) {
    const id = this.#nextId++;
    this.#workers.set(id, { window, url, onFailure });
    const { port1, port2 } = new MessageChannel();
    if (!this.#thread.windows.isOpen(window)) {
      // Nothing would end it.
      port2.close();
      setImmediate(() => this.onGone({ id, error: 'the document is not shown any more' }));
      return { id, port: port1 };
    }
    const request = {
      type: 'worker',
      id,
      window: window.frame,
      url,
      // Read now, because a page may revoke a blob: URL as soon as the worker is made.
      blob: this.#thread.blobs.shared(withoutFragment(url)),
      options,
      isIsolated: window.isIsolated,
      embedderPolicy: this.#thread.windows.clientOf(window.frame).embedderPolicy,
      profiling: window.document.profiling,
      referrer: window.document.url,
      startedAt: native.now(),
      port: port2,
    };
    this.#thread.tell(request, [port2]);
    return { id, port: port1 };
  }

  /** Ends a worker, whatever it is doing. @param {number} id */
  end(id) {
    if (this.#workers.delete(id)) this.#thread.tell({ type: 'end worker', id });
  }

  /** Ends the workers of a window. https://html.spec.whatwg.org/multipage/workers.html#the-worker's-lifetime @param {WindowRecord} window */
  endOf(window) {
    for (const [id, worker] of this.#workers) if (worker.window === window) this.end(id);
  }

  /** The host says that a worker has ended, or could not be started. @param {{ id: number, error?: string, hasStarted?: boolean }} message */
  onGone({ id, error, hasStarted = false }) {
    const worker = this.#workers.get(id);
    this.#workers.delete(id);
    if (worker === undefined || error === undefined) return;
    this.#thread.reports.workerFailure(worker.window.frame, worker.url, { reason: error, hasStarted });
    this.#thread.enter(() => worker.onFailure());
  }
}

module.exports = { OwnedWorkers };
