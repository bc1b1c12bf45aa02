'use strict';

// Shows values of pages as text, for the console.

const util = require('node:util');

/** A page's own `inspect` methods are not called, and its getters do not run. */
const OPTIONS = { customInspect: false, depth: 3, maxStringLength: 10_000 };

/** A value as a console shows it in an argument list. @param {unknown} value */
function inspect(value) {
  return util.inspect(value, OPTIONS);
}

module.exports = { OPTIONS, inspect };
