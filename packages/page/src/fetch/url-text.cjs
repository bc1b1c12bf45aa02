'use strict';

// URLs of pages and servers, as text that may be anything.

/**
 * The host of a URL of a scheme that has hosts, if it is long. Node 22 takes quadratic time for it: more than a minute for a megabyte of
 * characters that are not ASCII.
 */
const LONG_HOST = /^[\0-\x20]*(?:blob:[\0-\x20]*)*(?:(?:https?|wss?|ftp|file):[/\\]*|[/\\]{2,})[^/\\?#]{1025}/i;

/** What the parser of URLs takes out. */
const IGNORED = /[\t\n\r]/g;

/**
 * @param {string} text
 * @param {URL} [base]
 * @returns {URL | undefined} undefined for what is no URL, or has a host of more than 1,024 characters
 */
function urlOf(text, base) {
  if (LONG_HOST.test(text.replace(IGNORED, ''))) return undefined;
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** Why a text is none. */
const NO_URL = 'it is no URL, is too long, or has a host of more than 1,024 characters';

module.exports = { NO_URL, urlOf };
