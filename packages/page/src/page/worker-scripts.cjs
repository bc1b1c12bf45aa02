'use strict';

// Runs the script of the worker that this thread is, and loads what `importScripts()` asks for.

const { getHeader } = require('../fetch/headers.cjs');
const { isJavaScript } = require('../fetch/mime-type.cjs');
const { toPageRequest } = require('./page-request.cjs');
const { runClassicScript } = require('./script-compilation.cjs');
const { ModuleNotLoaded } = require('./window-modules.cjs');

/** @typedef {import('../fetch/request.cjs').Response} Response */

class WorkerScripts {
  #thread;

  /** @param {import('./page-thread.cjs').PageThread} thread */
  constructor(thread) {
    this.#thread = thread;
  }

  /** The worker that this thread is. */
  #worker() {
    const worker = this.#thread.windows.ofFrame(0);
    if (worker === undefined) throw new Error('the worker has ended');
    return worker;
  }

  /**
   * Fetches a script for `importScripts()`, which blocks the worker.
   * https://html.spec.whatwg.org/multipage/webappapis.html#fetch-a-classic-worker-imported-script
   *
   * @param {string} url
   * @returns {{ handle: number, muted: boolean, error?: string }} a script, or what went wrong
   */
  importScript(url) {
    const worker = this.#worker();
    const { loader, reports, windows } = this.#thread;
    const window = worker.frame;
    const referrer = windows.referrerOf(window, worker.document.url);
    try {
      const request = toPageRequest({ url, destination: 'script', referrer, window });
      const response = loader.fetchNow(request);
      const { status, headers, body } = response;
      if (status < 200 || status > 299) throw new Error(`it answered ${status}`);
      const type = getHeader(headers, 'content-type');
      if (!isJavaScript(type)) throw new Error(`it is served as '${type ?? ''}', which is not JavaScript`);
      const handle = loader.keepScript(url, response, new TextDecoder().decode(body));
      return { handle, muted: response.type === 'opaque' };
    } catch (error) {
      reports.loadFailure({ window, initiator: 'script', url }, error);
      return { handle: 0, muted: false, error: 'the script could not be loaded' };
    }
  }

  /**
   * Runs a worker's script, and what it imports if it is a module. https://html.spec.whatwg.org/multipage/workers.html#run-a-worker
   *
   * @param {import('./thread-messages.js').WorkerDocument} document of the worker
   * @param {{ response: Response, referrer: string }} content
   * @param {() => void} onRun is called when it has run for the first time: from then on it gets messages
   */
  async runWorker({ url, worker: { type, credentials } }, { response, referrer }, onRun) {
    const { realm, bases, modules } = this.#worker();
    if (type === 'classic') {
      bases.set(url, url);
      const source = new TextDecoder().decode(response.body);
      this.#thread.enter(() => runClassicScript(realm, source, url));
      onRun();
      return;
    }
    /** @type {number} */
    let handle;
    try {
      modules.preload(response);
      handle = await modules.prepare({ url: response.url, credentials, referrer });
    } catch (error) {
      this.#thread.tell({
        type: 'worker failed',
        error: error instanceof ModuleNotLoaded ? error.message : String(error),
      });
      return;
    }
    this.#thread.enter(() => modules.run(handle, (thrown) => this.#thread.report(thrown)));
    onRun();
  }
}

module.exports = { WorkerScripts };
