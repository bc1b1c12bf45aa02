'use strict';

// Methods of requests.

/** Those that mean the same in lower case. */
const NORMALIZED = /^(delete|get|head|options|post|put)$/i;

/** https://fetch.spec.whatwg.org/#concept-method-normalize @param {string} method */
function normalizedMethod(method) {
  return NORMALIZED.test(method) ? method.toUpperCase() : method;
}

module.exports = { normalizedMethod };
