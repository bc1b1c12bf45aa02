'use strict';

// `window[0]`, `window[1]` and so on: the frames of a document in tree order.
// https://html.spec.whatwg.org/multipage/nav-history-apis.html#accessing-other-browsing-contexts

const selectors = require('jsdom/lib/jsdom/living/css/helpers/selectors.js');

/** Defines the accessors anew. @param {Jsdom.DocumentImpl} document */
function refreshFrameAccessors(document) {
  const window = document._globalObject;
  if (document._defaultView === null) return;
  for (let index = 0; index < window._length; index++) delete window[index];
  const frames = /** @type {(Jsdom.ElementImpl & { contentWindow: object | null })[]} */ ([
    ...selectors.query(document, 'iframe,frame', false),
  ]).filter((frame) => frame.contentWindow !== null);
  window._length = frames.length;
  frames.forEach((frame, index) => {
    Object.defineProperty(window, index, { configurable: true, enumerable: true, get: () => frame.contentWindow });
  });
}

module.exports = { refreshFrameAccessors };
