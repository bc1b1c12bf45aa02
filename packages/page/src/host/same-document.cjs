'use strict';

const { withoutFragment } = require('../fetch/without-fragment.cjs');

/** Whether two URLs differ by their fragments alone. @param {string} a @param {string} b */
function isSameDocument(a, b) {
  return withoutFragment(new URL(a).href) === withoutFragment(new URL(b).href);
}

module.exports = { isSameDocument };
