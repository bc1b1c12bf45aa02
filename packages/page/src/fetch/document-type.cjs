'use strict';

// Which responses become documents, and of which type. Servers rely on it: what they serve as a file to save, or as text, may be of anybody.

const { getHeader } = require('./headers.cjs');
const { MAX_LENGTH, parseMimeType } = require('./mime-type.cjs');

/** @typedef {import('./headers.cjs').HeaderList} HeaderList */

/**
 * Why a response is no document. https://html.spec.whatwg.org/multipage/browsing-the-web.html#process-a-navigate-response
 *
 * @param {{ status?: number | undefined, headers: HeaderList }} response of the network
 * @returns {string | undefined} undefined when it is one
 */
function whyNoDocument({ status, headers }) {
  if (status === 204 || status === 205) return `it answered ${status}, so there is nothing to show`;
  // Unknown types are like `attachment`. Some servers leave the type out. https://www.rfc-editor.org/rfc/rfc6266#section-4.2
  const [, disposition = ''] = /^\s*([^;\s]*)/.exec(getHeader(headers, 'content-disposition') ?? '') ?? [];
  const isShown = /^(inline)?$|=/i.test(disposition);
  return isShown ? undefined : 'it is to be saved and not to be shown (Content-Disposition)';
}

/**
 * The MIME type of a document: the last valid one. https://fetch.spec.whatwg.org/#concept-header-extract-mime-type
 *
 * @param {HeaderList} headers of the network
 */
function documentType(headers) {
  const types = headers
    .filter(([name]) => name === 'content-type')
    .flatMap(([, value]) => value.split(','))
    // Parameters that are cut off do not matter.
    .map((value) => parseMimeType(value.slice(0, MAX_LENGTH)))
    .filter((type) => type !== null && type.essence !== '*/*');
  const last = types.at(-1);
  if (last) return String(last);
  // Browsers look into such a response, unless they must not.
  const isSniffed = !/^\s*nosniff\s*(,|$)/i.test(getHeader(headers, 'x-content-type-options') ?? '');
  return isSniffed ? 'text/html' : 'text/plain';
}

module.exports = { documentType, whyNoDocument };
