'use strict';

// Attributes of HTMLIFrameElement that jsdom lacks: `sandbox`, `allow`, `loading` and `referrerPolicy`.
// https://html.spec.whatwg.org/multipage/iframe-embed-object.html#the-iframe-element

const HTMLIFrameElement = require('jsdom/lib/generated/idl/HTMLIFrameElement.js');
const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const conversions = require('webidl-conversions');

const { enumerated, referrerPolicyOf } = require('./frame-referrer.cjs');

/** @typedef {Jsdom.ElementImpl & { _sandboxTokens: object }} IframeImpl */

const LOADING = ['eager', 'lazy'];

/** @type {Record<string, { get: (frame: IframeImpl) => unknown, set: (frame: IframeImpl, value: string) => void }>} */
const ATTRIBUTES = {
  sandbox: {
    get: (frame) => idlUtils.wrapperForImpl(frame._sandboxTokens),
    set: (frame, value) => {
      idlUtils.wrapperForImpl(frame._sandboxTokens).value = value;
    },
  },
  referrerPolicy: { get: referrerPolicyOf, set: reflect('referrerpolicy') },
  allow: { get: (frame) => frame.getAttributeNS(null, 'allow') ?? '', set: reflect('allow') },
  loading: {
    // `auto` is Chromium's: in the standard, the attribute is `eager` by default.
    get: (frame) => enumerated(frame.getAttributeNS(null, 'loading'), LOADING, 'auto'),
    set: reflect('loading'),
  },
};

/** @param {string} name of the content attribute */
function reflect(name) {
  return (/** @type {IframeImpl} */ frame, /** @type {string} */ value) => frame.setAttributeNS(null, name, value);
}

/** @param {import('../windows/page-window.cjs').PageWindow} pageWindow */
function installIframeAttributes({ window, code }) {
  const implOf = (/** @type {unknown} */ element) => {
    if (!HTMLIFrameElement.is(element)) throw new window.TypeError('Illegal invocation');
    return idlUtils.implForWrapper(element);
  };
  for (const [name, { get, set }] of Object.entries(ATTRIBUTES)) {
    const getter = code.wrap(
      `get ${name}`,
      /** @this {unknown} */
      function getAttribute() {
        return get(implOf(this));
      },
      0,
    );
    const setter = code.wrap(
      `set ${name}`,
      /** @this {unknown} @param {unknown} value */
      function setAttribute(value) {
        const context = `Failed to set the '${name}' property on 'HTMLIFrameElement': The provided value`;
        set(implOf(this), conversions.DOMString(value, { context, globals: window }));
      },
      1,
    );
    Object.defineProperty(window.HTMLIFrameElement.prototype, name, {
      get: getter,
      set: setter,
      enumerable: true,
      configurable: true,
    });
  }
}

module.exports = { installIframeAttributes };
