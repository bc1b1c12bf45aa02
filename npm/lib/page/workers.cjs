'use strict';

// Starts and ends the dedicated workers of a page. https://html.spec.whatwg.org/multipage/workers.html#dom-worker

const { describeWorker } = require('./policy/workers.cjs');

/**
 * Who made a worker.
 *
 * @typedef {object} Owner
 * @property {import('./sites.cjs').Site} site
 * @property {number} window of that thread
 * @property {number} id what the thread calls the worker
 */

class Workers {
  #host;
  #sites;
  /** What is being started or runs, by thread and by its id there. */
  #workers = new Map();

  /**
   * @param {import('./host.cjs').HostInternals} host
   * @param {import('./sites.cjs').Sites} sites
   */
  constructor(host, sites) {
    this.#host = host;
    this.#sites = sites;
  }

  /** Starts the worker that a thread asks for. */
  async start(owner, { id, window, url, blob, options, referrer, startedAt, port }) {
    const worker = { owner: { site: owner, window, id }, site: undefined, isEnded: false };
    this.#workers.set(keyOf(owner, id), worker);
    let thread;
    try {
      const release = this.#sites.reserve();
      try {
        thread = this.#host.startThread('worker');
        // They take their time beside each other.
        const [response] = await Promise.all([this.#fetch(owner, { url, blob, options, referrer }), thread.ready()]);
        owner.thread.control({ type: 'fetched', window, url, initiator: 'other', timing: response.timing });
        const document = { ...describeWorker(response, owner.document, options), startedAt };
        if (worker.isEnded || !this.#sites.has(owner)) throw new Error('nobody waits for the worker');
        const content = { response: { ...response, body: new Uint8Array(response.body) }, referrer };
        worker.site = this.#sites.openWorker(thread, document, content, worker.owner, port);
      } finally {
        release();
      }
    } catch (error) {
      port.close();
      thread?.terminate();
      this.#forget(worker, error.message);
    }
  }

  #fetch(owner, { url, blob, options: { type, credentials }, referrer }) {
    const request = {
      url,
      mode: 'same-origin',
      credentials: type === 'module' ? credentials : 'same-origin',
      destination: 'worker',
      referrer,
    };
    return this.#host.network.fetch(request, this.#sites.clientOf(owner, blob));
  }

  /** The thread that made it wants no more of it. */
  end(owner, id) {
    const worker = this.#workers.get(keyOf(owner, id));
    if (worker === undefined) return;
    worker.isEnded = true;
    if (worker.site !== undefined) this.#sites.close(worker.site);
  }

  /** A worker's own thread could not load it. */
  fail(site, error) {
    const worker = this.#of(site);
    if (worker === undefined) return;
    this.#forget(worker, String(error));
    this.#sites.close(site);
  }

  /** A thread has ended: of its own accord, because it was ended, or with an error. */
  noteExit(site, error) {
    const worker = this.#of(site);
    if (worker !== undefined) this.#forget(worker, error?.message);
  }

  #of(site) {
    return site.owner === undefined ? undefined : this.#workers.get(keyOf(site.owner.site, site.owner.id));
  }

  #forget(worker, error) {
    const { site, id } = worker.owner;
    if (this.#workers.delete(keyOf(site, id))) site.thread.control({ type: 'worker gone', id, error });
  }
}

function keyOf(site, id) {
  return `${site.id}.${id}`;
}

module.exports = { Workers };
