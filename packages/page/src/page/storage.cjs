'use strict';

// localStorage and sessionStorage of this thread's origin. What changes is sent to the host, which keeps it for later documents and
// tells other threads of the origin. https://html.spec.whatwg.org/multipage/webstorage.html

const StorageEvent = require('jsdom/lib/generated/idl/StorageEvent.js');
const { fireAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');
const { implementation: StorageImpl } = require('jsdom/lib/jsdom/living/webstorage/Storage-impl.js');

const { thread } = require('./thread.cjs');

/** @typedef {import('./thread-messages.js').StorageArea} StorageArea */

/** The names of items that have changed, by area, with the items. @type {Map<StorageArea, { items: Map<string, string>, names: Set<string> }>} */
const changed = new Map();
let isScheduled = false;

const { _broadcast: broadcast } = StorageImpl.prototype;
const { apply } = Reflect;

// jsdom calls it after each change. Without a key, everything was removed.
/** @this {Jsdom.Impl} @param {string | null} key @param {string | null} oldValue @param {string | null} newValue */
StorageImpl.prototype._broadcast = function noteChange(key, oldValue, newValue) {
  apply(broadcast, this, [key, oldValue, newValue]);
  note(this._type, this._items, key === null ? knownOf(this._type) : [key]);
};

/** The names that the host knows. @type {Map<StorageArea, Set<string>>} */
const known = new Map();

/** @param {StorageArea} area @param {Map<string, string>} items @param {Iterable<string>} names */
function note(area, items, names) {
  let changes = changed.get(area);
  if (changes === undefined) {
    changes = { items, names: new Set() };
    changed.set(area, changes);
  }
  for (const name of names) {
    changes.names.add(name);
    knownOf(area).add(name);
  }
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(sendChanges);
}

/** @param {StorageArea} area */
function knownOf(area) {
  let names = known.get(area);
  if (names === undefined) {
    names = new Set();
    known.set(area, names);
  }
  return names;
}

/** Sends what has changed: of each item, only its last value. */
function sendChanges() {
  isScheduled = false;
  for (const [area, { items, names }] of changed) {
    for (const name of names) {
      const value = items.get(name) ?? null;
      thread.tell({ type: 'storage', area, name, value });
      if (value === null) knownOf(area).delete(name);
    }
    changed.delete(area);
  }
}

/**
 * Fills the areas of the thread's first window.
 *
 * @param {Jsdom.Window} window
 * @param {Partial<Record<StorageArea, [string, string][]>>} stored
 */
function fillStorage(window, stored) {
  for (const [area, items] of Object.entries(stored)) {
    for (const [name, value] of items) {
      window._currentOriginData[`${area}Area`].set(name, value);
      knownOf(/** @type {StorageArea} */ (area)).add(name);
    }
  }
}

/**
 * A document in another thread has changed an item.
 *
 * @param {{ area: StorageArea, name: string, value: string | null, url: string }} change
 */
function receiveStorage({ area, name, value, url }) {
  const [first] = thread.windows.all();
  if (first === undefined || thread.origin === 'null') return;
  const data = first.window._currentOriginData;
  const items = data[`${area}Area`];
  const oldValue = items.get(name) ?? null;
  if (oldValue === value) return;
  if (value === null) items.delete(name);
  else items.set(name, value);
  knownOf(area).add(name);
  for (const window of data.windowsInSameOrigin) {
    window._document._queueATask(() => {
      const storageArea = window[`_${area}`];
      fireAnEvent('storage', window, StorageEvent, { key: name, oldValue, newValue: value, url, storageArea });
    });
  }
}

/** The documents are gone. */
function forgetStorage() {
  changed.clear();
  known.clear();
}

module.exports = { fillStorage, forgetStorage, receiveStorage, sendChanges };
