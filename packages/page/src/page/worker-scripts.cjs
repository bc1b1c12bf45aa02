'use strict';

// Runs the script of the worker that this thread is, and loads what `importScripts()` asks for.

const { getHeader } = require('../fetch/headers.cjs');
const { isJavaScript } = require('../fetch/mime-type.cjs');
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
    const referrer = this.#thread.windows.referrerOf(worker.frame, worker.document.url);
    const { error, response } = this.#thread.askNow({ type: 'import', url, referrer });
    if (response?.timing !== undefined) worker.native?.reportResource(url, 'other', response.timing);
    const type = getHeader(response?.headers ?? [], 'content-type');
    let failure = error;
    if (response?.status < 200 || response?.status > 299) failure = `it answered ${response.status}`;
    else if (response !== undefined && !isJavaScript(type))
      failure = `it is served as '${type ?? ''}', which is not JavaScript`;
    if (failure !== undefined) {
      this.#thread.reports.loadFailure({ window: worker.frame, initiator: 'script', url }, new Error(failure));
      return { handle: 0, muted: false, error: 'the script could not be loaded' };
    }
    const handle = this.#thread.loader.keepScript(url, response, new TextDecoder().decode(response.body));
    return { handle, muted: response.type === 'opaque' };
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
