'use strict';

// Whether the documents of this thread are in the foreground. jsdom's own are always so, or never.
// https://html.spec.whatwg.org/multipage/interaction.html#page-visibility

const { implementation: DocumentImpl } = require('jsdom/lib/jsdom/living/nodes/Document-impl.js');
const { fireAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');

const realms = require('./realms.cjs');

let isVisible = true;

/** A document that no window shows is hidden. */
const isShown = (document) => isVisible && document._defaultView !== null;

Object.defineProperties(DocumentImpl.prototype, {
  hidden: {
    configurable: true,
    get() {
      return !isShown(this);
    },
  },
  visibilityState: {
    configurable: true,
    get() {
      return isShown(this) ? 'visible' : 'hidden';
    },
  },
});

/** Tells all documents, the outermost first. https://html.spec.whatwg.org/multipage/interaction.html#update-the-visibility-state */
function set(visible) {
  isVisible = visible;
  for (const { window } of realms.all()) {
    if (!window._document._isDestroyed) fireAnEvent('visibilitychange', window._document, undefined, { bubbles: true });
  }
}

module.exports = { set };
