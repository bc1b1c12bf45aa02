'use strict';

// The workers that a window, or a worker, has started. Each is a thread, which the host starts and ends; its messages
// come over a port of its own.

const { MessageChannel } = require('node:worker_threads');

const native = require('selfprof/internal/native.cjs');
const { thread } = require('../thread/thread.cjs');
const ErrorEvent = require('jsdom/lib/generated/idl/ErrorEvent.js');
const Event = require('jsdom/lib/generated/idl/Event.js');
const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const { createAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');

const { withoutFragment } = require('../../fetch/without-fragment.cjs');
const { reportError } = require('../jsdom/exceptions.cjs');
const { post } = require('../thread/message-channels.cjs');

/** @typedef {import('../../window/contracts.js').CloneRecord} CloneRecord */
/** @typedef {import('../windows/page-window.cjs').PageWindow} PageWindow */

/** By id. @type {Map<number, { pageWindow: PageWindow, url: string, end: () => void, onFailure: () => void }>} */
const started = new Map();
let nextId = 1;

/**
 * Starts a worker.
 *
 * @param {PageWindow} pageWindow that starts it
 * @param {import('../../fetch/worker-description.cjs').WorkerOptions & { url: string }} request
 * @param {object} worker its object
 * @param {(record: CloneRecord) => void} onMessage
 * @returns {import('../../window/contracts.js').StartedWorker}
 */
function startWorker(pageWindow, { url, ...options }, worker, onMessage) {
  const { window } = pageWindow;
  const target = idlUtils.implForWrapper(worker);
  const id = nextId++;
  const { port1: port, port2: remotePort } = new MessageChannel();
  let isOver = false;
  const hangUp = () => {
    isOver = true;
    port.close();
  };
  const end = () => {
    hangUp();
    if (started.delete(id)) thread.tell({ type: 'end worker', id });
  };
  const onFailure = () => {
    hangUp();
    target._dispatch(createAnEvent('error', window, Event, { cancelable: true }));
  };
  started.set(id, { pageWindow, url, end, onFailure });
  port.on('message', ({ record, error }) => {
    if (isOver || window._document._isDestroyed) return;
    thread.enter(() => (error === undefined ? onMessage(record) : receiveError(window, target, error)));
  });
  if (pageWindow.isOpen) requestWorker(id, pageWindow, url, options, remotePort);
  // Nothing would end it.
  else setImmediate(() => onWorkerGone({ id, error: 'the document is not shown any more' }));
  return {
    post(record) {
      if (!isOver) post(port, record);
    },
    end,
  };
}

/**
 * @param {number} id
 * @param {PageWindow} pageWindow
 * @param {string} url
 * @param {import('../../fetch/worker-description.cjs').WorkerOptions} options
 * @param {import('node:worker_threads').MessagePort} port
 */
function requestWorker(id, pageWindow, url, options, port) {
  const { client, document, frame, isIsolated } = pageWindow;
  /** @type {import('../thread-messages.js').WorkerRequest} */
  const request = {
    type: 'worker',
    id,
    window: frame,
    url,
    // Read now, because a page may revoke a blob: URL as soon as the worker is made.
    blob: thread.blobs.shared(withoutFragment(url)),
    options,
    isIsolated,
    embedderPolicy: client.embedderPolicy,
    profiling: document.profiling,
    referrer: document.url,
    startedAt: native.now(),
    port,
  };
  thread.tell(request, [port]);
}

/**
 * Ends the workers of a window. https://html.spec.whatwg.org/multipage/workers.html#the-worker's-lifetime
 *
 * @param {PageWindow} pageWindow
 */
function endWorkersOf(pageWindow) {
  for (const worker of started.values()) if (worker.pageWindow === pageWindow) worker.end();
}

/**
 * The host says that a worker has ended, or could not be started.
 *
 * @param {{ id: number, error?: string, hasStarted?: boolean }} message
 */
function onWorkerGone({ id, error, hasStarted = false }) {
  const worker = started.get(id);
  started.delete(id);
  if (worker === undefined || error === undefined) return;
  thread.reports.workerFailure(worker.pageWindow.frame, worker.url, { reason: error, hasStarted });
  thread.enter(worker.onFailure);
}

/**
 * Reports an exception that the worker's own listeners have not handled.
 * https://html.spec.whatwg.org/multipage/webappapis.html#report-an-exception
 *
 * @param {Jsdom.Window} window
 * @param {Jsdom.Impl} target the worker's object
 * @param {{ message: string, filename: string, lineno: number, colno: number, stack: string }} exception from the
 *   worker's thread
 */
function receiveError(window, target, { stack, ...exception }) {
  const report = { ...exception, error: null };
  const event = createAnEvent('error', window, ErrorEvent, { cancelable: true, ...report });
  target._dispatch(event);
  if (!event.defaultPrevented) reportError(window, report, { ...report, stack });
}

module.exports = { endWorkersOf, onWorkerGone, startWorker };
