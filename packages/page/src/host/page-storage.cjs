'use strict';

// localStorage and sessionStorage of the pages of a context: what outlives their documents. Each thread has a copy of its origin's items.
// https://html.spec.whatwg.org/multipage/webstorage.html

/** The areas of one kind. */
class StorageAreas {
  /** The items by origin. @type {Map<string, Map<string, string>>} */
  #byOrigin = new Map();

  /** @param {string} key of an origin @returns {[name: string, value: string][]} */
  itemsOf(key) {
    return [...(this.#byOrigin.get(key) ?? [])];
  }

  /** @param {string} key of an origin @param {string} name @param {string | null} value null when the item was removed */
  change(key, name, value) {
    const items = this.#byOrigin.get(key) ?? new Map();
    if (value === null) items.delete(name);
    else items.set(name, value);
    if (items.size === 0) this.#byOrigin.delete(key);
    else this.#byOrigin.set(key, items);
  }
}

/** What a page keeps of both kinds. */
class PageStorage {
  #areas;

  /** @param {StorageAreas} localStorage of this page, or of all pages of the host */
  constructor(localStorage) {
    this.#areas = { localStorage, sessionStorage: new StorageAreas() };
  }

  /** @param {string | undefined} key of an origin; none for opaque ones */
  itemsOf(key) {
    if (key === undefined) return undefined;
    const { localStorage, sessionStorage } = this.#areas;
    return { localStorage: localStorage.itemsOf(key), sessionStorage: sessionStorage.itemsOf(key) };
  }

  /**
   * A document has changed an item.
   *
   * @param {string} key
   * @param {{ area: 'localStorage' | 'sessionStorage', name: string, value: string | null }} change
   */
  change(key, { area, name, value }) {
    this.#areas[area].change(key, name, value);
  }
}

module.exports = { PageStorage, StorageAreas };
