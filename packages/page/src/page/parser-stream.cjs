'use strict';

// `node:stream` for parse5-parser-stream: what jsdom uses of a writable stream.

const { runWithMarker } = require('./profiler-markers.cjs');

exports.Writable = class Writable {
  /** @type {Map<string, Function[]>} */
  #listeners = new Map();
  #destroyed = false;
  /** Of parse5-parser-stream, which extends this class. @type {any} */
  parser;

  /**
   * Parses a piece; parse5-parser-stream overrides it.
   *
   * @param {string} _chunk
   * @param {string} _encoding
   * @param {() => void} _callback
   */
  _write(_chunk, _encoding, _callback) {}

  /**
   * @param {string} type
   * @param {Function} listener
   */
  on(type, listener) {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
    return this;
  }

  /**
   * @param {string} type
   * @param {...unknown} parameters
   */
  emit(type, ...parameters) {
    for (const listener of this.#listeners.get(type) ?? []) listener.apply(this, parameters);
  }

  /** @param {string} type */
  listenerCount(type) {
    return this.#listeners.get(type)?.length ?? 0;
  }

  /** @param {string} chunk */
  write(chunk) {
    if (this.#destroyed) return;
    const { _globalObject: window } = this.parser.treeAdapter._documentImpl;
    runWithMarker(window, 'parse', () => this._write(chunk, 'utf8', () => {}));
  }

  /** @param {string} chunk */
  end(chunk) {
    this.write(chunk);
  }

  destroy() {
    this.#destroyed = true;
  }
};
