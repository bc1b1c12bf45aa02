'use strict';

// data: URLs. https://fetch.spec.whatwg.org/#data-urls

const { dataUrls } = require('./jsdom-packages.cjs');
const { NetworkError } = require('./request.cjs');

/**
 * @param {URL} url
 * @returns {import('./request.cjs').BlobContent}
 * @throws {NetworkError}
 */
function decodeDataUrl(url) {
  // The package takes a URL record of `whatwg-url`: parsing a long URL with that one takes seconds.
  const path = url.href.slice('data:'.length, url.href.length - url.hash.length);
  const rest = { username: '', password: '', host: null, port: null, query: null, fragment: null };
  const content = dataUrls().fromURLRecord({ scheme: 'data', path, ...rest });
  if (content === null) throw new NetworkError('the data: URL is malformed');
  return { type: String(content.mimeType), bytes: content.body };
}

module.exports = { decodeDataUrl };
