'use strict';

/** The URL of a resource, whatever part of it is asked for. @param {string} url */
function withoutFragment(url) {
  const end = url.indexOf('#');
  return end === -1 ? url : url.slice(0, end);
}

module.exports = { withoutFragment };
