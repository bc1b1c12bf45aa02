'use strict';

// localStorage and sessionStorage of this thread's origin. What changes is sent to the host, which keeps it for later
// documents and tells other threads of the origin. https://html.spec.whatwg.org/multipage/webstorage.html

const StorageEvent = require('jsdom/lib/generated/idl/StorageEvent.js');
const { fireAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');
const { implementation: StorageImpl } = require('jsdom/lib/jsdom/living/webstorage/Storage-impl.js');

const { thread } = require('../thread/thread.cjs');

/** @typedef {import('../thread-messages.js').StorageArea} StorageArea */

/** @type {StorageArea[]} */
const AREAS = ['localStorage', 'sessionStorage'];

/** What the host knows. @type {Map<StorageArea, Map<string, string>>} */
const known = new Map();
let isScheduled = false;

const { _broadcast: broadcast } = StorageImpl.prototype;

// jsdom calls it after each change.
/** @this {Jsdom.Impl} @param {unknown[]} change */
StorageImpl.prototype._broadcast = function (...change) {
  broadcast.apply(this, change);
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(sendChanges);
};

/**
 * The items of the thread's origin, which all of its windows share.
 *
 * @param {StorageArea} area
 * @returns {Map<string, string> | undefined}
 */
function itemsOf(area) {
  return thread.windows.all()[0]?.window._currentOriginData[`${area}Area`];
}

/** Sends what has changed: of each item, only its last value. */
function sendChanges() {
  isScheduled = false;
  for (const area of AREAS) {
    const before = known.get(area) ?? new Map();
    const items = new Map(itemsOf(area) ?? before);
    known.set(area, items);
    for (const name of new Set([...before.keys(), ...items.keys()])) {
      const value = items.get(name) ?? null;
      if (value !== (before.get(name) ?? null)) thread.tell({ type: 'storage', area, name, value });
    }
  }
}

/** Fills the areas of the thread's first window. @param {Partial<Record<StorageArea, [string, string][]>>} stored */
function fillStorage(stored) {
  for (const area of AREAS) {
    known.set(area, new Map(stored[area]));
    for (const [name, value] of stored[area] ?? []) itemsOf(area)?.set(name, value);
  }
}

/**
 * A document in another thread has changed an item.
 *
 * @param {{ area: StorageArea, name: string, value: string | null, url: string }} change
 */
function receiveStorage({ area, name, value, url }) {
  const items = itemsOf(area);
  if (items === undefined || thread.origin === 'null') return;
  const oldValue = items.get(name) ?? null;
  if (oldValue === value) return;
  for (const map of [items, known.get(area)]) {
    if (value === null) map?.delete(name);
    else map?.set(name, value);
  }
  for (const { window } of thread.windows.all()) {
    window._document._queueATask(() => {
      const storageArea = window[`_${area}`];
      fireAnEvent('storage', window, StorageEvent, { key: name, oldValue, newValue: value, url, storageArea });
    });
  }
}

/** The documents are gone. */
function forgetStorage() {
  known.clear();
  isScheduled = false;
}

module.exports = { fillStorage, forgetStorage, receiveStorage, sendChanges };
