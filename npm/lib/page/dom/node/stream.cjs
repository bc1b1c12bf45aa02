'use strict';

// `node:stream` for parse5-parser-stream, which jsdom writes to and listens to as below.

const { during } = require('../work.cjs');

exports.Writable = class Writable {
  #listeners = new Map();
  #destroyed = false;

  on(type, listener) {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
    return this;
  }

  emit(type, ...parameters) {
    for (const listener of this.#listeners.get(type) ?? []) listener.apply(this, parameters);
  }

  listenerCount(type) {
    return this.#listeners.get(type)?.length ?? 0;
  }

  write(chunk) {
    if (this.#destroyed) return;
    const { _globalObject: window } = this.parser.treeAdapter._documentImpl;
    during(window, 'parse', () => this._write(chunk, 'utf8', () => {}));
  }

  end(chunk) {
    this.write(chunk);
  }

  destroy() {
    this.#destroyed = true;
  }
};
