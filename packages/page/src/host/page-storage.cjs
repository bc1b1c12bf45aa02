'use strict';

// localStorage and sessionStorage of the pages of a context: what outlives their documents. Each thread has a copy of its origin's items.
// https://html.spec.whatwg.org/multipage/webstorage.html

/** How many characters the items of an origin may have: as many as jsdom allows, and some for each item. */
const MAX_ITEMS = 5_500_000;

/** The items of an origin, with their size in characters. @typedef {{ items: Map<string, string>, size: number }} Items */

/** The areas of one kind. */
class StorageAreas {
  /** @type {Map<string, Items>} */
  #byOrigin = new Map();

  /** @param {string} key of an origin */
  itemsOf(key) {
    return [...(this.#byOrigin.get(key)?.items ?? [])];
  }

  /**
   * @param {string} key of an origin
   * @param {string} name
   * @param {string | null} value null when the item was removed
   * @returns {boolean} whether there was room for it
   */
  change(key, name, value) {
    const area = this.#byOrigin.get(key) ?? { items: new Map(), size: 0 };
    const before = area.items.get(name);
    const added = sizeOf(name, value) - sizeOf(name, before ?? null);
    if (area.size + added > MAX_ITEMS) return false;
    area.size += added;
    if (value === null) area.items.delete(name);
    else area.items.set(name, value);
    if (area.items.size === 0) this.#byOrigin.delete(key);
    else this.#byOrigin.set(key, area);
    return true;
  }
}

/** @param {string} name @param {string | null} value */
function sizeOf(name, value) {
  // Each item takes memory, however short it is.
  return value === null ? 0 : name.length + value.length + 32;
}

/** What a page keeps of both kinds. */
class PageStorage {
  #localStorage;
  #sessionStorage = new StorageAreas();

  /** @param {StorageAreas} localStorage of this page, or of all pages of the host */
  constructor(localStorage) {
    this.#localStorage = localStorage;
  }

  /** @param {string | undefined} key of an origin; none for opaque ones */
  itemsOf(key) {
    if (key === undefined) return undefined;
    return { localStorage: this.#localStorage.itemsOf(key), sessionStorage: this.#sessionStorage.itemsOf(key) };
  }

  /**
   * A document has changed an item.
   *
   * @param {string | undefined} key
   * @param {{ readonly [member: string]: unknown }} change sent by a page, so it may be anything
   * @returns {{ area: 'localStorage' | 'sessionStorage', name: string, value: string | null } | undefined} the change that was made
   */
  change(key, { area, name, value }) {
    if (key === undefined || typeof name !== 'string' || (value !== null && typeof value !== 'string'))
      return undefined;
    if (area !== 'localStorage' && area !== 'sessionStorage') return undefined;
    const areas = area === 'localStorage' ? this.#localStorage : this.#sessionStorage;
    return areas.change(key, name, value) ? { area, name, value } : undefined;
  }
}

module.exports = { PageStorage, StorageAreas };
