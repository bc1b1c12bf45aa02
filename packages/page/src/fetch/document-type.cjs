'use strict';

// Which responses become documents, and of which type. Servers rely on it: what they serve as a file to save, or as
// text, may be of anybody.

const { getHeader, isNosniff, splitAtCommas } = require('./headers.cjs');
const { parseMimeType } = require('./mime-type.cjs');

/** @typedef {import('./headers.cjs').HeaderList} HeaderList */

/**
 * Why a response is no document.
 * https://html.spec.whatwg.org/multipage/browsing-the-web.html#process-a-navigate-response
 *
 * @param {{ status?: number | undefined, headers: HeaderList }} response of the network
 * @returns {string | undefined} undefined when it is one
 */
function whyNoDocument({ status, headers }) {
  if (status === 204 || status === 205) return `it answered ${status}, so there is nothing to show`;
  // Unknown types are like `attachment`. Some servers leave the type out.
  // https://www.rfc-editor.org/rfc/rfc6266#section-4.2
  const [, disposition = ''] = /^\s*([^;\s]*)/.exec(getHeader(headers, 'content-disposition') ?? '') ?? [];
  const isShown = /^(inline)?$|=/i.test(disposition);
  return isShown ? undefined : 'it is to be saved and not to be shown (Content-Disposition)';
}

/**
 * How text begins that is HTML or XML, if its type is not known.
 * https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type
 */
const HTML =
  /^[\t\n\f\r ]*<(?:(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[ >]|!--)/i;
const XML = /^[\t\n\f\r ]*<\?xml/;
/** So much of it is looked at. https://mimesniff.spec.whatwg.org/#read-the-resource-header */
const SNIFFED = 1_445;

/**
 * The MIME type of a document: the last valid one. https://fetch.spec.whatwg.org/#concept-header-extract-mime-type
 *
 * @param {HeaderList} headers of the network
 * @param {Uint8Array | null} [body]
 */
function documentType(headers, body) {
  const last = headers
    .filter(([name]) => name === 'content-type')
    .flatMap(([, value]) => splitAtCommas(value))
    .map(parseMimeType)
    .findLast((type) => type !== null && type.essence !== '*/*');
  if (last) return String(last);
  // Browsers look into such a response, unless they must not.
  if (isNosniff(headers)) return 'text/plain';
  const begin = Buffer.from(body?.subarray(0, SNIFFED) ?? []).toString('latin1');
  if (HTML.test(begin)) return 'text/html';
  return XML.test(begin) ? 'text/xml' : 'text/plain';
}

module.exports = { documentType, whyNoDocument };
