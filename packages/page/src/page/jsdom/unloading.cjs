'use strict';

// The last events of documents, before they are replaced or removed.
// https://html.spec.whatwg.org/multipage/document-lifecycle.html#unloading-documents

const BeforeUnloadEvent = require('jsdom/lib/generated/idl/BeforeUnloadEvent.js');
const { fireAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');
const { fireAPageTransitionEvent } = require('jsdom/lib/jsdom/living/helpers/page-transition-event.js');

const { hide } = require('./page-visibility.cjs');

/**
 * A document and those in its frames, the outermost first.
 *
 * @param {Jsdom.DocumentImpl} document
 * @returns {Jsdom.DocumentImpl[]}
 */
function treeOf(document) {
  return [document, ...[...document._childDocuments].flatMap(treeOf)];
}

/**
 * Fires the last events of a document and of those in its frames.
 *
 * @param {Jsdom.DocumentImpl} outermost
 * @param {{ isNavigation: boolean }} reason whether another document takes its place; nobody is asked whether to stay
 */
function unload(outermost, { isNavigation }) {
  const documents = treeOf(outermost);
  const withWindow = (/** @type {(window: Jsdom.Window, document: Jsdom.DocumentImpl) => void} */ act) => {
    for (const document of documents) if (!document._isDestroyed) act(document._globalObject, document);
  };
  // The events of a window have its document as their target.
  if (isNavigation)
    withWindow((window) => fireAnEvent('beforeunload', window, BeforeUnloadEvent, { cancelable: true }, true));
  withWindow((window, document) => {
    fireAPageTransitionEvent('pagehide', window, false);
    hide(document);
    fireAnEvent('unload', window, undefined, {}, true);
  });
}

module.exports = { unload };
