'use strict';

// A window of another origin, which lives in another thread: what HTML lets a page see of it, and no more.
// https://html.spec.whatwg.org/multipage/nav-history-apis.html#cross-origin-objects

const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const DOMException = require('jsdom/lib/generated/idl/DOMException.js');

const messages = require('./messages.cjs');
const { tell } = require('./outbox.cjs');
const realms = require('./realms.cjs');

/** By window and address: a window is the same object each time it is asked for. */
const known = new WeakMap();

/**
 * @param {object} window who looks at it
 * @param {{ site: number, frame: number, origin: string }} address
 * @param {{ parent?: object, top?: object, navigate?: (url: string) => void }} [place]
 */
function remoteWindow(window, address, place = {}) {
  let remotes = known.get(window);
  if (remotes === undefined) known.set(window, (remotes = new Map()));
  const key = `${address.site}.${address.frame}`;
  let remote = remotes.get(key);
  if (remote === undefined) {
    remote = make(window, address, place);
    remotes.set(key, remote);
  }
  return remote;
}

/** What the user's thread knows a remote window by; undefined for anything else. */
function addressOf(window, value) {
  for (const [key, remote] of known.get(window) ?? []) {
    if (remote !== value) continue;
    const [site, frame] = key.split('.').map(Number);
    return { site, frame };
  }
  return undefined;
}

function make(window, address, { parent, top, navigate = () => {} }) {
  const refuse = () => {
    throw DOMException.create(window, [
      `Blocked a frame with origin "${window._origin}" from accessing a cross-origin frame.`,
      'SecurityError',
    ]);
  };
  const location = new Proxy(
    {},
    onlyThese(refuse, { replace: (url) => navigate(`${url}`) }, (key, value) => key === 'href' && (navigate(`${value}`), true)),
  );
  const members = {
    postMessage(message, options, transfer) {
      const realm = realms.realmOf(window);
      messages.post(realm, arguments, (record, targetOrigin) =>
        tell({ type: 'post', from: realm.id, to: { site: address.site, frame: address.frame }, record, targetOrigin }),
      );
    },
    close() {},
    focus() {},
    blur() {},
    closed: false,
    length: 0,
    opener: null,
    get self() {
      return remote;
    },
    get window() {
      return remote;
    },
    get frames() {
      return remote;
    },
    get parent() {
      return parent ?? remote;
    },
    get top() {
      return top ?? parent ?? remote;
    },
    get location() {
      return location;
    },
  };
  const remote = new Proxy(
    {},
    onlyThese(refuse, members, (key, value) => key === 'location' && (navigate(`${value}`), true)),
  );
  return remote;
}

/** What is undefined rather than forbidden: for the language, and where jsdom looks for its own objects. */
const QUIET = new Set([
  'then',
  Symbol.toStringTag,
  Symbol.hasInstance,
  Symbol.isConcatSpreadable,
  idlUtils.implSymbol,
  idlUtils.wrapperSymbol,
]);

/** The traps of a cross-origin object. */
function onlyThese(refuse, members, set) {
  const isQuiet = (key) => QUIET.has(key);
  const get = (target, key) => {
    if (Object.hasOwn(members, key)) return members[key];
    return isQuiet(key) ? undefined : refuse();
  };
  return {
    get,
    set: (target, key, value) => set(key, value) || refuse(),
    has: (target, key) => Object.hasOwn(members, key) || isQuiet(key) ? Object.hasOwn(members, key) : refuse(),
    getOwnPropertyDescriptor(target, key) {
      if (!Object.hasOwn(members, key) && !isQuiet(key)) return refuse();
      return Object.hasOwn(members, key) ? { value: members[key], writable: false, enumerable: false, configurable: true } : undefined;
    },
    ownKeys: () => Object.keys(members),
    getPrototypeOf: () => null,
    setPrototypeOf: (target, prototype) => prototype === null,
    isExtensible: () => true,
    preventExtensions: () => false,
    defineProperty: refuse,
    deleteProperty: refuse,
  };
}

/** Gives the outermost window of this thread the parent and the top that are in other threads. */
function embed(window, { parent, top }) {
  const topWindow = remoteWindow(window, top);
  const isTop = parent.site === top.site && parent.frame === top.frame;
  window._top = topWindow;
  window._parent = isTop ? topWindow : remoteWindow(window, parent, { parent: topWindow, top: topWindow });
}

module.exports = { addressOf, embed, remoteWindow };
