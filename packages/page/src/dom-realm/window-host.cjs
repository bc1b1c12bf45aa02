'use strict';

// What our code in a window's realm (window-realm/) gets from the DOM realm: the module `selfprof:host`.

const bridge = require('selfprof:main-realm');
const Event = require('jsdom/lib/generated/idl/Event.js');
const MessageEvent = require('jsdom/lib/generated/idl/MessageEvent.js');
const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const { createAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');

const { replaceToString } = require('../any-realm/function-texts.cjs');
const { installAnimationFrames } = require('./animation-frames.cjs');
const { recordLoading } = require('./document-loading.cjs');
const { eventCounts, interactionCount } = require('./event-counts.cjs');
const { reportException } = require('./exceptions.cjs');
const { inspect } = require('./inspect.cjs');
const { makeChannel, post, received } = require('./message-channels.cjs');
const { platformObjectsOf } = require('./platform-objects.cjs');
const { startWorker } = require('./started-workers.cjs');
const realms = require('./window-realms.cjs');

/** @typedef {import('../any-realm/realm-contracts.js').Channel} Channel */
/** @typedef {import('../any-realm/realm-contracts.js').WindowHost} WindowHost */
/** @typedef {import('./window-realms.cjs').WindowRealm} WindowRealm */

/** Types of nodes. https://dom.spec.whatwg.org/#interface-node */
const ELEMENT_NODE = 1;
const DOCUMENT_NODE = 9;

/** The channels of all message ports of this thread: a port may move from one window to another. */
const pipes = {
  /** @type {WeakMap<object, Channel>} */
  byPort: new WeakMap(),
  get: (/** @type {object} */ port) => pipes.byPort.get(port),
  set: (/** @type {object} */ port, /** @type {Channel} */ channel) => void pipes.byPort.set(port, channel),
  take(/** @type {object} */ port) {
    const channel = pipes.byPort.get(port);
    pipes.byPort.delete(port);
    if (channel !== undefined) channel.pipe.onmessage = null;
    return channel;
  },
};

const { apply } = Reflect;
const { get, set } = WeakMap.prototype;
/** The functions of all windows of this thread whose texts are not their code. @type {WeakMap<object, string>} */
const texts = new WeakMap();
const functionTexts = {
  get: (/** @type {unknown} */ value) => apply(get, texts, [value]),
  set: (/** @type {object} */ part, /** @type {string} */ text) => void apply(set, texts, [part, text]),
};
// jsdom's functions inherit from this realm's.
replaceToString(Function.prototype, functionTexts);

/** @param {WindowRealm} realm whose window exists and whose code will be loaded next @returns {WindowHost} */
function hostFor(realm) {
  const { window } = realm;
  let now = () => 0;
  realm.now = () => now();
  return {
    inspect,
    platform: platformObjectsOf(window),
    // These two stand in for Node's globals.
    process: { emitWarning: (text) => window._settings.virtualConsole.emit('warn', `${text}`) },
    setImmediate(callback) {
      bridge.setImmediate(() => callback());
      return { unref() {} };
    },
    now: () => now(),
    setNow(clock) {
      now = clock;
    },
    document: () => JSON.parse(bridge.describeWindow(window)),
    shareMembers(find) {
      realm.findMember = find;
    },
    memberOf(value, Interface, member, kind) {
      for (const other of realms.all()) {
        const found = other === realm ? undefined : other.findMember?.(value, Interface, member, kind);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    eventCounts: () => eventCounts(window),
    interactionCount: () => interactionCount(window),
    isElement: (value) => idlUtils.implForWrapper(value)?.nodeType === ELEMENT_NODE,
    isDocument: (value) => idlUtils.implForWrapper(value)?.nodeType === DOCUMENT_NODE,
    hasListeners(target, type) {
      const listeners = idlUtils.implForWrapper(target)?._eventListeners?.[type];
      return listeners !== undefined && listeners.length > 0;
    },
    apply: bridge.apply,
    fireEvent(target, type) {
      idlUtils.implForWrapper(target)._dispatch(createAnEvent(type, window, Event));
    },
    fireMessage(target, type, init) {
      idlUtils.implForWrapper(target)._dispatch(createAnEvent(type, window, MessageEvent, { ...init }));
    },
    decode: (bytes) => bridge.decode('utf-8', false, false, bytes) ?? '',
    encode(text) {
      const bytes = new window.Uint8Array(bridge.utf8Length(text));
      bridge.encodeInto(text, bytes);
      return bytes;
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
    createObjectUrl: (bytes, type) => bridge.createObjectUrl(bytes, type),
    revokeObjectUrl: (url) => bridge.revokeObjectUrl(url),
    request(request, bytes, onResponse, onError) {
      const id = bridge.fetch(JSON.stringify({ ...request, window: realm.id }), bytes, (answer, body) => {
        const { error } = JSON.parse(answer);
        if (error === undefined) onResponse(answer, body);
        else onError();
      });
      return () => bridge.abortFetch(id);
    },
    startWorker: (request, worker, onMessage) => startWorker(window, JSON.stringify(request), worker, onMessage),
    newPipes: (onPipes) => bridge.newPipes((one, other) => onPipes(...makeChannel(one, other))),
    writePipe: (channel, record) => post(channel, record),
    readPipe(channel, onRecord) {
      channel.pipe.onmessage = ({ data }) => {
        received(channel, data);
        bridge.enter(() => {
          if (!window._document._isDestroyed) onRecord(data.record);
        });
      };
      channel.pipe.start?.();
    },
    closePipe({ pipe }) {
      pipe.onmessage = null;
      pipe.close();
    },
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

/** Defines what jsdom lacks in a window. @param {WindowRealm} realm */
function install(realm) {
  const { window, code, now = () => 0 } = realm;
  const description = JSON.parse(bridge.describeWindow(window));
  realm.isIsolated = description.isIsolated;
  const loading = recordLoading(realm, description);
  installAnimationFrames(realm, now);
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
