'use strict';

// Which windows a hyperlink of a sandboxed frame may navigate: those in the frame. jsdom lets it navigate all windows around it, where a
// `javascript:` URL would run. https://html.spec.whatwg.org/multipage/document-sequences.html#allowed-by-sandboxing-to-navigate

const { implementation: HTMLAnchorElementImpl } = require('jsdom/lib/jsdom/living/nodes/HTMLAnchorElement-impl.js');
const { implementation: HTMLAreaElementImpl } = require('jsdom/lib/jsdom/living/nodes/HTMLAreaElement-impl.js');

const realms = require('./window-realms.cjs');

/** @param {Jsdom.Window} inner @param {Jsdom.Window} outer */
function isWithin(inner, outer) {
  for (let window = inner; ; ) {
    if (window === outer) return true;
    const frame = window._frameElement;
    if (!frame) return false;
    window = frame._ownerDocument._globalObject;
  }
}

for (const { prototype } of [HTMLAnchorElementImpl, HTMLAreaElementImpl]) {
  const choose = prototype._chooseABrowsingContext;
  /** @this {Jsdom.ElementImpl} @param {string} name @param {...unknown} rest */
  prototype._chooseABrowsingContext = function (name, ...rest) {
    const source = this._ownerDocument._globalObject;
    const target = choose.call(this, name, ...rest);
    if (target === null || target === source || realms.realmOf(source)?.isRestricted !== true) return target;
    // Windows of other threads have no such member.
    return target._document !== undefined && isWithin(target._document._globalObject, source) ? target : null;
  };
}
