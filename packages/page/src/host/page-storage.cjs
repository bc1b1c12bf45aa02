'use strict';

// localStorage and sessionStorage of the pages of a context: what outlives their documents. Each thread has a copy of
// its origin's items. https://html.spec.whatwg.org/multipage/webstorage.html

/** Items by the key of an origin, and their names. @typedef {Map<string, Map<string, string>>} ItemsByOrigin */

/** What a page keeps of both kinds. */
class PageStorage {
  #areas;

  /** @param {ItemsByOrigin} localStorage of this page, or of all pages of the host */
  constructor(localStorage) {
    /** @type {ItemsByOrigin} */
    const sessionStorage = new Map();
    this.#areas = { localStorage, sessionStorage };
  }

  /** @param {string | undefined} key of an origin; none for opaque ones */
  itemsOf(key) {
    if (key === undefined) return undefined;
    const { localStorage, sessionStorage } = this.#areas;
    return { localStorage: [...(localStorage.get(key) ?? [])], sessionStorage: [...(sessionStorage.get(key) ?? [])] };
  }

  /**
   * A document has changed an item.
   *
   * @param {string} key
   * @param {{ area: 'localStorage' | 'sessionStorage', name: string, value: string | null }} change null when the item
   *   was removed
   */
  change(key, { area, name, value }) {
    const items = this.#areas[area].get(key) ?? new Map();
    if (value === null) items.delete(name);
    else items.set(name, value);
    this.#areas[area].set(key, items);
  }
}

module.exports = { PageStorage };
