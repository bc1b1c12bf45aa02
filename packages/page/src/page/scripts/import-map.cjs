'use strict';

// Import maps, and module specifiers. https://html.spec.whatwg.org/multipage/webappapis.html#import-maps

/**
 * Entries of a table of the map: a specifier or a prefix, and the URL for it; `null` blocks it.
 *
 * @typedef {[string, string | null][]} Table
 */

/** @param {string} specifier @param {string} base */
function asUrl(specifier, base) {
  return URL.parse(specifier, /^\.{0,2}\//.test(specifier) ? base : undefined);
}

/**
 * Longest keys first.
 *
 * @template {[string, unknown]} Entry
 * @param {Entry[]} entries
 */
function sorted(entries) {
  return entries.sort(([a], [b]) => (a < b ? 1 : -1));
}

class ImportMap {
  /** @type {Table} */
  #imports = [];
  /** By prefix of the importing script's URL. @type {[string, Table][]} */
  #scopes = [];

  /**
   * Adds an import map. Earlier maps take precedence.
   *
   * @param {string} text
   * @param {string} base
   * @returns {string} what is wrong with it; empty when nothing is
   */
  register(text, base) {
    let parsed;
    try {
      parsed = JSON.parse(text);
    } catch (error) {
      return `the import map is not JSON: ${/** @type {Error} */ (error).message}`;
    }
    const isObject = (/** @type {unknown} */ value) =>
      typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isObject(parsed)) return 'the import map is not an object';
    if (parsed.imports !== undefined && !isObject(parsed.imports)) return "the import map's imports are not an object";
    if (parsed.scopes !== undefined && !isObject(parsed.scopes)) return "the import map's scopes are not an object";
    this.#imports = merge(this.#imports, readTable(parsed.imports ?? {}, base));
    for (const [prefix, table] of Object.entries(parsed.scopes ?? {})) {
      if (!isObject(table)) return `the scope ${prefix} of the import map is not an object`;
      const scope = URL.parse(prefix, base);
      if (scope === null) continue;
      const known = this.#scopes.find(([url]) => url === scope.href);
      if (known === undefined) this.#scopes.push([scope.href, readTable(table, base)]);
      else known[1] = merge(known[1], readTable(table, base));
    }
    sorted(this.#scopes);
    return '';
  }

  /**
   * @param {string} specifier
   * @param {string} base
   * @returns {string | undefined} a URL
   */
  resolve(specifier, base) {
    const url = asUrl(specifier, base);
    const key = url?.href ?? specifier;
    for (const [scope, table] of this.#scopes) {
      if (scope !== base && !(scope.endsWith('/') && base.startsWith(scope))) continue;
      const found = lookUp(table, key, url);
      if (found !== undefined) return found ?? undefined;
    }
    const found = lookUp(this.#imports, key, url);
    if (found !== undefined) return found ?? undefined;
    return url?.href;
  }
}

/**
 * @param {object} table
 * @param {string} base
 */
function readTable(table, base) {
  /** @type {Table} */
  const entries = [];
  for (const [specifier, address] of Object.entries(table)) {
    if (specifier === '') continue;
    const key = asUrl(specifier, base)?.href ?? specifier;
    const url = typeof address === 'string' ? asUrl(address, base) : null;
    // A prefix has to be mapped to a prefix.
    const isUsable = !specifier.endsWith('/') || url?.href.endsWith('/');
    entries.push([key, url !== null && isUsable ? url.href : null]);
  }
  return sorted(entries);
}

/** @param {Table} earlier @param {Table} later @returns {Table} */
function merge(earlier, later) {
  return sorted([...earlier, ...later.filter(([key]) => !earlier.some(([known]) => known === key))]);
}

/**
 * @param {Table} table
 * @param {string} key
 * @param {URL | null} url
 * @returns {string | null | undefined} `null` when the map blocks the specifier, `undefined` when it says nothing
 */
function lookUp(table, key, url) {
  const isSpecial = url === null || /^(https?|wss?|ftp|file):$/.test(url.protocol);
  for (const [known, address] of table) {
    if (known === key) return address;
    if (known.endsWith('/') && key.startsWith(known) && isSpecial) {
      if (address === null) return null;
      const resolved = URL.parse(key.slice(known.length), address)?.href;
      // The result must not leave the prefix.
      return resolved?.startsWith(address) ? resolved : null;
    }
  }
  return undefined;
}

module.exports = { ImportMap };
