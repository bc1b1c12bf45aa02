'use strict';

// Requests and responses that are blocked for all clients: by port, and scripts also by MIME type.

const { getHeader, isNosniff } = require('./headers.cjs');
const { isImageAudioVideoOrCsv, isJavaScript } = require('./mime-type.cjs');

const SCRIPT_LIKE = new Set(['script', 'worker', 'module', 'sharedworker']);

/** https://fetch.spec.whatwg.org/#port-blocking */
const BAD_PORTS = new Set(
  (
    '0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 ' +
    '137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 ' +
    '1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080'
  ).split(' '),
);

/** @param {URL} url */
function isBlockedByPort(url) {
  return BAD_PORTS.has(url.port);
}

/**
 * https://fetch.spec.whatwg.org/#should-response-to-request-be-blocked-due-to-mime-type?
 * https://fetch.spec.whatwg.org/#should-response-to-request-be-blocked-due-to-nosniff?
 *
 * @param {{ headers: import('./headers.cjs').HeaderList }} response
 * @param {string} destination of the request
 */
function isBlockedByType({ headers }, destination) {
  if (!SCRIPT_LIKE.has(destination)) return false;
  const type = getHeader(headers, 'content-type');
  if (isImageAudioVideoOrCsv(type)) return true;
  return isNosniff(headers) && !isJavaScript(type);
}

module.exports = { isBlockedByPort, isBlockedByType };
