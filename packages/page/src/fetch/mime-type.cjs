'use strict';

// MIME types. https://mimesniff.spec.whatwg.org/

const { whatwgMimetype } = require('./jsdom-packages.cjs');

/**
 * The longest MIME type that is parsed, in characters. The parser's time grows with the square of the length, and types come from
 * servers and pages.
 */
const MAX_LENGTH = 1_024;

/**
 * @param {string | null | undefined} text
 * @returns {import('whatwg-mimetype').MIMEType | null} `null` when it is no MIME type
 */
function parseMimeType(text) {
  if (text === null || text === undefined || text.length > MAX_LENGTH) return null;
  return whatwgMimetype().MIMEType.parse(text);
}

/** `type/subtype` in lower case; empty when it is no MIME type. @param {string | null | undefined} text */
function essence(text) {
  return parseMimeType(text)?.essence ?? '';
}

/** The encoding label of a MIME type. @param {string | null | undefined} text */
function charset(text) {
  return parseMimeType(text)?.parameters.get('charset');
}

/** @param {string | null | undefined} text */
function isJavaScript(text) {
  return parseMimeType(text)?.isJavaScript() ?? false;
}

/** @param {string | null | undefined} text */
function isJson(text) {
  return /^(application|text)\/json$|\+json$/.test(essence(text));
}

/** @param {string | null | undefined} text */
function isImageAudioVideoOrCsv(text) {
  return /^(image|audio|video)\/|^text\/csv$/.test(essence(text));
}

module.exports = { MAX_LENGTH, charset, essence, isImageAudioVideoOrCsv, isJavaScript, isJson, parseMimeType };
