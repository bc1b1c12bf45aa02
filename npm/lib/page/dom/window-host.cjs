'use strict';

// What our code in a window's realm (window/*.cjs) has of the DOM realm, and what it is told of its window.

const gate = require('selfprof:gate');
const Event = require('jsdom/lib/generated/idl/Event.js');
const MessageEvent = require('jsdom/lib/generated/idl/MessageEvent.js');
const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const { createAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');

const { reportException } = require('./exceptions.cjs');
const { inspect } = require('./inspect.cjs');
const { makeChannel, post, received } = require('./channels.cjs');
const { pipesIn } = require('./outbox.cjs');
const { platformOf } = require('./platform.cjs');
const realms = require('./realms.cjs');
const { startWorker } = require('./workers.cjs');

/** Times of a document's loading that its events tell. https://www.w3.org/TR/navigation-timing/ */
const MILESTONES = {
  readystatechange: { interactive: 'domInteractive', complete: 'domComplete' },
  DOMContentLoaded: ['domContentLoadedEventStart', 'domContentLoadedEventEnd'],
  load: ['loadEventStart', 'loadEventEnd'],
};

/** Those that the fetch of a document tells. */
const FETCHED = [
  'redirectStart', 'redirectEnd', 'fetchStart', 'domainLookupStart', 'domainLookupEnd', 'connectStart', 'connectEnd',
  'secureConnectionStart', 'requestStart', 'responseStart', 'responseEnd',
];

/** Types of nodes. https://dom.spec.whatwg.org/#interface-node */
const ELEMENT = 1;
const DOCUMENT = 9;

/** Node's ports behind those of windows. */
const pipes = {
  byPort: new WeakMap(),
  get: (port) => pipes.byPort.get(port),
  set: (port, pipe) => void pipes.byPort.set(port, pipe),
  /** Takes it from a port, which is of no more use then. */
  take(port) {
    const pipe = pipes.byPort.get(port);
    pipes.byPort.delete(port);
    if (pipe !== undefined) pipe.pipe.onmessage = null;
    return pipe;
  },
};

/** @param {import('./realms.cjs').WindowRealm} realm whose window is there and whose code is about to be */
function hostFor(realm) {
  const { window } = realm;
  let now = () => 0;
  return {
    inspect,
    platform: platformOf(window),
    // Of Node's globals, our modules know these.
    process: { emitWarning: (text) => window._settings.virtualConsole.emit('warn', `${text}`) },
    setImmediate(callback) {
      gate.setImmediate(() => callback());
      return { unref() {} };
    },
    now: () => now(),
    setNow(clock) {
      now = clock;
    },
    document: () => JSON.parse(gate.describeWindow(window)),
    isElement: (value) => idlUtils.implForWrapper(value)?.nodeType === ELEMENT,
    isDocument: (value) => idlUtils.implForWrapper(value)?.nodeType === DOCUMENT,
    hasListeners(target, type) {
      const listeners = idlUtils.implForWrapper(target)?._eventListeners?.[type];
      return listeners !== undefined && listeners.length > 0;
    },
    fireEvent(target, type) {
      const event = createAnEvent(type, window, Event);
      idlUtils.implForWrapper(target)._dispatch(event);
    },
    /** Fires a message, or what could not be made one. */
    fireMessage(target, type, init) {
      idlUtils.implForWrapper(target)._dispatch(createAnEvent(type, window, MessageEvent, { ...init }));
    },
    decode: (bytes) => gate.decode('utf-8', false, false, bytes),
    encode(text) {
      const bytes = new window.Uint8Array(gate.utf8Length(text));
      gate.encodeInto(text, bytes);
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
    createObjectUrl: (bytes, type) => gate.createObjectUrl(bytes, type),
    revokeObjectUrl: (url) => gate.revokeObjectUrl(url),
    /** Sends a request; gives what aborts it. */
    request(wish, bytes, onResponse, onError) {
      const id = gate.fetch(JSON.stringify({ ...wish, window: realm.id }), bytes, (answer, body) => {
        const { error } = JSON.parse(answer);
        if (error === undefined) onResponse(answer, body);
        else onError(error);
      });
      return () => gate.abortFetch(id);
    },
    startWorker: (wish, worker, onMessage) => startWorker(window, JSON.stringify(wish), worker, onMessage),
    newPipes: (onPipes) => gate.newPipes((one, other) => onPipes(...makeChannel(one, other))),
    /** Returns whether there was room for it. */
    writePipe: (channel, record) => post(channel, record, pipesIn(record)),
    readPipe(channel, onRecord) {
      channel.pipe.onmessage = ({ data }) => {
        received(channel, data);
        gate.enter(() => window._document._isDestroyed || onRecord(data.record));
      };
      channel.pipe.start?.();
    },
    closePipe({ pipe }) {
      pipe.onmessage = null;
      pipe.close();
    },
    pipes,
  };
}

/** Fills headers as the constructor of Headers does. */
function fill(headers, init) {
  if (typeof init[Symbol.iterator] === 'function') for (const [name, value] of init) headers.append(name, value);
  else for (const name of Object.keys(init)) headers.append(name, init[name]);
}

/** Gives a window what jsdom lacks. */
function install(realm) {
  const { window, code } = realm;
  const description = JSON.parse(gate.describeWindow(window));
  // Read by `performance.timing` each time.
  const timing = code.emptyObject();
  const navigation = code.emptyObject();
  realm.loading = { timing, navigation, name: '', fetched: undefined, timeOrigin: description.timeOrigin, onLoaded() {} };
  beginLoading(realm, description.loading);
  watchLoading(realm);
  code.install({
    ...description,
    timing,
    navigation,
    loading: {
      name: () => realm.loading.name,
      fetched: () => realm.loading.fetched,
      onLoaded(listener) {
        realm.loading.onLoaded = listener;
      },
    },
    isTopLevel: window._top === window._globalProxy,
    queueTask: (task) => window._document._queueATask(() => task()),
    reportException: (error) => reportException(window, error),
  });
}

/** Notes how the document of a window was fetched; nothing of it is loaded yet. */
function beginLoading({ window, loading }, fetched) {
  const { timing, navigation, timeOrigin } = loading;
  loading.fetched = fetched;
  // As it was navigated to: fragments come and go.
  loading.name = window._document.URL;
  for (const name of Object.keys(timing)) delete timing[name];
  Object.assign(timing, { navigationStart: timeOrigin, fetchStart: timeOrigin });
  for (const name of FETCHED) if (fetched?.[name] > 0) timing[name] = timeOrigin + fetched[name];
  timing.domLoading = gate.now() + gate.timeOrigin;
  navigation.redirectCount = fetched?.redirectCount ?? 0;
}

/** A window goes on with another document: the first that is loaded into a frame takes the place of the empty one. */
function loadAnew(window) {
  const realm = realms.realmOf(window);
  if (realm !== undefined) beginLoading(realm, JSON.parse(gate.describeWindow(window)).loading);
}

function watchLoading({ window, loading }) {
  const { timing } = loading;
  const now = () => gate.now() + gate.timeOrigin;
  const document = idlUtils.wrapperForImpl(window._document);
  document.addEventListener('readystatechange', () => {
    const milestone = MILESTONES.readystatechange[document.readyState];
    if (milestone !== undefined) timing[milestone] ??= now();
  });
  for (const type of ['DOMContentLoaded', 'load']) {
    const [start, end] = MILESTONES[type];
    window._globalProxy.addEventListener(
      type,
      () => {
        if (timing[start] !== undefined) return;
        timing[start] = now();
        gate.setImmediate(() => {
          timing[end] = now();
          if (type === 'load') loading.onLoaded();
        });
      },
      { capture: true },
    );
  }
}

module.exports = { hostFor, install, loadAnew };
