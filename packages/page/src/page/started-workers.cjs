'use strict';

// The workers that a window, or a worker, has started: messages between their objects here and their threads.

const { thread } = require('./thread.cjs');
const ErrorEvent = require('jsdom/lib/generated/idl/ErrorEvent.js');
const Event = require('jsdom/lib/generated/idl/Event.js');
const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const { createAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');

const { reportError } = require('./exceptions.cjs');
const { post } = require('./message-channels.cjs');

/** @typedef {import('../window/contracts.js').CloneRecord} CloneRecord */

/**
 * Starts a worker.
 *
 * @param {Jsdom.Window} window the global object that starts it
 * @param {import('./owned-workers.cjs').RequestedWorker} request
 * @param {object} worker its object
 * @param {(record: CloneRecord) => void} onMessage
 * @returns {import('../window/contracts.js').StartedWorker}
 */
function startWorker(window, request, worker, onMessage) {
  const target = idlUtils.implForWrapper(worker);
  let isOver = false;
  const hangUp = () => {
    isOver = true;
    port.close();
  };
  const { id, port } = thread.workers.start(thread.windows.get(window), request, () => {
    hangUp();
    target._dispatch(createAnEvent('error', window, Event, { cancelable: true }));
  });
  port.on('message', ({ record, error }) => {
    if (isOver || window._document._isDestroyed) return;
    thread.enter(() => (error === undefined ? onMessage(record) : receiveError(window, target, error)));
  });
  return {
    post(record) {
      if (!isOver) post(port, record);
    },
    end() {
      hangUp();
      thread.workers.end(id);
    },
  };
}

/**
 * Reports an exception that the worker's own listeners have not handled.
 * https://html.spec.whatwg.org/multipage/webappapis.html#report-an-exception
 *
 * @param {Jsdom.Window} window
 * @param {Jsdom.Impl} target the worker's object
 * @param {{ message: string, filename: string, lineno: number, colno: number, stack: string }} exception from the worker's thread
 */
function receiveError(window, target, { stack, ...exception }) {
  const report = { ...exception, error: null };
  const event = createAnEvent('error', window, ErrorEvent, { cancelable: true, ...report });
  target._dispatch(event);
  if (!event.defaultPrevented) reportError(window, report, { ...report, stack });
}

module.exports = { startWorker };
