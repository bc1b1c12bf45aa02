'use strict';

// Whether the documents of this thread are visible. In jsdom itself that never changes.
// https://html.spec.whatwg.org/multipage/interaction.html#page-visibility

const { implementation: DocumentImpl } = require('jsdom/lib/jsdom/living/nodes/Document-impl.js');
const { fireAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');

const { thread } = require('../thread/thread.cjs');

let isVisible = true;

/** Documents that are being unloaded. @type {WeakSet<object>} */
const hidden = new WeakSet();

/** A document without a window is hidden. */
const isShown = (/** @type {Jsdom.DocumentImpl} */ document) =>
  isVisible && document._defaultView !== null && !hidden.has(document);

/** A document is unloaded. @param {Jsdom.DocumentImpl} document */
function hide(document) {
  const wasShown = isShown(document);
  hidden.add(document);
  if (wasShown) fireAnEvent('visibilitychange', document, undefined, { bubbles: true });
}

Object.defineProperties(DocumentImpl.prototype, {
  hidden: {
    configurable: true,
    /** @this {Jsdom.DocumentImpl} */
    get() {
      return !isShown(this);
    },
  },
  visibilityState: {
    configurable: true,
    /** @this {Jsdom.DocumentImpl} */
    get() {
      return isShown(this) ? 'visible' : 'hidden';
    },
  },
});

/**
 * Updates all documents, the outermost first.
 * https://html.spec.whatwg.org/multipage/interaction.html#update-the-visibility-state
 *
 * @param {boolean} visible
 */
function setVisible(visible) {
  isVisible = visible;
  for (const { window } of thread.windows.all()) {
    if (!window._document._isDestroyed) fireAnEvent('visibilitychange', window._document, undefined, { bubbles: true });
  }
}

module.exports = { hide, setVisible };
