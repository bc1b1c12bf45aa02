'use strict';

// Numbers and texts from hostile realms. Other values are not converted to them: that would run code of a page, and what it gets would be
// made in the main realm.

/** @param {unknown} value @returns {number} NaN for what is no number */
function numberOf(value) {
  return typeof value === 'number' ? value : Number.NaN;
}

/** @param {unknown} value @returns {string} empty for what is no text */
function textOf(value) {
  return typeof value === 'string' ? value : '';
}

module.exports = { numberOf, textOf };
