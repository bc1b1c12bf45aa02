'use strict';

// The global object of a worker: jsdom's interfaces that workers have, and what stands for a document where jsdom asks for one.

const gate = require('selfprof:gate');
const { parseURL } = require('whatwg-url');
const { URL, URLSearchParams } = require('whatwg-url/webidl2js-wrapper.js');

const DOMException = require('jsdom/lib/generated/idl/DOMException.js');
const QuotaExceededError = require('jsdom/lib/generated/idl/QuotaExceededError.js');
const EventTarget = require('jsdom/lib/generated/idl/EventTarget.js');
const Event = require('jsdom/lib/generated/idl/Event.js');
const CloseEvent = require('jsdom/lib/generated/idl/CloseEvent.js');
const CustomEvent = require('jsdom/lib/generated/idl/CustomEvent.js');
const ErrorEvent = require('jsdom/lib/generated/idl/ErrorEvent.js');
const MessageEvent = require('jsdom/lib/generated/idl/MessageEvent.js');
const ProgressEvent = require('jsdom/lib/generated/idl/ProgressEvent.js');
const PromiseRejectionEvent = require('jsdom/lib/generated/idl/PromiseRejectionEvent.js');
const AbortSignal = require('jsdom/lib/generated/idl/AbortSignal.js');
const AbortController = require('jsdom/lib/generated/idl/AbortController.js');
const Blob = require('jsdom/lib/generated/idl/Blob.js');
const File = require('jsdom/lib/generated/idl/File.js');
const FileList = require('jsdom/lib/generated/idl/FileList.js');
const FileReader = require('jsdom/lib/generated/idl/FileReader.js');
const FormData = require('jsdom/lib/generated/idl/FormData.js');
const Headers = require('jsdom/lib/generated/idl/Headers.js');
const TextDecoder = require('jsdom/lib/generated/idl/TextDecoder.js');
const TextEncoder = require('jsdom/lib/generated/idl/TextEncoder.js');
const Crypto = require('jsdom/lib/generated/idl/Crypto.js');
const DOMRectReadOnly = require('jsdom/lib/generated/idl/DOMRectReadOnly.js');
const DOMRect = require('jsdom/lib/generated/idl/DOMRect.js');

const vm = require('../node/vm.cjs');
const { newCounter, post, received } = require('../channels.cjs');
const { consoleFor } = require('../console.cjs');
const { reportException } = require('../exceptions.cjs');
const { pipesIn } = require('../outbox.cjs');
const realms = require('../realms.cjs');
const { hostFor } = require('../window-host.cjs');

/** Each after what it inherits from. */
const INTERFACES = [
  DOMException, QuotaExceededError, URL, URLSearchParams, EventTarget, Event, CloseEvent, CustomEvent, ErrorEvent, MessageEvent,
  ProgressEvent, PromiseRejectionEvent, AbortSignal, AbortController, Blob, File, FileList, FileReader, FormData, Headers,
  TextDecoder, TextEncoder, Crypto, DOMRectReadOnly, DOMRect,
];

/** jsdom's own list of who has PromiseRejectionEvent lacks workers. */
const GLOBAL_NAMES = ['Worker', 'DedicatedWorker', 'Window'];

/**
 * @param {object} description of the worker
 * @param {object} pipe to its object in the thread that made it
 */
function openScope({ document, url, origin, name, type, isIsolated, userAgent }, pipe) {
  const realm = { window: undefined, id: 0, code: undefined };
  vm.nextWindow(document, realm.id);
  const global = vm.createContext();
  realm.window = global;
  for (const Interface of INTERFACES) Interface.install(global, GLOBAL_NAMES);
  Object.setPrototypeOf(global.DOMException.prototype, global.Error.prototype);
  Object.setPrototypeOf(global.EventTarget.prototype, global.Object.prototype);
  EventTarget.setup(global, global);

  let isClosing = false;
  // Whoever is first to say something says first where the other may see what waits.
  const channel = { pipe, out: newCounter(), into: undefined };
  pipe.postMessage({ counter: channel.out });
  const log = consoleFor(realm);
  const virtualConsole = {
    // What it does not take care of, whoever made it may.
    emit: (method, ...values) => (method === 'exception' ? pipe.postMessage({ error: values[0] }) : log.emit(method, ...values)),
  };
  const properties = {
    _globalObject: global,
    _globalProxy: global,
    _origin: origin,
    _settings: { virtualConsole, userAgent },
    // As much of one as jsdom's files and events and our own modules ask for.
    _document: {
      URL: url,
      _URL: parseURL(url),
      _isDestroyed: false,
      _globalObject: global,
      baseURLSerialized: () => url,
      _queueATask: (task) => gate.setImmediate(() => isClosing || task()),
    },
  };
  for (const [key, value] of Object.entries(properties)) Object.defineProperty(global, key, { value, writable: true });
  realms.add(realm);

  const crypto = Crypto.create(global);
  const host = {
    ...hostFor(realm),
    importScript: (address) => JSON.parse(gate.importScript(address)),
    runImported: (handle) => gate.runFetchedScript(global, handle),
    runText: (text) => gate.runScript(global, text, url, 0, 0, url),
    setTimer: (task, delay, repeats) => gate.setTimer(() => isClosing || task(), delay, repeats),
    clearTimer: (id) => gate.clearTimer(id),
    atob: (text) => gate.atob(text),
    btoa: (text) => gate.btoa(text),
    log: (method, values) => log.emit(method, ...values),
    reportException: (error) => reportException(global, error),
    postToOwner: (record) => post(channel, record, pipesIn(record)),
    close() {
      isClosing = true;
      pipe.onmessage = null;
      gate.closeWorker();
    },
  };
  realm.code = gate.enterWindow(global, host);
  const settings = JSON.parse(gate.describeWindow(global));
  realm.code.install({
    ...settings,
    scope: { url, origin, name, type, userAgent, crypto, isIsolated },
    queueTask: properties._document._queueATask,
    reportException: (error) => reportException(global, error),
  });

  return {
    global,
    start() {
      if (isClosing) return;
      pipe.onmessage = ({ data }) => {
        if (data.counter !== undefined) {
          channel.into = data.counter;
          return;
        }
        received(channel, data);
        gate.enter(() => isClosing || realm.code.receive(data.record));
      };
      pipe.start?.();
    },
  };
}

module.exports = { openScope };
