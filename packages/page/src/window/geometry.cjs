'use strict';

// Operations on positions and scrolling, in pages without layout: nothing has a box, and nothing scrolls. jsdom itself has the operations of
// elements that return rectangles. https://drafts.csswg.org/cssom-view/

const host = require('selfprof:host');

const { AbstractRange, Document, DOMRect, Element, Range } = globalThis;

const getStartOffset = Object.getOwnPropertyDescriptor(AbstractRange?.prototype ?? {}, 'startOffset')?.get;

/** Throws for objects that are not ranges. @param {unknown} value */
function requireRange(value) {
  if (getStartOffset === undefined) throw new TypeError('Illegal invocation');
  Reflect.apply(getStartOffset, value, []);
}

/**
 * @param {number} count
 * @param {number} wanted
 * @param {string} method
 * @param {string} name
 */
function requireArguments(count, wanted, method, name) {
  if (count >= wanted) return;
  throw new TypeError(
    `Failed to execute '${method}' on '${name}': ${wanted} arguments required, but only ${count} present.`,
  );
}

/** @param {unknown} value */
function requireElement(value) {
  if (!host.isElement(value)) throw new TypeError('Illegal invocation');
}

/**
 * @param {unknown} x
 * @param {unknown} y
 */
function requireFinite(x, y) {
  if (!Number.isFinite(Number(x) + Number(y))) throw new TypeError('The provided double value is non-finite.');
}

/** Operations by interface. @type {[Interface: { prototype: object }, operations: Record<string, (this: unknown, ...parameters: any[]) => unknown>][]} */
const OPERATIONS = [
  [
    Range,
    {
      getBoundingClientRect() {
        requireRange(this);
        return new DOMRect();
      },
      getClientRects() {
        requireRange(this);
        return [];
      },
    },
  ],
  [
    Element,
    {
      scroll() {
        requireElement(this);
      },
      scrollBy() {
        requireElement(this);
      },
      scrollIntoView() {
        requireElement(this);
      },
      scrollTo() {
        requireElement(this);
      },
    },
  ],
  [
    Document,
    {
      elementFromPoint(x, y) {
        requireArguments(arguments.length, 2, 'elementFromPoint', 'Document');
        if (!host.isDocument(this)) throw new TypeError('Illegal invocation');
        requireFinite(x, y);
        return null;
      },
      elementsFromPoint(x, y) {
        requireArguments(arguments.length, 2, 'elementsFromPoint', 'Document');
        if (!host.isDocument(this)) throw new TypeError('Illegal invocation');
        requireFinite(x, y);
        return [];
      },
    },
  ],
];

function installGeometry() {
  for (const [Interface, operations] of OPERATIONS) {
    for (const [name, value] of Object.entries(operations)) {
      // Operations of jsdom take precedence.
      if (name in Interface.prototype) continue;
      Object.defineProperty(Interface.prototype, name, { value, writable: true, enumerable: true, configurable: true });
    }
  }
}

module.exports = { installGeometry };
