'use strict';

// A window of another origin, which lives in another thread: what HTML lets a page see of it, and nothing else.
// https://html.spec.whatwg.org/multipage/nav-history-apis.html#cross-origin-objects

const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const DOMException = require('jsdom/lib/generated/idl/DOMException.js');

const messages = require('./window-messages.cjs');
const { transfersOf } = require('../thread/message-channels.cjs');
const { thread } = require('../thread/thread.cjs');

/** @typedef {import('../../window/contracts.js').CloneRecord} CloneRecord */

/** @typedef {Pick<import('../thread-messages.js').WindowAddress, 'thread' | 'frame'>} WindowAddress */

/**
 * A remote window's position among the windows of this thread.
 *
 * @typedef {{ parent?: object, top?: object, navigate?: (url: string) => void }} WindowPosition
 */

/**
 * By window and address: the same remote window is the same object each time.
 *
 * @type {WeakMap<object, Map<string, object>>}
 */
const known = new WeakMap();

/** Of each remote window. @type {WeakMap<object, { window: Jsdom.Window, address: WindowAddress }>} */
const places = new WeakMap();

/** @param {Jsdom.Window} window */
function remotesOf(window) {
  const remotes = known.get(window) ?? new Map();
  known.set(window, remotes);
  return remotes;
}

/**
 * @param {Jsdom.Window} window whose scripts get the proxy
 * @param {WindowAddress} address
 * @param {WindowPosition} [position]
 * @returns {object} the proxy that scripts of `window` get
 */
function remoteWindow(window, address, position = {}) {
  const remote = remotesOf(window).get(keyOf(address)) ?? makeProxy(window, { ...address }, position);
  remotesOf(window).set(keyOf(address), remote);
  return remote;
}

/**
 * The remote window of a frame, whose thread does not exist yet. Messages to it are lost until then, as those to an
 * empty document.
 *
 * @param {Jsdom.Window} window whose scripts get the proxy
 * @param {WindowPosition} position
 */
function frameWindow(window, position) {
  return makeProxy(window, { thread: -1, frame: 0 }, position);
}

/**
 * The frame of a remote window shows a window of another thread.
 *
 * @param {object} remote
 * @param {WindowAddress} address
 */
function setAddress(remote, address) {
  const place = /** @type {{ window: Jsdom.Window, address: WindowAddress }} */ (places.get(remote));
  const remotes = remotesOf(place.window);
  remotes.delete(keyOf(place.address));
  remotes.set(keyOf(address), remote);
  Object.assign(place.address, address);
}

/** @param {WindowAddress} address */
function keyOf({ thread, frame }) {
  return `${thread}.${frame}`;
}

/**
 * The address of a remote window; undefined for other values.
 *
 * @param {Jsdom.Window} window
 * @param {unknown} value
 * @returns {WindowAddress | undefined}
 */
function addressOf(window, value) {
  const place = places.get(/** @type {object} */ (value));
  return place?.window === window ? place.address : undefined;
}

/**
 * @param {Jsdom.Window} window
 * @param {WindowAddress} address
 * @param {WindowPosition} position
 */
function makeProxy(window, address, { parent, top, navigate = () => {} }) {
  const refuse = () => {
    throw DOMException.create(window, [
      `Blocked a frame with origin "${window._origin}" from accessing a cross-origin frame.`,
      'SecurityError',
    ]);
  };
  const location = new Proxy(
    {},
    crossOriginTraps(refuse, { replace: (/** @type {unknown} */ url) => navigate(`${url}`) }, (key, value) => {
      if (key !== 'href') return false;
      navigate(`${value}`);
      return true;
    }),
  );
  const members = {
    /** @this {unknown} @param {...unknown} parameters */
    postMessage(...parameters) {
      const pageWindow = thread.windows.find(window);
      if (pageWindow === undefined) return;
      messages.post(pageWindow, parameters, (record, targetOrigin) => {
        const to = { ...address };
        thread.tell({ type: 'post', from: pageWindow.frame, to, record, targetOrigin }, transfersOf(record));
      });
    },
    close() {},
    focus() {},
    blur() {},
    closed: false,
    length: 0,
    opener: null,
    location,
  };
  Object.defineProperty(members.postMessage, 'length', { value: 1, configurable: true });
  /** @type {object} */
  const remote = new Proxy(
    {},
    crossOriginTraps(refuse, members, (key, value) => {
      if (key !== 'location') return false;
      navigate(`${value}`);
      return true;
    }),
  );
  const own = { self: remote, window: remote, frames: remote };
  Object.assign(members, own, { parent: parent ?? remote, top: top ?? parent ?? remote });
  places.set(remote, { window, address });
  return remote;
}

/**
 * Properties that are undefined and not forbidden: the language reads them, and jsdom looks for its own objects there.
 */
const UNDEFINED_PROPERTIES = new Set([
  'then',
  Symbol.toStringTag,
  Symbol.hasInstance,
  Symbol.isConcatSpreadable,
  idlUtils.implSymbol,
  idlUtils.wrapperSymbol,
]);

/**
 * The traps of a cross-origin object.
 *
 * @param {() => never} refuse
 * @param {Record<PropertyKey, any>} members
 * @param {(key: PropertyKey, value: unknown) => boolean} set assigns a property, or returns that it is forbidden
 * @returns {ProxyHandler<object>}
 */
function crossOriginTraps(refuse, members, set) {
  const isUndefined = (/** @type {PropertyKey} */ key) => UNDEFINED_PROPERTIES.has(/** @type {any} */ (key));
  return {
    get: (_target, key) => {
      if (Object.hasOwn(members, key)) return members[key];
      return isUndefined(key) ? undefined : refuse();
    },
    set: (_target, key, value) => set(key, value) || refuse(),
    has: (_target, key) => {
      if (Object.hasOwn(members, key)) return true;
      return isUndefined(key) ? false : refuse();
    },
    getOwnPropertyDescriptor(_target, key) {
      if (Object.hasOwn(members, key))
        return { value: members[key], writable: false, enumerable: false, configurable: true };
      return isUndefined(key) ? undefined : refuse();
    },
    ownKeys: () => Object.keys(members),
    getPrototypeOf: () => null,
    setPrototypeOf: (_target, prototype) => prototype === null,
    isExtensible: () => true,
    preventExtensions: () => false,
    defineProperty: refuse,
    deleteProperty: refuse,
  };
}

/**
 * Gives the outermost window of this thread its parent and its top window, which are in other threads.
 *
 * @param {Jsdom.Window} window
 * @param {import('../thread-messages.js').Ancestors} ancestors
 */
function embed(window, { parent, top }) {
  const topWindow = remoteWindow(window, top);
  const isTop = parent.thread === top.thread && parent.frame === top.frame;
  window._top = topWindow;
  window._parent = isTop ? topWindow : remoteWindow(window, parent, { parent: topWindow, top: topWindow });
}

/**
 * Delivers a message from a window in another thread. The host says which window sent it.
 *
 * @param {{ frame: number, record: CloneRecord, source: import('../thread-messages.js').WindowAddress }} message
 */
function receiveMessage({ frame, record, source }) {
  const target = thread.windows.ofFrame(frame);
  if (target === undefined) return;
  messages.deliver(target, record, { origin: source.origin, source: remoteWindow(target.window, source) });
}

module.exports = { addressOf, embed, frameWindow, receiveMessage, setAddress };
