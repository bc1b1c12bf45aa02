'use strict';

// JSON of a page that this thread passes on as text. It can have millions of values, so only the reader of the lines, which counts them first,
// makes them.

const { CommandError } = require('./command-error.cjs');

/** JSON has them as escapes. As they are, they would make the line six times as long. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are looked for
const CONTROL_CHARACTER = /[\0-\x1f]/;

/** The longest JSON that this thread reads itself, and the longest of a text alone. */
const MAX_READ = 1_000;
const MAX_READ_TEXT = 4 << 20;

class JsonText {
  /** @param {unknown} given of a DOM realm, which a page can have taken over @throws {CommandError} `unknown error` */
  constructor(given) {
    if (typeof given !== 'string' || CONTROL_CHARACTER.test(given)) throw unreadable();
    // `JSON.rawJSON` can hold lone surrogates as they are, of which each would become six characters in the line.
    this.text = given.toWellFormed();
  }

  /** The value of a short one, or of one that is a text. @throws {CommandError} `unknown error` */
  read() {
    if (this.text.length > (this.text.startsWith('"') ? MAX_READ_TEXT : MAX_READ)) throw unreadable();
    try {
      return JSON.parse(this.text);
    } catch {
      throw unreadable();
    }
  }
}

function unreadable() {
  return new CommandError('unknown error', "the page's answer cannot be read");
}

module.exports = { JsonText };
