'use strict';

// Starts and ends the dedicated workers of a page. https://html.spec.whatwg.org/multipage/workers.html#dom-worker

const { describeWorker } = require('../fetch/worker-description.cjs');
const { messageOf } = require('../client/errors.cjs');

/** @typedef {import('./agent-thread.cjs').AgentThread} AgentThread */
/** @typedef {import('../page/thread-messages.js').WorkerRequest} WorkerRequest */

/**
 * A worker that is being started, or runs.
 *
 * @typedef {object} StartedWorker
 * @property {import('./agent-thread.cjs').WorkerOwner} owner
 * @property {AgentThread | undefined} thread once it is started
 * @property {AbortController} request for its script
 * @property {boolean} isEnded
 */

class PageWorkers {
  #host;
  #threads;
  /** By owner and number there. @type {Map<string, StartedWorker>} */
  #workers = new Map();

  /**
   * @param {import('./page-context.cjs').PageContext} host
   * @param {import('./agent-threads.cjs').AgentThreads} threads
   */
  constructor(host, threads) {
    this.#host = host;
    this.#threads = threads;
  }

  /** @param {AgentThread} owner @param {WorkerRequest} request */
  async start(owner, request) {
    const { id, window, url, options, referrer, startedAt, port } = request;
    /** @type {StartedWorker} */
    const worker = {
      owner: { thread: owner, window, id },
      thread: undefined,
      request: new AbortController(),
      isEnded: false,
    };
    this.#workers.set(keyOf(owner, id), worker);
    try {
      const response = await owner.withRequest(worker.request, (signal) => this.#fetch(owner, request, signal));
      owner.handle.post({ type: 'fetched', window, url, initiator: 'other', timing: response.timing });
      // The window that makes it may be that of a frame, which has headers of its own.
      const { embedderPolicy, profiling } = request;
      const isIsolated = owner.document.isIsolated && request.isIsolated;
      const maker = { ...owner.document, profiling, embedderPolicy, isIsolated };
      const document = { ...describeWorker(response, maker, options), startedAt };
      if (worker.isEnded || !this.#threads.has(owner)) throw new Error('the worker was ended before it started');
      worker.thread = this.#threads.openWorker(document, { response, referrer }, worker.owner, port);
    } catch (error) {
      port.close();
      this.#forget(worker, messageOf(error));
    }
  }

  /** @param {AgentThread} owner @param {WorkerRequest} request @param {AbortSignal} signal */
  #fetch(owner, { url, blob, options: { type, credentials }, referrer }, signal) {
    return this.#host.network.fetch(
      {
        url,
        mode: 'same-origin',
        credentials: type === 'module' ? credentials : 'same-origin',
        destination: 'worker',
        referrer,
      },
      this.#threads.clientOf(owner, blob),
      signal,
    );
  }

  /** Ends a worker, as its owner asks. @param {AgentThread} owner @param {number} id */
  end(owner, id) {
    const worker = this.#workers.get(keyOf(owner, id));
    if (worker === undefined) return;
    worker.isEnded = true;
    worker.request.abort();
    if (worker.thread !== undefined) this.#threads.close(worker.thread);
  }

  /** A worker's thread could not load its script. @param {AgentThread} thread @param {unknown} error */
  fail(thread, error) {
    const worker = this.#workerOf(thread);
    if (worker === undefined) return;
    this.#forget(worker, String(error));
    this.#threads.close(thread);
  }

  /**
   * A thread has ended: by itself, because it was ended, or with an error.
   *
   * @param {AgentThread} thread
   * @param {Error} [error]
   */
  onExit(thread, error) {
    const worker = this.#workerOf(thread);
    if (worker !== undefined) this.#forget(worker, error?.message, { hasStarted: true });
  }

  /** @param {AgentThread} thread */
  #workerOf({ owner }) {
    return owner === undefined ? undefined : this.#workers.get(keyOf(owner.thread, owner.id));
  }

  /** @param {StartedWorker} worker @param {string} [error] @param {{ hasStarted?: boolean }} [options] */
  #forget({ owner: { thread, id } }, error, { hasStarted } = {}) {
    if (!this.#workers.delete(keyOf(thread, id))) return;
    thread.handle.post({ type: 'worker gone', id, error, hasStarted });
  }
}

/** @param {AgentThread} thread @param {number} id */
function keyOf(thread, id) {
  return `${thread.id}.${id}`;
}

module.exports = { PageWorkers };
