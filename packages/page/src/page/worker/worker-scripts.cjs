'use strict';

// Runs the script of the worker that this thread is, and loads what `importScripts()` asks for.

const { thread } = require('../thread/thread.cjs');

const { getHeader } = require('../../fetch/headers.cjs');
const { isJavaScript } = require('../../fetch/mime-type.cjs');
const { scriptOf, toPageRequest } = require('../loading/loader.cjs');
const { runClassicScript } = require('../scripts/script-compilation.cjs');

/** @typedef {import('../windows/page-window.cjs').PageWindow} PageWindow */

/**
 * Fetches a script for `importScripts()`, which blocks the worker.
 * https://html.spec.whatwg.org/multipage/webappapis.html#fetch-a-classic-worker-imported-script
 *
 * @param {PageWindow} worker
 * @param {string} url
 * @returns {import('../loading/loader.cjs').FetchedScript | undefined} undefined when it could not be loaded
 */
function importScript(worker, url) {
  const referrer = worker.referrerOf(worker.document.url);
  try {
    const response = thread.loader.fetchNow(toPageRequest({ url, destination: 'script', referrer, window: worker }));
    const { status, headers, body } = response;
    if (status < 200 || status > 299) throw new Error(`it answered ${status}`);
    const type = getHeader(headers, 'content-type');
    if (!isJavaScript(type)) throw new Error(`it is served as '${type ?? ''}', which is not JavaScript`);
    return scriptOf(url, response, new TextDecoder().decode(body));
  } catch (error) {
    thread.reports.loadFailure({ window: worker, initiator: 'script', url }, error);
    return undefined;
  }
}

/**
 * Runs a worker's script, and what it imports if it is a module.
 * https://html.spec.whatwg.org/multipage/workers.html#run-a-worker
 *
 * @param {PageWindow} worker
 * @param {import('../thread-messages.js').WorkerDocument} document
 * @param {import('../thread-messages.js').WorkerContent} content
 * @returns {Promise<boolean>} whether it has run for the first time: from then on it gets messages
 */
async function runWorker({ realm, bases, modules }, { url, worker: { type, credentials } }, { response, referrer }) {
  if (type === 'classic') {
    bases.set(url, url);
    const source = new TextDecoder().decode(response.body);
    thread.enter(() => runClassicScript(realm, source, url));
    return true;
  }
  try {
    modules.preload(response);
    const script = await modules.prepare({ url: response.url, credentials, referrer });
    thread.enter(() => modules.run(script));
    return true;
  } catch (error) {
    thread.tell({ type: 'worker failed', error: error instanceof Error ? error.message : String(error) });
    return false;
  }
}

module.exports = { importScript, runWorker };
