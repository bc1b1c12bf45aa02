'use strict';

// The windows of this thread, with what the host keeps for each.

/**
 * @typedef {object} WindowRealm
 * @property {object} window
 * @property {number} id of the frame, as the page's user names it; 0 is the page itself
 * @property {ReturnType<typeof import('../window/main.cjs')>} code what window/main.cjs made in the realm
 */

/** By global object. */
const realms = new Map();

function realmOf(window) {
  return realms.get(window);
}

function add(realm) {
  realms.set(realm.window, realm);
}

function remove(window) {
  realms.delete(window);
}

/** The window of a frame, `undefined` when it is gone. */
function byFrame(id) {
  for (const realm of realms.values()) if (realm.id === id) return realm;
  return undefined;
}

module.exports = { add, all: () => [...realms.values()], byFrame, realmOf, remove };
