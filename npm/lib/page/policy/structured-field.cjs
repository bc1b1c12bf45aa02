'use strict';

// Structured fields: dictionaries, and the items in them. https://www.rfc-editor.org/rfc/rfc9651
//
// Parsing is strict, as the RFC wants it: a field that is wrong anywhere says nothing at all.

const KEY = /[a-z*][a-z0-9_\-.*]*/y;
const TOKEN = /[A-Za-z*][!#$%&'*+\-.^_`|~0-9A-Za-z:/]*/y;
const DECIMAL = /-?\d{1,12}\.\d{1,3}(?![\d.])/y;
const INTEGER = /-?\d{1,15}(?![\d.])/y;
const STRING = /"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"/y;
const BYTES = /:([A-Za-z0-9+/=]*):/y;
const BOOLEAN = /\?([01])/y;
const DATE = /@(-?\d{1,15})(?![\d.])/y;
const DISPLAY = /%"((?:[\x20-\x21\x23-\x24\x26-\x7e]|%[0-9a-f]{2})*)"/y;

/** A token, which is not the string of the same letters. */
class Token {
  constructor(text) {
    this.text = text;
  }
}

class Malformed extends Error {}

class Parser {
  #text;
  #at = 0;

  constructor(text) {
    this.#text = text;
  }

  #match(pattern) {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match !== null) this.#at = pattern.lastIndex;
    return match;
  }

  #take(character) {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

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
    const members = new Map();
    this.#skip(' ');
    while (this.#at < this.#text.length) {
      const key = this.#key();
      const member = this.#take('=') ? this.#itemOrInnerList() : { value: true, parameters: this.#parameters() };
      // Set anew, a key moves to the end.
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

  #itemOrInnerList() {
    if (!this.#take('(')) return this.item();
    const items = [];
    for (;;) {
      this.#skip(' ');
      if (this.#take(')')) return { value: items, parameters: this.#parameters() };
      items.push(this.item());
      if (this.#text[this.#at] !== ' ' && this.#text[this.#at] !== ')') throw new Malformed();
    }
  }

  item() {
    return { value: this.#bareItem(), parameters: this.#parameters() };
  }

  #parameters() {
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

  #bareItem() {
    let match;
    if ((match = this.#match(DECIMAL) ?? this.#match(INTEGER)) !== null) return Number(match[0]);
    if ((match = this.#match(STRING)) !== null) return match[1].replace(/\\(["\\])/g, '$1');
    if ((match = this.#match(BYTES)) !== null) return Buffer.from(match[1], 'base64');
    if ((match = this.#match(BOOLEAN)) !== null) return match[1] === '1';
    if ((match = this.#match(DATE)) !== null) return new Date(Number(match[1]) * 1_000);
    if ((match = this.#match(DISPLAY)) !== null) return displayString(match[1]);
    if ((match = this.#match(TOKEN)) !== null) return new Token(match[0]);
    throw new Malformed();
  }

  end() {
    this.#skip(' ');
    if (this.#at !== this.#text.length) throw new Malformed();
  }
}

function displayString(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Malformed();
  }
}

/** Whatever is wrong with a field is wrong with all of it. */
function parse(text, read) {
  if (typeof text !== 'string') return undefined;
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

/**
 * @param {string | null} text a header's values, joined by commas
 * @returns {Map<string, { value: unknown, parameters: Map<string, unknown> }> | undefined} undefined when it is no dictionary
 */
function parseDictionary(text) {
  return parse(text, (parser) => parser.dictionary());
}

/** @returns {{ value: unknown, parameters: Map<string, unknown> } | undefined} */
function parseItem(text) {
  return parse(text?.replace?.(/^ +/, '') ?? null, (parser) => parser.item());
}

module.exports = { Token, parseDictionary, parseItem };
