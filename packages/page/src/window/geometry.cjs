'use strict';

// Operations on positions and scrolling, in pages without layout: nothing has a box, and nothing scrolls. jsdom itself
// has the operations of elements that return rectangles. https://drafts.csswg.org/cssom-view/

const host = require('selfprof:host');
const { defineOperations, requireArguments } = require('./webidl-members.cjs');

const { AbstractRange, Document, DOMRect, Element, Range } = globalThis;

const getStartOffset = Object.getOwnPropertyDescriptor(AbstractRange?.prototype ?? {}, 'startOffset')?.get;

/** @param {boolean} isOwn whether an operation was called on an object of its interface */
function requireOwn(isOwn) {
  if (!isOwn) throw new TypeError('Illegal invocation');
}

/** Throws for objects that are not ranges. @param {unknown} value */
function requireRange(value) {
  Reflect.apply(/** @type {() => number} */ (getStartOffset), value, []);
}

/**
 * @param {string} method of `Document`
 * @param {unknown} document
 * @param {any[]} position
 */
function checkPosition(method, document, position) {
  requireArguments(position.length, `Failed to execute '${method}' on 'Document'`, 2);
  requireOwn(host.isDocument(document));
  if (!Number.isFinite(Number(position[0]) + Number(position[1])))
    throw new TypeError('The provided double value is non-finite.');
}

/** @type {Record<string, (this: unknown) => unknown>} */
const RANGE_OPERATIONS = {
  getBoundingClientRect() {
    requireRange(this);
    return new DOMRect();
  },
  getClientRects() {
    requireRange(this);
    return [];
  },
};

/** @type {Record<string, (this: unknown) => unknown>} */
const ELEMENT_OPERATIONS = {
  scroll() {
    requireOwn(host.isElement(this));
  },
  scrollBy() {
    requireOwn(host.isElement(this));
  },
  scrollIntoView() {
    requireOwn(host.isElement(this));
  },
  scrollTo() {
    requireOwn(host.isElement(this));
  },
};

/** @type {Record<string, (this: unknown, x: unknown, y: unknown) => unknown>} */
const DOCUMENT_OPERATIONS = {
  elementFromPoint(_x, _y) {
    checkPosition('elementFromPoint', this, [...arguments]);
    return null;
  },
  elementsFromPoint(_x, _y) {
    checkPosition('elementsFromPoint', this, [...arguments]);
    return [];
  },
};

function installGeometry() {
  defineOperations(RANGE_OPERATIONS, Range.prototype);
  defineOperations(ELEMENT_OPERATIONS, Element.prototype);
  defineOperations(DOCUMENT_OPERATIONS, Document.prototype);
}

module.exports = { installGeometry };
