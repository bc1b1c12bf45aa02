'use strict';

// Runs the script of the worker that this thread is, and loads what `importScripts()` asks for.

const { MAX_URL } = require('../any-realm/claimed-url.cjs');
const { getHeader } = require('../fetch/headers.cjs');
const { isJavaScript } = require('../fetch/mime-type.cjs');
const { serializedUrl } = require('../fetch/request.cjs');
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
   * @param {string} address
   * @returns {string} JSON: the handle of a script, or what went wrong
   */
  importScript(address) {
    const url = serializedUrl(address);
    const worker = this.#worker();
    const { error, response } =
      url.length > MAX_URL
        ? { error: `the URL of a script may have no more than ${MAX_URL} characters` }
        : this.#thread.askNow({
            type: 'import',
            url,
            referrer: this.#thread.windows.referrerOf(worker.frame, worker.document.url),
          });
    if (response?.timing !== undefined) worker.native?.reportResource(url, 'other', response.timing);
    const type = getHeader(response?.headers ?? [], 'content-type');
    let failure = error;
    if (response?.status < 200 || response?.status > 299) failure = `it answered ${response.status}`;
    else if (response !== undefined && !isJavaScript(type))
      failure = `it is served as '${type ?? ''}', which is not JavaScript`;
    if (failure !== undefined) {
      this.#thread.reports.loadFailure({ window: worker.frame, initiator: 'script', url }, new Error(failure));
      return JSON.stringify({ error: 'the script could not be loaded' });
    }
    const handle = this.#thread.loader.keepScript(url, response, new TextDecoder().decode(response.body));
    return JSON.stringify({ handle, muted: response.type === 'opaque' });
  }

  /**
   * Runs a worker's script, and what it imports if it is a module. https://html.spec.whatwg.org/multipage/workers.html#run-a-worker
   *
   * @param {import('../any-realm/thread-messages.js').WorkerDocument} document of the worker
   * @param {{ response: Response, referrer: string }} content
   * @param {() => void} onRun is called when it has run for the first time: from then on it gets messages
   */
  async runWorker({ url, worker: { type, credentials } }, { response, referrer }, onRun) {
    const { realm, bases, modules, window } = this.#worker();
    this.#thread.fixedPrototypes.fix(window);
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
