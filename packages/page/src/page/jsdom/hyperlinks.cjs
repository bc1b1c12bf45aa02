'use strict';

// What jsdom lacks of following hyperlinks. An element without `href` is none; jsdom would load the document again.
// https://html.spec.whatwg.org/multipage/links.html#links-created-by-a-and-area-elements
//
// Which windows a hyperlink of a sandboxed frame may navigate: its own. jsdom lets it navigate the windows around it,
// too, where a `javascript:` URL would run; it knows no others.
// https://html.spec.whatwg.org/multipage/document-sequences.html#allowed-by-sandboxing-to-navigate

const { implementation: HTMLAnchorElementImpl } = require('jsdom/lib/jsdom/living/nodes/HTMLAnchorElement-impl.js');
const { implementation: HTMLAreaElementImpl } = require('jsdom/lib/jsdom/living/nodes/HTMLAreaElement-impl.js');

const { thread } = require('../thread/thread.cjs');

for (const { prototype } of [HTMLAnchorElementImpl, HTMLAreaElementImpl]) {
  const follow = prototype._followAHyperlink;
  /** @this {Jsdom.ElementImpl} */
  prototype._followAHyperlink = function () {
    if (this.hasAttributeNS(null, 'href')) follow.call(this);
  };
  const choose = prototype._chooseABrowsingContext;
  /** @this {Jsdom.ElementImpl} @param {string} name @param {Jsdom.Window} source */
  prototype._chooseABrowsingContext = function (name, source) {
    const target = choose.call(this, name, source);
    const isRestricted = thread.windows.find(this._ownerDocument._globalObject)?.isRestricted === true;
    return isRestricted && target !== source ? null : target;
  };
}
