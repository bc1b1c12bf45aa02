'use strict';

// Operations that ask where something is, or have it shown, in pages that have no layout: nothing has a box, and nothing
// scrolls. jsdom has those of elements that give rectangles. https://drafts.csswg.org/cssom-view/

const host = require('selfprof:host');

const { AbstractRange, Document, DOMRect, Element, Range } = globalThis;

/** Throws when it is called on what is no range. */
const startOffset = Object.getOwnPropertyDescriptor(AbstractRange?.prototype ?? {}, 'startOffset')?.get;

function requireArguments(count, wanted, method, name) {
  if (count >= wanted) return;
  throw new TypeError(`Failed to execute '${method}' on '${name}': ${wanted} arguments required, but only ${count} present.`);
}

function requireElement(value) {
  if (!host.isElement(value)) throw new TypeError('Illegal invocation');
}

/** Those that do not find what they are asked for. */
const OPERATIONS = [
  [
    Range,
    {
      getBoundingClientRect() {
        Reflect.apply(startOffset, this, []);
        return new DOMRect();
      },
      getClientRects() {
        Reflect.apply(startOffset, this, []);
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
        return Number.isFinite(Number(x) + Number(y)) ? null : notFinite();
      },
      elementsFromPoint(x, y) {
        requireArguments(arguments.length, 2, 'elementsFromPoint', 'Document');
        if (!host.isDocument(this)) throw new TypeError('Illegal invocation');
        return Number.isFinite(Number(x) + Number(y)) ? [] : notFinite();
      },
    },
  ],
];

function notFinite() {
  throw new TypeError('The provided double value is non-finite.');
}

function installGeometry() {
  for (const [Interface, operations] of OPERATIONS) {
    for (const [name, value] of Object.entries(operations)) {
      // What jsdom comes to have is better.
      if (name in Interface.prototype) continue;
      Object.defineProperty(Interface.prototype, name, { value, writable: true, enumerable: true, configurable: true });
    }
  }
}

module.exports = { installGeometry };
