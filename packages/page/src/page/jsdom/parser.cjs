'use strict';

// Stands in for jsdom's `browser/parser/index.js` and runs its work under a profiler marker: innerHTML, DOMParser and
// whatever else parses a whole text. Documents are parsed in pieces, see parser-stream.cjs.

const original = require('original:lib/jsdom/browser/parser/index.js');

const { runWithMarker } = require('./profiler-markers.cjs');

module.exports = {
  ...original,
  parseFragment: (
    /** @type {string} */ markup,
    /** @type {Jsdom.ElementImpl} */ context,
    /** @type {unknown} */ mode,
  ) =>
    runWithMarker(context._ownerDocument._globalObject, 'parse', () => original.parseFragment(markup, context, mode)),
  parseIntoDocument: (/** @type {string} */ markup, /** @type {Jsdom.DocumentImpl} */ document) =>
    runWithMarker(document._globalObject, 'parse', () => original.parseIntoDocument(markup, document)),
};
