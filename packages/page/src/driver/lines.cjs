'use strict';

// A message as a line of JSON that every reader accepts. `JSON.stringify` escapes lone surrogates, which pages can put into any text; strict
// readers refuse these escapes.

/** An escape of a lone surrogate, after the backslashes that escape each other. Pairs of surrogates are not escaped. */
const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/** @param {object} message */
function toLine(message) {
  return JSON.stringify(message).replace(LONE_SURROGATE, '$1\\ufffd');
}

module.exports = { toLine };
