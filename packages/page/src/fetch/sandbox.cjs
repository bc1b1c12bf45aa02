'use strict';

// Sandboxed frames: what the attribute `sandbox` of a frame element says, and what follows.
// https://html.spec.whatwg.org/multipage/browsers.html#sandboxing
//
// Only two of HTML's flags make a difference in these pages: no link of a sandboxed frame navigates the page around it,
// whatever the attribute says (see page/hyperlinks.cjs), and no frame can open windows or show dialogs. Scripts of the
// page's own origin can do what the page can.

/**
 * What a document may do.
 *
 * @typedef {object} Sandbox
 * @property {boolean} allowsScripts
 * @property {boolean} allowsSameOrigin whether its origin is that of its URL, and not an opaque one
 */

/** Of documents outside of sandboxed frames. @type {Readonly<Sandbox>} */
const UNRESTRICTED = Object.freeze({ allowsScripts: true, allowsSameOrigin: true });

/**
 * @param {string | null} attribute of the frame element
 * @returns {Sandbox}
 */
function readSandbox(attribute) {
  if (attribute === null) return UNRESTRICTED;
  const tokens = attribute.toLowerCase().split(/[\t\n\f\r ]+/);
  return { allowsScripts: tokens.includes('allow-scripts'), allowsSameOrigin: tokens.includes('allow-same-origin') };
}

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

module.exports = { UNRESTRICTED, combine, isRestricted, readSandbox };
