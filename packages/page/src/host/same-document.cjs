'use strict';

const { withoutFragment } = require('../any-realm/claimed-url.cjs');

/** Whether two URLs differ by their fragments alone. @param {string} a @param {string} b */
function isSameDocument(a, b) {
  const [first, second] = [URL.parse(a), URL.parse(b)];
  return first !== null && second !== null && withoutFragment(first.href) === withoutFragment(second.href);
}

module.exports = { isSameDocument };
