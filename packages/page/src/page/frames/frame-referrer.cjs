'use strict';

// The attribute `referrerpolicy` of frame elements.

const { parseURL, serializeURLOrigin } = require('whatwg-url');

const { REFERRER_POLICIES } = require('../../fetch/referrer-policies.cjs');

/**
 * The known value of an enumerated attribute.
 * https://html.spec.whatwg.org/multipage/common-dom-interfaces.html#reflecting-content-attributes-in-idl-attributes
 *
 * @param {string | null} value
 * @param {string[]} known
 * @param {string} fallback for a missing or an unknown value
 */
function enumerated(value, known, fallback) {
  const text = (value ?? fallback).replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return known.includes(text) ? text : fallback;
}

/** Empty for the default. @param {{ getAttributeNS(namespace: null, name: string): string | null }} frame */
function referrerPolicyOf(frame) {
  return enumerated(frame.getAttributeNS(null, 'referrerpolicy'), REFERRER_POLICIES, '');
}

/**
 * What the request for a frame's document names as its referrer at most: the default policy is applied later.
 * https://w3c.github.io/webappsec-referrer-policy/#determine-requests-referrer
 *
 * @param {Jsdom.ElementImpl} frame
 * @param {string} url
 */
function frameReferrer(frame, url) {
  const { URL: own, _URL: record } = frame._ownerDocument;
  const origin = serializeURLOrigin(record);
  switch (referrerPolicyOf(frame)) {
    case 'no-referrer':
      return '';
    case 'origin':
    case 'strict-origin':
      return `${origin}/`;
    case 'same-origin': {
      const target = parseURL(url);
      return target !== null && serializeURLOrigin(target) === origin ? own : '';
    }
    default:
      return own;
  }
}

module.exports = { enumerated, frameReferrer, referrerPolicyOf };
