'use strict';

// V8 hashes no more than the length of a long text, so an object takes long to read that has many long keys. The same limit as in
// main-realm/reading-time.cjs, for JSON.

const LONG_KEY = 16_383;
const MAX_LONG_KEYS = 16;

const BACKSLASH = '\\'.charCodeAt(0);
const COLON = ':'.charCodeAt(0);

/** Whether a quotation mark belongs to a text. @param {string} json @param {number} at */
function isEscaped(json, at) {
  let before = at;
  while (json.charCodeAt(before - 1) === BACKSLASH) before -= 1;
  return (at - before) % 2 === 1;
}

/** @param {string} json @param {number} from */
function skipSpace(json, from) {
  let at = from;
  while (json.charCodeAt(at) <= 32) at += 1;
  return json.charCodeAt(at);
}

/** How many keys take more than `LONG_KEY` characters. @param {string} json which may be damaged */
function countLongKeys(json) {
  let count = 0;
  let begin = json.indexOf('"');
  while (begin >= 0) {
    let end = json.indexOf('"', begin + 1);
    while (end >= 0 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
    if (end < 0) break;
    if (end - begin - 1 > LONG_KEY && skipSpace(json, end + 1) === COLON) count += 1;
    begin = json.indexOf('"', end + 1);
  }
  return count;
}

module.exports = { LONG_KEY, MAX_LONG_KEYS, countLongKeys };
