'use strict';

// What a page thread reports to the page's user, and the page itself does not learn.

const { inspect } = require('../thread/inspect.cjs');
const { syntaxErrorPosition } = require('../scripts/script-compilation.cjs');
const { ModuleNotLoaded } = require('../scripts/window-modules.cjs');

/** @typedef {{ window: import('../windows/page-window.cjs').PageWindow, initiator?: string, url: string }} FailedRequest */

/** What a page gets of a request that failed. The page's user got the reason. */
class RequestFailed extends TypeError {
  message = 'the request failed';
}

class Reports {
  #thread;

  /** @param {Pick<import('../page-thread.cjs').PageThread, 'tell'>} thread */
  constructor(thread) {
    this.#thread = thread;
  }

  /** A request failed. The page learns no more than that. @param {FailedRequest} request @param {unknown} error */
  loadFailure({ window, initiator = 'other', url }, error) {
    const text = `Could not load ${initiator}: "${url}": ${reasonOf(error)}`;
    this.#problem({ frame: window.frame, kind: 'resource-loading', text, url });
  }

  /**
   * A worker could not be started, or has ended by itself.
   *
   * @param {number} window
   * @param {string} url
   * @param {{ reason: string, hasStarted: boolean }} failure
   */
  workerFailure(window, url, { reason, hasStarted }) {
    const text = hasStarted
      ? `The worker "${url}" has ended: ${reason}`
      : `Could not start the worker "${url}": ${reason}`;
    this.#problem({ frame: window, kind: 'worker', text, url });
  }

  /**
   * A script of another origin threw, and the page must not know what.
   *
   * @param {number} frame
   * @param {string} place its URL, or `URL:line:column`; empty if that is not known
   * @param {unknown} thrown
   * @param {string} [verb]
   */
  mutedException(frame, place, thrown, verb = 'threw') {
    const position = syntaxErrorPosition(thrown);
    const url = place.replace(/:\d+:-?\d+$/, '');
    const name = position === '' ? place : `${url}:${position}`;
    const script = url === '' ? 'A script, perhaps one of another origin,' : `The script of another origin "${name}"`;
    this.#problem({ frame, kind: 'script', text: `${script} ${verb}: ${describeThrown(thrown)}`, url });
  }

  /**
   * A script of another origin rejected a promise, and nothing handles that.
   *
   * @param {string} place `URL:line:column`
   * @param {unknown} reason
   */
  mutedRejection(place, reason) {
    this.mutedException(0, place, reason, 'rejected a promise');
  }

  /** The host failed. @param {unknown} error */
  hostFailure(error) {
    const text = error instanceof Error ? String(error.stack) : describeThrown(error);
    this.#problem({ frame: 0, kind: 'host', text, url: '' });
  }

  /** @param {{ frame: number, kind: string, text: string, url: string }} problem */
  #problem(problem) {
    this.#thread.tell({ type: 'problem', ...problem });
  }
}

/** What a page threw: the message of an error, or the value. @param {unknown} thrown */
function describeThrown(thrown) {
  const message = Object(thrown) === thrown ? /** @type {any} */ (thrown).message : undefined;
  return typeof message === 'string' ? message : typeof thrown === 'string' ? thrown : inspect(thrown);
}

/** @param {unknown} error */
function reasonOf(error) {
  return error instanceof ModuleNotLoaded && error.reason !== undefined
    ? `${error.message}: ${error.reason}`
    : describeThrown(error);
}

module.exports = { Reports, RequestFailed };
