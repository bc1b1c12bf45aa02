'use strict';

// MIME types. https://mimesniff.spec.whatwg.org/

const { whatwgMimetype } = require('./jsdom-packages.cjs');

/**
 * @param {string | null | undefined} text
 * @returns {import('whatwg-mimetype').MIMEType | null} `null` when it is no MIME type
 */
function parseMimeType(text) {
  return text === null || text === undefined ? null : whatwgMimetype().MIMEType.parse(text);
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

module.exports = { charset, essence, isImageAudioVideoOrCsv, isJavaScript, isJson, parseMimeType };
