'use strict';

// Structured fields: dictionaries and items, as far as the headers that are read here need them.
// https://www.rfc-editor.org/rfc/rfc9651
//
// A field with an error anywhere is ignored as a whole, as the RFC requires. Parameters are parsed and mean nothing.

/** A token, which differs from a string with the same characters. */
class Token {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }
}

/** @typedef {string | boolean | Token} Value numbers, dates, bytes and display strings are as they are written */

const KEY = String.raw`[a-z*][a-z0-9_\-.*]*`;
const STRING = String.raw`"(?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"`;
const VALUE = [
  String.raw`-?\d{1,12}\.\d{1,3}(?![\d.])`,
  String.raw`@?-?\d{1,15}(?![\d.])`,
  STRING,
  ':[A-Za-z0-9+/=]*:',
  String.raw`\?[01]`,
  String.raw`%"(?:[\x20-\x21\x23-\x24\x26-\x7e]|%[0-9a-f]{2})*"`,
  String.raw`[A-Za-z*][!#$%&'*+\-.^_\x60|~0-9A-Za-z:/]*`,
].join('|');
const PARAMETERS = `(?:; *${KEY}(?:=(?:${VALUE}))?)*`;
const ITEM = `(?:${VALUE})${PARAMETERS}`;
const LIST = String.raw`\( *(?:${ITEM}(?: +${ITEM})*)? *\)`;

const ONE_ITEM = new RegExp(`^ *(${VALUE})${PARAMETERS} *$`);
const ITEMS = new RegExp(`(${VALUE})${PARAMETERS}`, 'g');
const MEMBER = new RegExp(`(${KEY})(?:=(?:(${LIST})|(${VALUE})))?${PARAMETERS}[ \t]*(,[ \t]*(?=[^ \t])|$)`, 'y');

/** @param {string} text @returns {Value} */
function toValue(text) {
  if (text.startsWith('?')) return text === '?1';
  if (text.startsWith('"')) return text.slice(1, -1).replace(/\\(.)/g, '$1');
  return /^[A-Za-z*]/.test(text) ? new Token(text) : text;
}

/**
 * @param {string | null} text the values of a header, joined by commas
 * @returns {Map<string, Value | Value[]> | undefined} undefined when the field is missing or malformed
 */
function parseDictionary(text) {
  if (text === null) return undefined;
  /** @type {Map<string, Value | Value[]>} */
  const members = new Map();
  for (let at = /^ */.exec(text)?.[0].length ?? 0; at < text.length; at = MEMBER.lastIndex) {
    MEMBER.lastIndex = at;
    const match = MEMBER.exec(text);
    if (match === null) return undefined;
    const [, key, list, value] = match;
    if (list !== undefined)
      members.set(
        key,
        Array.from(list.matchAll(ITEMS), ([, item]) => toValue(item)),
      );
    else members.set(key, value === undefined || toValue(value));
  }
  return members;
}

/** @param {string | null} text as above @returns {Value | undefined} */
function parseItem(text) {
  const match = ONE_ITEM.exec(text ?? '');
  return match === null ? undefined : toValue(match[1]);
}

module.exports = { Token, parseDictionary, parseItem };
