'use strict';

// A message as a line of JSON that every reader accepts. `JSON.stringify` escapes lone surrogates, which pages can put into any text; strict
// readers refuse these escapes.

/** An escape of a lone surrogate, after the backslashes that escape each other. Pairs of surrogates are not escaped. */
const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/** @param {string} json */
function wellFormed(json) {
  return json.replace(LONE_SURROGATE, '$1\\ufffd');
}

/** @param {object} message */
function toLine(message) {
  return wellFormed(JSON.stringify(message));
}

/**
 * The answer to a request.
 *
 * @param {number} id of the request
 * @param {unknown} result
 */
function toAnswer(id, result) {
  return toLine({ id, result: result ?? null });
}

module.exports = { toAnswer, toLine };
