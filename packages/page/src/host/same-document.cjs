'use strict';

const { withoutFragment } = require('../any-realm/claimed-url.cjs');
const { urlOf } = require('../fetch/url-text.cjs');

/** Whether two URLs differ by their fragments alone. @param {string} a @param {string} b */
function isSameDocument(a, b) {
  const [first, second] = [urlOf(a), urlOf(b)];
  return first !== undefined && second !== undefined && withoutFragment(first.href) === withoutFragment(second.href);
}

module.exports = { isSameDocument };
