'use strict';

/** @typedef {import('../fetch/document-description.cjs').Description} Description */
/** @typedef {import('../fetch/worker-description.cjs').WorkerOptions} WorkerOptions */
/** @typedef {{ thread: AgentThread, window: number, frame: number, request: number }} Container a frame element, by its number and its window's, and the request that it shows */
/** @typedef {{ thread: AgentThread, window: number, id: number }} WorkerOwner the window that made a worker; `id` is the worker's number there */

/**
 * A thread of a page, which runs one agent: the windows of one origin that can reach each other, or a worker. A frame
 * of another origin has a thread of its own, so code in it shares no object with its embedder.
 * https://tc39.es/ecma262/#sec-agents
 */
class AgentThread {
  /**
   * @param {number} id
   * @param {import('./thread-handle.cjs').ThreadHandle} handle
   * @param {Description & { worker?: WorkerOptions }} document of its outermost window, or the worker
   * @param {{ container?: Container | undefined, owner?: WorkerOwner | undefined }} [holder]
   */
  constructor(id, handle, document, { container, owner } = {}) {
    this.id = id;
    this.handle = handle;
    this.document = document;
    /** The frame element in another thread that holds the outermost window; undefined for the page itself. */
    this.container = container;
    /** The owner of a worker. */
    this.owner = owner;
    /** The last events of its documents, once they are fired. @type {Promise<boolean> | undefined} */
    this.unloaded = undefined;
    /**
     * Windows as the thread reports them, by their numbers there.
     *
     * @type {Map<number, { url: string, parent: number }>}
     */
    this.windows = new Map([[0, { url: document.url, parent: -1 }]]);
    /** Requests that are made for it, to be aborted when it has ended. @type {Set<AbortController>} */
    this.requests = new Set();
    /**
     * Those for documents of its frames, by their numbers, with those of the frame and its window.
     *
     * @type {Map<number, { frame: number, window: number, request: AbortController }>}
     */
    this.frameRequests = new Map();
  }

  /**
   * Does something with a request that is aborted when the thread has ended.
   *
   * @template Value
   * @param {AbortController} request
   * @param {(signal: AbortSignal) => Promise<Value>} work
   */
  async withRequest(request, work) {
    this.requests.add(request);
    try {
      return await work(request.signal);
    } finally {
      this.requests.delete(request);
    }
  }

  /**
   * The same with the request for the document of a frame. It replaces an earlier one for the frame.
   *
   * @param {{ id: number, frame: number, window: number }} message
   * @param {(signal: AbortSignal) => Promise<void>} work
   */
  async withFrameRequest({ id, frame, window }, work) {
    this.endFrameRequests({ frame });
    const request = new AbortController();
    this.frameRequests.set(id, { frame, window, request });
    try {
      await this.withRequest(request, work);
    } finally {
      this.frameRequests.delete(id);
    }
  }

  /**
   * Ends one of them, that of a frame, or those of a window.
   *
   * @param {{ id?: number, frame?: number, window?: number }} which
   */
  endFrameRequests(which) {
    for (const [id, { frame, window, request }] of this.frameRequests) {
      if (id !== which.id && frame !== which.frame && window !== which.window) continue;
      // It may wait for long until it notices that.
      this.frameRequests.delete(id);
      request.abort();
    }
  }

  /** The thread is no longer used. */
  endRequests() {
    for (const request of this.requests) request.abort();
  }

  /** The thread of the page's own window. @returns {AgentThread} */
  get top() {
    return this.container === undefined ? this : this.container.thread.top;
  }
}

module.exports = { AgentThread };
