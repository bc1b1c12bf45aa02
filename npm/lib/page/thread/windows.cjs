'use strict';

// The windows of a page thread, as the main realm knows them: their contexts and the documents that they show. What a
// document may do is decided by its headers, which the main realm gets from its user's thread and never from a page.

const vm = require('node:vm');
const path = require('node:path');

const { Realm } = require('./realm.cjs');

const WINDOW_MODULES = path.join(__dirname, '..', 'window');

/** How many windows a page may have had: each is a realm, and V8 gives their memory back late. */
const MAX_WINDOWS = 1_000;

/**
 * What the host knows of a document.
 *
 * @typedef {object} DocumentRecord
 * @property {string} url
 * @property {boolean} profiling whether its Document-Policy lets it profile
 */

class Windows {
  #documents = new Map([[0, { url: 'about:blank', profiling: false }]]);
  #windows = new WeakMap();
  #nextDocument = 1;
  #nextRealm = 1;
  #count = 0;

  /** @param {DocumentRecord} document @returns {number} what the DOM realm calls it */
  add(document) {
    const id = this.#nextDocument++;
    this.#documents.set(id, document);
    return id;
  }

  /** Makes the context of a window for a document. */
  create(document) {
    if (!this.#documents.has(document)) throw new Error('there is no such document');
    if (this.#count === MAX_WINDOWS) throw new Error(`a page may have no more than ${MAX_WINDOWS} windows`);
    this.#count += 1;
    const window = vm.createContext(vm.constants.DONT_CONTEXTIFY);
    this.#windows.set(window, { realm: this.#nextRealm++, document: this.#documents.get(document), code: undefined });
    return window;
  }

  /** Loads our own code into a window's realm. */
  enter(window, host) {
    const known = this.get(window);
    if (known.code !== undefined) throw new Error('the window was entered before');
    const realm = new Realm(window, (specifier) => {
      if (specifier === 'selfprof:host') return { value: host };
      if (specifier === 'selfprof:native') return { value: known.native };
      return undefined;
    });
    known.code = realm.require(path.join(WINDOW_MODULES, 'main.cjs'));
    return known.code;
  }

  /** Says what document a window shows now. A document is shown once. */
  use(window, document) {
    const known = this.#windows.get(window);
    const record = this.#documents.get(document);
    if (known === undefined || record === undefined) return;
    known.document = record;
    if (document !== 0) this.#documents.delete(document);
  }

  get(window) {
    const known = this.#windows.get(window);
    if (known === undefined) throw new Error('this is not a window of the page');
    return known;
  }
}

module.exports = { Windows };
