'use strict';

// The workers that a window, or a worker, has made: what passes between their objects here and their threads.

const gate = require('selfprof:gate');
const ErrorEvent = require('jsdom/lib/generated/idl/ErrorEvent.js');
const Event = require('jsdom/lib/generated/idl/Event.js');
const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const { createAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');

const { reportError } = require('./exceptions.cjs');
const { newCounter, post, received } = require('./channels.cjs');
const { pipesIn } = require('./outbox.cjs');

/**
 * Starts a worker.
 *
 * @param {object} window the global object that makes it
 * @param {string} wish JSON, see thread/workers.cjs
 * @param {object} worker its object
 * @param {(record: object) => void} onMessage
 * @returns {{ post: (record: object) => void, end: () => void }}
 */
function startWorker(window, wish, worker, onMessage) {
  let pipe;
  const target = idlUtils.implForWrapper(worker);
  const id = gate.startWorker(
    window,
    wish,
    (own) => {
      pipe = own;
    },
    (reason) => {
      hangUp();
      const url = JSON.parse(wish).url;
      window._settings.virtualConsole.emit('jsdomError', { type: 'worker', message: `Could not start the worker "${url}": ${reason}`, url });
      target._dispatch(createAnEvent('error', window, Event, { cancelable: true }));
    },
  );
  const hangUp = () => {
    if (pipe === undefined) return;
    pipe.onmessage = null;
    pipe.close();
    pipe = undefined;
  };
  const receive = ({ record, error }) => {
    if (pipe === undefined || window._document._isDestroyed) return;
    if (error === undefined) onMessage(record);
    else receiveError(window, target, error);
  };
  const channel = { pipe, out: newCounter(), into: undefined };
  pipe.postMessage({ counter: channel.out });
  pipe.onmessage = ({ data }) => {
    if (data.counter !== undefined) {
      channel.into = data.counter;
      return;
    }
    received(channel, data);
    gate.enter(() => receive(data));
  };
  pipe.start?.();
  return {
    /** Returns whether there was room for it. */
    post: (record) => pipe === undefined || post(channel, record, pipesIn(record)),
    end() {
      hangUp();
      gate.endWorker(id);
    },
  };
}

/** What the worker's own listeners did not take care of. https://html.spec.whatwg.org/multipage/webappapis.html#report-an-exception */
function receiveError(window, target, { message, filename, lineno, colno, stack }) {
  const report = { message: `${message}`, filename: `${filename}`, lineno: Number(lineno), colno: Number(colno), error: null };
  const event = createAnEvent('error', window, ErrorEvent, { cancelable: true, ...report });
  target._dispatch(event);
  if (!event.defaultPrevented) reportError(window, report, { ...report, stack: `${stack}` });
}

module.exports = { startWorker };
