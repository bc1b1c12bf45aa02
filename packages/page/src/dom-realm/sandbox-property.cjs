'use strict';

// `sandbox` of HTMLIFrameElement, which jsdom lacks. https://html.spec.whatwg.org/multipage/iframe-embed-object.html#dom-iframe-sandbox

const HTMLIFrameElement = require('jsdom/lib/generated/idl/HTMLIFrameElement.js');
const idlUtils = require('jsdom/lib/generated/idl/utils.js');

/** @param {import('./window-realms.cjs').WindowRealm} realm */
function installSandbox({ window, code }) {
  const tokensOf = (/** @type {unknown} */ element) => {
    if (!HTMLIFrameElement.is(element)) throw new window.TypeError('Illegal invocation');
    return idlUtils.wrapperForImpl(idlUtils.implForWrapper(element)._sandboxTokens);
  };
  Object.defineProperty(window.HTMLIFrameElement.prototype, 'sandbox', {
    get: code.wrap(
      'get sandbox',
      /** @this {unknown} */
      function getSandbox() {
        return tokensOf(this);
      },
      0,
    ),
    set: code.wrap(
      'set sandbox',
      /** @this {unknown} @param {unknown} value */
      function setSandbox(value) {
        tokensOf(this).value = value;
      },
      1,
    ),
    enumerable: true,
    configurable: true,
  });
}

module.exports = { installSandbox };
