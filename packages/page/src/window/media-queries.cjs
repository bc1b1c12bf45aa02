'use strict';

// matchMedia(), by jsdom's media queries. The device never changes.
// https://drafts.csswg.org/cssom-view/#dom-window-matchmedia

const host = require('selfprof:host');
const { defineOperations, exposeInterface, requireArguments } = require('./webidl-members.cjs');

const TOKEN = Symbol('internal');

class MediaQueryList extends EventTarget {
  #query;

  /**
   * @param {symbol} token
   * @param {string} text
   */
  constructor(token, text) {
    if (token !== TOKEN) throw new TypeError("Failed to construct 'MediaQueryList': Illegal constructor");
    super();
    this.#query = host.parseMediaQuery(text);
  }

  get media() {
    return this.#query.text;
  }

  get matches() {
    return this.#query.matches();
  }

  /** @param {any} listener of the page */
  addListener(listener) {
    this.addEventListener('change', listener);
  }

  /** @param {any} listener of the page */
  removeListener(listener) {
    this.removeEventListener('change', listener);
  }
}

function installMediaQueries() {
  defineOperations({
    /** @param {any} query of the page */
    matchMedia(query) {
      requireArguments(arguments.length, "Failed to execute 'matchMedia' on 'Window'");
      return new MediaQueryList(TOKEN, `${query}`);
    },
  });
  exposeInterface(MediaQueryList, { handlers: ['change'] });
}

module.exports = { installMediaQueries };
