'use strict';

// Stands for jsdom's `browser/parser/index.js`, of which it marks the work: innerHTML, DOMParser and whatever else parses a
// text at once. What a document is parsed of in pieces goes through node/stream.cjs.

const original = require('original:lib/jsdom/browser/parser/index.js');

const { during } = require('./work.cjs');

exports.parseFragment = (markup, contextElement, scriptingMode) =>
  during(contextElement._ownerDocument._globalObject, 'parse', () => original.parseFragment(markup, contextElement, scriptingMode));

exports.parseIntoDocument = (markup, document) =>
  during(document._globalObject, 'parse', () => original.parseIntoDocument(markup, document));

exports.HTMLDocumentParser = original.HTMLDocumentParser;
exports.XMLDocumentParser = original.XMLDocumentParser;
