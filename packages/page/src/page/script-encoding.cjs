'use strict';

/**
 * Decodes the source of a classic script. https://encoding.spec.whatwg.org/#decode
 *
 * @param {Uint8Array} bytes
 * @param {string} label of the encoding when there is no byte order mark; UTF-8 when the label names no encoding
 */
function decodeScript(bytes, label) {
  try {
    return new TextDecoder(sniffByteOrderMark(bytes) ?? label).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** https://encoding.spec.whatwg.org/#bom-sniff @param {Uint8Array} bytes */
function sniffByteOrderMark(bytes) {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return undefined;
}

module.exports = { decodeScript };
