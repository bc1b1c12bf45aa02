'use strict';

// Structured fields: dictionaries and items. https://www.rfc-editor.org/rfc/rfc9651
//
// Parsing is strict, as the RFC requires: a field with an error anywhere is ignored as a whole.

/** @typedef {string | number | boolean | Date | Buffer | Token} BareItem */
/** @typedef {Map<string, BareItem>} Parameters */
/** @typedef {{ value: BareItem, parameters: Parameters }} Item */
/** @typedef {{ value: BareItem | Item[], parameters: Parameters }} Member an item or an inner list */

const KEY = /[a-z*][a-z0-9_\-.*]*/y;
const TOKEN = /[A-Za-z*][!#$%&'*+\-.^_`|~0-9A-Za-z:/]*/y;
const DECIMAL = /-?\d{1,12}\.\d{1,3}(?![\d.])/y;
const INTEGER = /-?\d{1,15}(?![\d.])/y;
const STRING = /"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"/y;
const BYTES = /:([A-Za-z0-9+/=]*):/y;
const BOOLEAN = /\?([01])/y;
const DATE = /@(-?\d{1,15})(?![\d.])/y;
const DISPLAY = /%"((?:[\x20-\x21\x23-\x24\x26-\x7e]|%[0-9a-f]{2})*)"/y;

/** A token, which differs from a string with the same characters. */
class Token {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }
}

class Malformed extends Error {}

class Parser {
  #text;
  #at = 0;

  /** @param {string} text */
  constructor(text) {
    this.#text = text;
  }

  /** @param {RegExp} pattern a sticky one */
  #match(pattern) {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match !== null) this.#at = pattern.lastIndex;
    return match;
  }

  /** @param {string} character */
  #take(character) {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  /** @param {string} characters */
  #skip(characters) {
    while (this.#at < this.#text.length && characters.includes(this.#text[this.#at])) this.#at += 1;
  }

  #key() {
    const match = this.#match(KEY);
    if (match === null) throw new Malformed();
    return match[0];
  }

  /** https://www.rfc-editor.org/rfc/rfc9651#name-parsing-a-dictionary */
  dictionary() {
    /** @type {Map<string, Member>} */
    const members = new Map();
    this.#skip(' ');
    while (this.#at < this.#text.length) {
      const key = this.#key();
      const member = this.#take('=') ? this.#itemOrInnerList() : { value: true, parameters: this.#parameters() };
      // A repeated key moves to the end.
      members.delete(key);
      members.set(key, member);
      this.#skip(' \t');
      if (this.#at === this.#text.length) return members;
      if (!this.#take(',')) throw new Malformed();
      this.#skip(' \t');
      if (this.#at === this.#text.length) throw new Malformed();
    }
    return members;
  }

  /** @returns {Member} */
  #itemOrInnerList() {
    if (!this.#take('(')) return this.item();
    /** @type {Item[]} */
    const items = [];
    for (;;) {
      this.#skip(' ');
      if (this.#take(')')) return { value: items, parameters: this.#parameters() };
      items.push(this.item());
      if (this.#text[this.#at] !== ' ' && this.#text[this.#at] !== ')') throw new Malformed();
    }
  }

  /** @returns {Item} */
  item() {
    return { value: this.#bareItem(), parameters: this.#parameters() };
  }

  #parameters() {
    /** @type {Parameters} */
    const parameters = new Map();
    while (this.#take(';')) {
      this.#skip(' ');
      const key = this.#key();
      const value = this.#take('=') ? this.#bareItem() : true;
      parameters.delete(key);
      parameters.set(key, value);
    }
    return parameters;
  }

  /** @returns {BareItem} */
  #bareItem() {
    const number = this.#match(DECIMAL) ?? this.#match(INTEGER);
    if (number !== null) return Number(number[0]);
    const string = this.#match(STRING);
    if (string !== null) return string[1].replace(/\\(["\\])/g, '$1');
    const bytes = this.#match(BYTES);
    if (bytes !== null) return Buffer.from(bytes[1], 'base64');
    const boolean = this.#match(BOOLEAN);
    if (boolean !== null) return boolean[1] === '1';
    const date = this.#match(DATE);
    if (date !== null) return new Date(Number(date[1]) * 1_000);
    const display = this.#match(DISPLAY);
    if (display !== null) return displayString(display[1]);
    const token = this.#match(TOKEN);
    if (token !== null) return new Token(token[0]);
    throw new Malformed();
  }

  end() {
    this.#skip(' ');
    if (this.#at !== this.#text.length) throw new Malformed();
  }
}

/** @param {string} text */
function displayString(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Malformed();
  }
}

/**
 * @template Value
 * @param {string | null} text
 * @param {(parser: Parser) => Value} read
 * @returns {Value | undefined} `undefined` when the field is missing or malformed
 */
function parse(text, read) {
  if (text === null) return undefined;
  try {
    const parser = new Parser(text);
    const value = read(parser);
    parser.end();
    return value;
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

/** @param {string | null} text the values of a header, joined by commas */
function parseDictionary(text) {
  return parse(text, (parser) => parser.dictionary());
}

/** @param {string | null} text as above */
function parseItem(text) {
  return parse(text === null ? null : text.replace(/^ +/, ''), (parser) => parser.item());
}

module.exports = { Token, parseDictionary, parseItem };
