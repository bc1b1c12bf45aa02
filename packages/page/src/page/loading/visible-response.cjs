'use strict';

// What a page gets of a response. https://fetch.spec.whatwg.org/#concept-filtered-response
//
// Images and style sheets of other origins are rendered, though a page must not read them. jsdom gets the size of an
// image, and the text of a style sheet; one of another origin needs the type of a style sheet in any case.

const { visibleHeaders } = require('../../fetch/cors.cjs');
const { getHeader } = require('../../fetch/headers.cjs');
const { essence } = require('../../fetch/mime-type.cjs');
const { NetworkError } = require('../../fetch/request.cjs');
const { imageSize } = require('./image-size.cjs');

/** @typedef {import('../../fetch/request.cjs').Response} Response */

/**
 * A response as a page may see it.
 *
 * @typedef {Omit<Response, 'timing'> & { size?: { width: number, height: number } }} VisibleResponse `size` is that of
 *   an image
 */

/** Of a response that a page must not read. */
const OPAQUE = { url: '', redirected: false, status: 0, statusText: '', headers: [], body: new Uint8Array() };

/**
 * @param {Response} response
 * @param {{ destination: string, credentials: string }} request
 * @returns {VisibleResponse}
 * @throws {NetworkError}
 */
function visibleResponse(response, { destination, credentials }) {
  const { type, url, redirected, status, statusText, headers: all, body } = response;
  // CORS makes no difference: nothing but the size is of use.
  if (destination === 'image')
    return { ...OPAQUE, type, size: imageSize(body, essence(getHeader(all, 'content-type'))) };
  if (type === 'opaque' && destination === 'style') return { ...OPAQUE, type, body: styleSheetOf(response) };
  if (type === 'opaque' || type === 'opaqueredirect') return { ...OPAQUE, type };
  return { type, url, redirected, status, statusText, headers: visibleHeaders(response, credentials), body };
}

/** The text of a style sheet of another origin. @param {Response} response @throws {NetworkError} */
function styleSheetOf({ url, status, headers, body }) {
  if (status < 200 || status > 299) throw new NetworkError(`${url} answered ${status}`);
  const type = getHeader(headers, 'content-type');
  if (essence(type) !== 'text/css')
    throw new NetworkError(`${url} is served as '${type ?? ''}', which is not text/css`);
  return body;
}

module.exports = { visibleResponse };
