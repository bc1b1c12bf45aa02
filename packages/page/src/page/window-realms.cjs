'use strict';

// The windows of this thread, and what the modules around jsdom keep for each.

/**
 * @typedef {object} WindowRealm
 * @property {Jsdom.Window} window
 * @property {number} id of the frame; the host names it so, and 0 is the page itself
 * @property {import('../window/contracts.js').WindowCode} code functions of the window's realm
 * @property {import('./document-loading.cjs').Loading} [loading] of its document
 * @property {() => number} [now] `performance.now()` of the window
 * @property {Set<{ close(): void }>} [channels] that are open
 * @property {boolean} [isRestricted] whether a frame around it is sandboxed
 * @property {boolean} [isIsolated] cross-origin isolated
 * @property {boolean} [allowsSameOrigin] whether frames in it may have another origin than an opaque one
 * @property {Jsdom.UrlRecord | null} [base] of about:srcdoc in a thread of its own
 */

/** By global object. @type {Map<object, WindowRealm>} */
const realms = new Map();

/** @param {object} window */
function realmOf(window) {
  return realms.get(window);
}

/** The number of a window's frame; -1 when it is closed. @param {object} window */
function numberOf(window) {
  return realms.get(window)?.id ?? -1;
}

/** @param {WindowRealm} realm */
function add(realm) {
  realms.set(realm.window, realm);
}

/** @param {object} window */
function remove(window) {
  realms.delete(window);
}

/** The window of a frame; undefined when it is gone. @param {number} id */
function byFrame(id) {
  for (const realm of realms.values()) if (realm.id === id) return realm;
  return undefined;
}

module.exports = { add, all: () => [...realms.values()], byFrame, numberOf, realmOf, remove };
