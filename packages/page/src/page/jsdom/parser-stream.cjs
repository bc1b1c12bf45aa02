'use strict';

// `node:stream` for parse5-parser-stream: each piece of a document is parsed under a profiler marker.

const { Writable } = require('node:stream');

const { runWithMarker } = require('./profiler-markers.cjs');

class MarkedWritable extends Writable {
  /** Of parse5-parser-stream, which extends this class. @type {any} */
  parser;

  /** @param {() => any} work */
  #parse(work) {
    return runWithMarker(this.parser.treeAdapter._documentImpl._globalObject, 'parse', work);
  }

  /** @override @param {any[]} piece */
  write(...piece) {
    return this.#parse(() => super.write(.../** @type {[any]} */ (piece)));
  }

  /** @override @param {any[]} piece */
  end(...piece) {
    return this.#parse(() => super.end(.../** @type {[any]} */ (piece)));
  }
}

module.exports = { Writable: MarkedWritable };
