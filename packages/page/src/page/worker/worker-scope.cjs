'use strict';

// The global object of a worker: jsdom's interfaces that workers have, and a stand-in for the document where jsdom
// needs one.

const { thread } = require('../thread/thread.cjs');
const { parseURL } = require('whatwg-url');
const { URL, URLSearchParams } = require('whatwg-url/webidl2js-wrapper.js');

const Crypto = require('jsdom/lib/generated/idl/Crypto.js');
const EventTarget = require('jsdom/lib/generated/idl/EventTarget.js');

const { post } = require('../thread/message-channels.cjs');
const { consoleFor } = require('../jsdom/virtual-console.cjs');
const { reportException } = require('../jsdom/exceptions.cjs');
const { WebSocketConnections } = require('../jsdom/web-sockets.cjs');
const { hostFor } = require('../apis/window-host.cjs');
const { importScript } = require('./worker-scripts.cjs');

/** Each interface after the one that it inherits from. */
const NAMES = [
  'DOMException',
  'QuotaExceededError',
  'EventTarget',
  'Event',
  'CloseEvent',
  'CustomEvent',
  'ErrorEvent',
  'MessageEvent',
  'ProgressEvent',
  'PromiseRejectionEvent',
  'AbortSignal',
  'AbortController',
  'Blob',
  'File',
  'FileList',
  'FileReader',
  'FormData',
  'Headers',
  'TextDecoder',
  'TextEncoder',
  'Crypto',
  'DOMRectReadOnly',
  'DOMRect',
  'WebSocket',
];

/** @type {Jsdom.Interface[]} */
const INTERFACES = [URL, URLSearchParams, ...NAMES.map((name) => require(`jsdom/lib/generated/idl/${name}.js`))];

/** The longest delay of a timer of Node's, in milliseconds. */
const MAX_DELAY = 0x7fffffff;

/** `Window` is among them because jsdom exposes PromiseRejectionEvent to windows only. */
const GLOBAL_NAMES = ['Worker', 'DedicatedWorker', 'Window'];

/** @typedef {import('../../window/contracts.js').CloneRecord} CloneRecord */
/** @typedef {import('node:worker_threads').MessagePort} MessagePort */

/**
 * @param {import('../thread-messages.js').WorkerDocument} document
 * @param {MessagePort} pipe to the worker's object in the thread that started it
 */
function openScope(document, pipe) {
  const { name, type } = document.worker;
  const { url } = document;
  const { origin, userAgent } = thread;
  const worker = thread.windows.create(document);
  const { window: global, isIsolated } = worker;
  for (const Interface of INTERFACES) Interface.install(global, GLOBAL_NAMES);
  Object.setPrototypeOf(global.DOMException.prototype, global.Error.prototype);
  Object.setPrototypeOf(global.EventTarget.prototype, global.Object.prototype);
  EventTarget.setup(global, global);

  let isClosing = false;
  const unlessClosing = (/** @type {() => void} */ task) => () => {
    if (!isClosing) task();
  };
  const log = consoleFor(worker);
  const virtualConsole = {
    // An exception that the worker does not handle goes to the window that started it.
    emit: (/** @type {string} */ method, /** @type {unknown[]} */ ...values) =>
      method === 'exception' ? pipe.postMessage({ error: values[0] }) : log.emit(method, ...values),
  };
  const properties = {
    _globalObject: global,
    _globalProxy: global,
    _origin: origin,
    _settings: { virtualConsole, userAgent, dispatcher: new WebSocketConnections(worker) },
    // As much of a document as jsdom's files and events and our own modules use.
    _document: {
      URL: url,
      _URL: parseURL(url),
      _isDestroyed: false,
      _globalObject: global,
      baseURLSerialized: () => url,
      _queueATask: (/** @type {() => void} */ task) => setImmediate(unlessClosing(task)),
    },
  };
  for (const [key, value] of Object.entries(properties)) Object.defineProperty(global, key, { value, writable: true });

  const crypto = Crypto.create(global);
  /** @type {import('../../window/contracts.js').WorkerHost} */
  const host = {
    ...hostFor(worker),
    importScript: (address) => importScript(worker, address),
    runImported: (script) => thread.loader.run(worker, script),
    runText: (text) => worker.runScript(text, url, { base: url }),
    setTimer(task, delay, repeats) {
      const start = repeats ? setInterval : setTimeout;
      return Number(start(unlessClosing(task), Math.min(Math.max(delay, 0) || 0, MAX_DELAY)));
    },
    clearTimer: (id) => clearTimeout(id),
    atob: (text) => attempt(() => atob(text)),
    btoa: (text) => attempt(() => btoa(text)),
    log: (method, values) => log.emit(method, ...values),
    reportException: (error) => reportException(global, error),
    postToOwner: (record) => post(pipe, record),
    close() {
      isClosing = true;
      pipe.removeAllListeners('message');
      thread.close();
    },
  };
  worker.enter(host);
  worker.code.install({
    ...worker.describe(),
    scope: { url, origin, name, type, userAgent, crypto, isIsolated },
    queueTask: properties._document._queueATask,
    reportException: host.reportException,
  });

  return {
    worker,
    start() {
      if (isClosing) return;
      pipe.on('message', ({ record }) => thread.enter(unlessClosing(() => worker.code.receive(record))));
    },
  };
}

/**
 * @template Result
 * @param {() => Result} convert
 * @returns {Result | undefined} undefined when it throws
 */
function attempt(convert) {
  try {
    return convert();
  } catch {
    return undefined;
  }
}

module.exports = { openScope };
