'use strict';

// Sandboxed frames. https://html.spec.whatwg.org/multipage/browsers.html#sandboxing

const { UNRESTRICTED } = require('./sandbox-attribute.cjs');

/** @typedef {import('./sandbox-attribute.cjs').Sandbox} Sandbox */

/** A frame may do no more than the document around it. @param {(Sandbox | undefined)[]} sandboxes @returns {Sandbox} */
function combine(...sandboxes) {
  const all = sandboxes.map((sandbox) => sandbox ?? UNRESTRICTED);
  return {
    allowsScripts: all.every(({ allowsScripts }) => allowsScripts),
    allowsSameOrigin: all.every(({ allowsSameOrigin }) => allowsSameOrigin),
  };
}

/** @param {Sandbox | undefined} sandbox */
function isRestricted(sandbox) {
  return sandbox !== undefined && !(sandbox.allowsScripts && sandbox.allowsSameOrigin);
}

module.exports = { combine, isRestricted };
