'use strict';

// What our code in a window's realm (../window) gets from this thread: the module `selfprof:host`.

const { BroadcastChannel, MessageChannel } = require('node:worker_threads');

const { thread } = require('../thread/thread.cjs');
const Event = require('jsdom/lib/generated/idl/Event.js');
const MessageEvent = require('jsdom/lib/generated/idl/MessageEvent.js');
const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const matchesMedia = require('jsdom/lib/jsdom/living/css/match/media.js');
const { parseGrammar } = require('jsdom/lib/jsdom/living/css/parse/parser.js');
const { serializeComponentValues } = require('jsdom/lib/jsdom/living/css/serialize.js');
const { createAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');

const { installAnimationFrames } = require('./animation-frames.cjs');
const { recordLoading } = require('./document-loading.cjs');
const { eventCounts, interactionCount } = require('../jsdom/event-counts.cjs');
const { reportException } = require('../jsdom/exceptions.cjs');
const { inspect } = require('../thread/inspect.cjs');
const { post } = require('../thread/message-channels.cjs');
const nodeInterfaces = require('./node-interfaces.cjs');
const { platformObjectsOf } = require('./platform-objects.cjs');
const { startWorker } = require('./started-workers.cjs');

/** @typedef {import('node:worker_threads').MessagePort} MessagePort */
/** @typedef {import('../../window/contracts.js').WindowHost} WindowHost */
/** @typedef {import('../windows/page-window.cjs').PageWindow} PageWindow */

/** Types of nodes. https://dom.spec.whatwg.org/#interface-node */
const ELEMENT_NODE = 1;
const DOCUMENT_NODE = 9;

/** Node's ports behind all message ports of this thread: a port may move from one window to another. */
const pipes = {
  /** @type {WeakMap<object, MessagePort>} */
  byPort: new WeakMap(),
  get: (/** @type {object} */ port) => pipes.byPort.get(port),
  set: (/** @type {object} */ port, /** @type {MessagePort} */ pipe) => void pipes.byPort.set(port, pipe),
  take(/** @type {object} */ port) {
    const pipe = pipes.byPort.get(port);
    pipes.byPort.delete(port);
    pipe?.removeAllListeners('message');
    return pipe;
  },
};

/**
 * Our interfaces in all windows of this thread, by prototype.
 *
 * @type {WeakMap<object, { name: string, members: Map<PropertyKey, PropertyDescriptor> }>}
 */
const interfaces = new WeakMap();

/** The text of a function that shows only its name. */
const NATIVE = '';
/** The functions of all windows of this thread whose texts are not their code. @type {WeakMap<object, string>} */
const texts = new WeakMap();
const functionTexts = {
  /** @param {unknown} value */
  get(value) {
    const text = texts.get(/** @type {object} */ (value));
    if (text !== NATIVE) return text;
    const name = Object.getOwnPropertyDescriptor(value, 'name')?.value;
    return `function ${typeof name === 'string' ? name : ''}() { [native code] }`;
  },
  set: (/** @type {object} */ part, /** @type {string} */ text) => void texts.set(part, text),
};
// jsdom's functions inherit from this realm's prototype.
const { toString } = Function.prototype;
/** @this {Function} */
Function.prototype.toString = function () {
  return functionTexts.get(this) ?? toString.call(this);
};
functionTexts.set(Function.prototype.toString, NATIVE);

/** @param {PageWindow} pageWindow whose window exists and whose code will be loaded next @returns {WindowHost} */
function hostFor(pageWindow) {
  const { window, channels } = pageWindow;
  return {
    inspect,
    platform: platformObjectsOf(window),
    // These two stand in for Node's globals.
    process: { emitWarning: (text) => window._settings.virtualConsole.emit('warn', `${text}`) },
    setImmediate(callback) {
      setImmediate(() => callback());
      return { unref() {} };
    },
    now: () => pageWindow.now(),
    setNow(clock) {
      pageWindow.now = clock;
    },
    document: () => pageWindow.describe(),
    shareMembers: (prototype, name, members) => void interfaces.set(prototype, { name, members: new Map(members) }),
    memberOf(value, Interface, member, kind) {
      let prototype = Object(value) === value ? Object.getPrototypeOf(value) : null;
      while (interfaces.has(prototype) && interfaces.get(prototype)?.name !== Interface)
        prototype = Object.getPrototypeOf(prototype);
      return interfaces.get(prototype)?.members.get(member)?.[kind];
    },
    eventCounts: () => eventCounts(window),
    interactionCount: () => interactionCount(window),
    isElement: (value) => idlUtils.implForWrapper(value)?.nodeType === ELEMENT_NODE,
    isDocument: (value) => idlUtils.implForWrapper(value)?.nodeType === DOCUMENT_NODE,
    hasListeners(target, type) {
      const listeners = idlUtils.implForWrapper(target)?._eventListeners?.[type];
      return listeners !== undefined && listeners.length > 0;
    },
    apply: Reflect.apply,
    fireEvent(target, type) {
      idlUtils.implForWrapper(target)._dispatch(createAnEvent(type, window, Event));
    },
    fireMessage(target, type, init) {
      idlUtils.implForWrapper(target)._dispatch(createAnEvent(type, window, MessageEvent, { ...init }));
    },
    decode: (bytes) => new TextDecoder().decode(bytes),
    encode(text) {
      const bytes = new window.Uint8Array(Buffer.byteLength(text));
      new TextEncoder().encodeInto(text, bytes);
      return bytes;
    },
    parseMediaQuery(text) {
      const list = parseGrammar(text, '<media-query-list>', window);
      return { text: serializeComponentValues(list), matches: () => matchesMedia(list, window) === true };
    },
    baseUrl: () => window._document.baseURLSerialized(),
    referrer: () => window._document.URL,
    newHeaders(init, guard) {
      const headers = new window.Headers();
      idlUtils.implForWrapper(headers).guard = guard === 'immutable' ? 'none' : guard;
      if (init !== undefined && init !== null) fill(headers, init);
      idlUtils.implForWrapper(headers).guard = guard;
      return headers;
    },
    createObjectUrl: (bytes, type) => thread.blobs.add(bytes, type),
    revokeObjectUrl: (url) => thread.blobs.remove(url),
    request: (request, bytes, onResponse, onError) =>
      thread.loader.fetch({ ...request, window: pageWindow }, bytes, (response) => {
        if (response === undefined) {
          onError();
          return;
        }
        const { body, ...answer } = response;
        // The window parses it, into objects of its own realm.
        onResponse(JSON.stringify(answer), body);
      }),
    startWorker: (request, worker, onMessage) => startWorker(pageWindow, request, worker, onMessage),
    newPipes: (onPipes) => {
      const { port1, port2 } = new MessageChannel();
      onPipes(port1, port2);
    },
    writePipe: post,
    readPipe(pipe, onRecord) {
      pipe.on('message', ({ record }) => {
        thread.enter(() => {
          if (!window._document._isDestroyed) onRecord(record);
        });
      });
    },
    closePipe: (pipe) => pipe.close(),
    openChannel(name, onRecord) {
      const channel = new BroadcastChannel(`${thread.channelPrefix} ${name}`);
      channel.onmessage = (/** @type {any} */ { data }) => {
        thread.enter(() => onRecord(data, window._origin));
      };
      channels.add(channel);
      return {
        post: (record) => channel.postMessage(record),
        close() {
          channels.delete(channel);
          channel.close();
        },
      };
    },
    streams: nodeInterfaces.streams,
    CryptoKey: nodeInterfaces.CryptoKey,
    encrypt: nodeInterfaces.encrypt,
    pipes,
    functionTexts,
  };
}

/**
 * Fills headers as the constructor of Headers does.
 *
 * @param {Headers} headers
 * @param {any} init of the page
 */
function fill(headers, init) {
  if (typeof init[Symbol.iterator] === 'function') for (const [name, value] of init) headers.append(name, value);
  else for (const name of Object.keys(init)) headers.append(name, init[name]);
}

/** Defines what jsdom lacks in a window. @param {PageWindow} pageWindow */
function install(pageWindow) {
  const { window, code } = pageWindow;
  const description = pageWindow.describe();
  const loading = recordLoading(pageWindow, description);
  installAnimationFrames(pageWindow);
  code.install({
    ...description,
    timing: loading.timing,
    navigation: loading.navigation,
    loading: {
      name: () => loading.name,
      fetched: () => loading.fetched,
      onLoaded(/** @type {() => void} */ listener) {
        loading.onLoaded = listener;
      },
    },
    isTopLevel: window._top === window._globalProxy,
    queueTask: (/** @type {() => void} */ task) => window._document._queueATask(() => task()),
    reportException: (/** @type {unknown} */ error) => reportException(window, error),
  });
}

module.exports = { hostFor, install };
