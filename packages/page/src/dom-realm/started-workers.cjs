'use strict';

// The workers that a window, or a worker, has started: messages between their objects here and their threads.

const bridge = require('selfprof:main-realm');
const ErrorEvent = require('jsdom/lib/generated/idl/ErrorEvent.js');
const Event = require('jsdom/lib/generated/idl/Event.js');
const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const { createAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');

/** @typedef {import('../any-realm/realm-contracts.js').Channel} Channel */
/** @typedef {import('../any-realm/realm-contracts.js').CloneRecord} CloneRecord */
/** @typedef {import('../any-realm/realm-contracts.js').Pipe} Pipe */

const { reportError } = require('./exceptions.cjs');
const { newCounter, post, received } = require('./message-channels.cjs');

/**
 * Starts a worker.
 *
 * @param {Jsdom.Window} window the global object that starts it
 * @param {string} request JSON, see main-realm/owned-workers.cjs
 * @param {object} worker its object
 * @param {(record: CloneRecord) => void} onMessage
 * @returns {import('../any-realm/realm-contracts.js').StartedWorker}
 */
function startWorker(window, request, worker, onMessage) {
  /** @type {Pipe | undefined} */
  let pipe;
  const target = idlUtils.implForWrapper(worker);
  const id = bridge.startWorker(
    window,
    request,
    (port) => {
      pipe = port;
    },
    () => {
      hangUp();
      target._dispatch(createAnEvent('error', window, Event, { cancelable: true }));
    },
  );
  const hangUp = () => {
    if (pipe === undefined) return;
    pipe.onmessage = null;
    pipe.close();
    pipe = undefined;
  };
  const receive = (/** @type {any} */ { record, error }) => {
    if (pipe === undefined || window._document._isDestroyed) return;
    if (error === undefined) onMessage(record);
    else receiveError(window, target, error);
  };
  // The main realm has called back with it.
  const opened = /** @type {Pipe} */ (/** @type {unknown} */ (pipe));
  /** @type {Channel} */
  const channel = { pipe: opened, out: newCounter(), into: undefined };
  opened.postMessage({ counter: channel.out });
  opened.onmessage = ({ data }) => {
    if (data.counter !== undefined) {
      channel.into = data.counter;
      return;
    }
    received(channel, data);
    bridge.enter(() => receive(data));
  };
  opened.start?.();
  return {
    post: (record) => pipe === undefined || post(channel, record),
    end() {
      hangUp();
      bridge.endWorker(id);
    },
  };
}

/**
 * Reports an exception that the worker's own listeners have not handled.
 * https://html.spec.whatwg.org/multipage/webappapis.html#report-an-exception
 *
 * @param {Jsdom.Window} window
 * @param {Jsdom.Impl} target the worker's object
 * @param {any} exception from the worker's thread
 */
function receiveError(window, target, { message, filename, lineno, colno, stack }) {
  const report = {
    message: `${message}`,
    filename: `${filename}`,
    lineno: Number(lineno),
    colno: Number(colno),
    error: null,
  };
  const event = createAnEvent('error', window, ErrorEvent, { cancelable: true, ...report });
  target._dispatch(event);
  if (!event.defaultPrevented) reportError(window, report, { ...report, stack: `${stack}` });
}

module.exports = { startWorker };
