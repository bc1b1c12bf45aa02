'use strict';

// data: URLs. https://fetch.spec.whatwg.org/#data-urls
//
// The package `data-urls` is given what stands before the comma alone: it takes 20 seconds for a URL of 4 MB, because it parses URLs
// character by character. What stands after the comma is decoded in time that grows with its length.

const { dataUrls, whatwgUrl } = require('./jsdom-packages.cjs');
const { MAX_LENGTH } = require('./mime-type.cjs');
const { NetworkError } = require('./request.cjs');

/** The longest data: URL that is decoded, in characters. Pages can have the user's thread decode one, for a frame or a worker. */
const MAX_URL = 32 << 20;

/** A body that is three bytes long in base64 and four otherwise. */
const PROBE = 'AAAA';

/**
 * @param {URL} url
 * @returns {import('./request.cjs').BlobContent}
 * @throws {NetworkError}
 */
function decodeDataUrl(url) {
  const end = url.href.length - url.hash.length;
  if (end > MAX_URL) throw new NetworkError(`the data: URL is longer than ${MAX_URL} characters`);
  const comma = url.href.indexOf(',');
  if (comma === -1 || comma >= end) throw new NetworkError('the data: URL has no comma');
  if (comma > MAX_LENGTH)
    throw new NetworkError(`the MIME type of the data: URL is longer than ${MAX_LENGTH} characters`);
  const type = url.href.slice('data:'.length, comma);
  const { mimeType, body } = dataUrls().fromURLRecord(urlRecord(`${type},${PROBE}`)) ?? {};
  if (mimeType === undefined || body === undefined) throw new NetworkError('the data: URL is malformed');
  const bytes = whatwgUrl().percentDecodeString(url.href.slice(comma + 1, end));
  const isBase64 = body.length !== PROBE.length;
  return { type: String(mimeType), bytes: isBase64 ? decodeBase64(bytes) : bytes };
}

/** A URL record of the package `whatwg-url`. https://url.spec.whatwg.org/#concept-url @param {string} path */
function urlRecord(path) {
  return { scheme: 'data', username: '', password: '', host: null, port: null, path, query: null, fragment: null };
}

/** https://infra.spec.whatwg.org/#forgiving-base64-decode @param {Uint8Array} bytes */
function decodeBase64(bytes) {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  try {
    return new Uint8Array(Buffer.from(atob(text), 'latin1'));
  } catch {
    throw new NetworkError('the data: URL is not valid base64');
  }
}

module.exports = { decodeDataUrl };
