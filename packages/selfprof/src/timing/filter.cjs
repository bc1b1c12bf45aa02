'use strict';

/**
 * @param {import('./types.js').Realm} realm
 * @param {import('./entry.cjs').Entries} entries
 * @returns {(list: Iterable<import('./types.js').AnyEntry>, name?: string, type?: string) =>
 *   import('./types.js').AnyEntry[]} an array of the realm with the entries of a name and a type:
 *   https://w3c.github.io/performance-timeline/#filter-buffer-by-name-and-type
 */
function makeFilter(realm, { entryTypeOf, nameOf }) {
  return (list, name, type) => {
    const filtered = new realm.Array();
    for (const entry of list) {
      if (type !== undefined && entryTypeOf(entry) !== type) continue;
      if (name !== undefined && nameOf(entry) !== name) continue;
      filtered.push(entry);
    }
    return filtered;
  };
}

module.exports = { makeFilter };
