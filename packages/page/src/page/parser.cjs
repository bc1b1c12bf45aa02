'use strict';

// Stands in for jsdom's `browser/parser/index.js` and runs its work under a profiler marker: innerHTML, DOMParser and whatever else parses a
// whole text. Documents are parsed in pieces, which go through node/stream.cjs.

const original = require('original:lib/jsdom/browser/parser/index.js');

const { runWithMarker } = require('./profiler-markers.cjs');

/** @type {typeof original.parseFragment} */
exports.parseFragment = (markup, contextElement, scriptingMode) =>
  runWithMarker(contextElement._ownerDocument._globalObject, 'parse', () =>
    original.parseFragment(markup, contextElement, scriptingMode),
  );

/** @type {typeof original.parseIntoDocument} */
exports.parseIntoDocument = (markup, document) =>
  runWithMarker(document._globalObject, 'parse', () => original.parseIntoDocument(markup, document));

exports.HTMLDocumentParser = original.HTMLDocumentParser;
exports.XMLDocumentParser = original.XMLDocumentParser;
