'use strict';

// Long keys in JSON: an object takes long to read that has many of them. The same limit as main-realm/reading-time.cjs has for other results.

const { LONG_TEXT } = require('../any-realm/long-texts.cjs');

const BACKSLASH = '\\'.charCodeAt(0);
const COLON = ':'.charCodeAt(0);

/** Whether a quotation mark is part of a text, and does not end it. @param {string} json @param {number} at */
function isEscaped(json, at) {
  let before = at;
  while (json.charCodeAt(before - 1) === BACKSLASH) before -= 1;
  return (at - before) % 2 === 1;
}

/** The character code after white space. @param {string} json @param {number} from */
function codeAfterSpace(json, from) {
  let at = from;
  while (json.charCodeAt(at) <= 32) at += 1;
  return json.charCodeAt(at);
}

/** How many keys are long, as written. @param {string} json which may be damaged */
function countLongKeys(json) {
  let count = 0;
  let begin = json.indexOf('"');
  while (begin >= 0) {
    let end = json.indexOf('"', begin + 1);
    while (end >= 0 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
    if (end < 0) break;
    if (end - begin - 1 > LONG_TEXT && codeAfterSpace(json, end + 1) === COLON) count += 1;
    begin = json.indexOf('"', end + 1);
  }
  return count;
}

module.exports = { countLongKeys };
