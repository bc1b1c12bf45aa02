'use strict';

// What a main realm reports to the page's user about requests of the page. A page can cause any number of reports, so they are limited.

const { types } = require('node:util');

const { ReportLimit, shortened } = require('../any-realm/report-limits.cjs');
const { isOwnError } = require('./own-objects.cjs');
const { syntaxErrorPosition } = require('./script-compilation.cjs');
const { ModuleNotLoaded } = require('./window-modules.cjs');

/** @typedef {{ window: number, initiator: string, url: string }} FailedRequest */

/** How much may wait to be read by the user's thread with a report, in bytes: more than with other messages, so that it says what had no room. */
const MAX_UNREAD = 80 << 20;

/** How much of a URL a problem says, in characters. */
const MAX_SHOWN_URL = 1_000;

class Reports {
  #thread;
  #limit = new ReportLimit();

  /** @param {import('./page-thread.cjs').PageThread} thread */
  constructor(thread) {
    this.#thread = thread;
  }

  /** A request failed. The page learns no more than that. @param {FailedRequest} request @param {unknown} error */
  loadFailure({ window, initiator, url }, error) {
    const text = `Could not load ${initiator}: "${shown(url)}": ${reasonOf(error)}`;
    this.#problem({ frame: window, kind: 'resource-loading', text, url });
  }

  /**
   * A worker could not be started, or has ended by itself.
   *
   * @param {number} window
   * @param {string} url
   * @param {{ reason: string, hasStarted: boolean }} failure
   */
  workerFailure(window, url, { reason, hasStarted }) {
    const name = `"${shown(url)}"`;
    const text = hasStarted
      ? `The worker ${name} has ended: ${reason}`
      : `Could not start the worker ${name}: ${reason}`;
    this.#problem({ frame: window, kind: 'worker', text, url });
  }

  /** A script of another origin threw, and the page must not know what. @param {number} window @param {string} url @param {unknown} thrown */
  mutedException(window, url, thrown) {
    const [line, column] = syntaxErrorPosition(thrown).split(':');
    const place = line === '' ? url : `${url}:${line}:${column}`;
    const text = `The script of another origin "${shown(place)}" threw: ${describeThrown(thrown)}`;
    this.#problem({ frame: window, kind: 'script', text, url });
  }

  /**
   * The same when the script threw later, as in a timer.
   *
   * @param {number} window
   * @param {string} place `URL:line:column`
   * @param {unknown} thrown
   */
  laterMutedException(window, place, thrown) {
    this.#mutedError(window, place, `threw: ${describeThrown(thrown)}`);
  }

  /** A script of another origin rejected a promise, and nothing handles that. @param {string} place `URL:line:column` @param {unknown} reason */
  mutedRejection(place, reason) {
    this.#mutedError(0, place, `rejected a promise: ${describeThrown(reason)}`);
  }

  /** The host failed. @param {unknown} error */
  hostFailure(error) {
    if (this.#limit.take() < 0) return;
    const message = shortened(isOwnError(error) ? String(error.stack) : describeThrown(error));
    this.#thread.tellLimited({ type: 'failure', message }, { limit: MAX_UNREAD });
  }

  /** The recording that the page's user asked for has ended before it was taken. */
  fullRecording() {
    const text = 'The recording of the load ended early: its stacks or the names in it took too much memory';
    this.#problem({ frame: 0, kind: 'profile', text, url: '' });
  }

  /** @param {number} window @param {string} place @param {string} what */
  #mutedError(window, place, what) {
    const url = place.replace(/:\d+:-?\d+$/, '');
    const script =
      url === '' ? 'A script, perhaps one of another origin,' : `The script of another origin "${shown(place)}"`;
    this.#problem({ frame: window, kind: 'script', text: `${script} ${what}`, url });
  }

  /** @param {{ frame: number, kind: string, text: string, url: string }} problem */
  #problem({ frame, kind, text, url }) {
    if (this.#limit.take() < 0) return;
    const report = { type: 'problem', frame, kind, text: shortened(text), url: shortened(url) };
    this.#thread.tellLimited(report, { limit: MAX_UNREAD });
  }
}

/** A URL in a sentence: a long one must not keep its end from being told. @param {string} url */
function shown(url) {
  return shortened(url, MAX_SHOWN_URL);
}

/** What a page threw, without running its code: an error's class is known from its prototypes alone. @param {unknown} thrown */
function describeThrown(thrown) {
  if (typeof thrown === 'function') return 'a function';
  if (typeof thrown !== 'object' || thrown === null) return String(thrown);
  if (!types.isNativeError(thrown)) return 'an object';
  const message = Object.getOwnPropertyDescriptor(thrown, 'message')?.value;
  return typeof message === 'string' ? message : 'an error';
}

/** @param {unknown} error */
function reasonOf(error) {
  if (!isOwnError(error)) return describeThrown(error);
  return error instanceof ModuleNotLoaded && error.reason !== undefined
    ? `${error.message}: ${error.reason}`
    : error.message;
}

module.exports = { Reports };
