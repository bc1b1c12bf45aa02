'use strict';

// What a main realm reports to the page's user about requests of the page. A page can cause any number of reports, so they are limited.

const { ReportLimit, shortened } = require('../any-realm/report-limits.cjs');
const { ModuleNotLoaded } = require('./window-modules.cjs');

/** @typedef {{ window: number, initiator: string, url: string }} FailedRequest */

class Reports {
  #thread;
  #limit = new ReportLimit();

  /** @param {import('./page-thread.cjs').PageThread} thread */
  constructor(thread) {
    this.#thread = thread;
  }

  /** A request failed. The page learns no more than that. @param {FailedRequest} request @param {unknown} error */
  loadFailure({ window, initiator, url }, error) {
    const text = `Could not load ${initiator}: "${url}": ${reasonOf(error)}`;
    this.#problem({ frame: window, kind: 'resource-loading', text, url });
  }

  /** A worker could not be started, or has crashed. @param {number} window @param {string} url @param {string} reason */
  workerFailure(window, url, reason) {
    this.#problem({ frame: window, kind: 'worker', text: `Could not start the worker "${url}": ${reason}`, url });
  }

  /** @param {{ frame: number, kind: string, text: string, url: string }} problem */
  #problem({ frame, kind, text, url }) {
    if (this.#limit.take() < 0) return;
    this.#thread.tellLimited({ type: 'problem', frame, kind, text: shortened(text), url: shortened(url) });
  }
}

/** @param {unknown} error */
function reasonOf(error) {
  if (!(error instanceof Error)) return String(error);
  return error instanceof ModuleNotLoaded && error.reason !== undefined
    ? `${error.message}: ${error.reason}`
    : error.message;
}

module.exports = { Reports };
