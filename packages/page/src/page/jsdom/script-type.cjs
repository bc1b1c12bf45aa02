'use strict';

// Which script elements are run, and as what.
// https://html.spec.whatwg.org/multipage/scripting.html#prepare-the-script-element

const { asciiLowercase, stripLeadingAndTrailingASCIIWhitespace } = require('jsdom/lib/jsdom/living/helpers/strings.js');
const { MIMEType } = require('whatwg-mimetype');

/** @typedef {{ getAttributeNS(namespace: string | null, name: string): string | null }} Element */

/** @param {Element} element @returns {'classic' | 'module' | 'importmap' | null} `null` for data blocks */
function scriptType(element) {
  const type = element.getAttributeNS(null, 'type');
  const language = element.getAttributeNS(null, 'language');
  let text = 'text/javascript';
  if (type !== null && type !== '') text = stripLeadingAndTrailingASCIIWhitespace(type);
  else if (type === null && language !== null && language !== '') text = `text/${language}`;
  const lower = asciiLowercase(text);
  if (lower === 'module' || lower === 'importmap') return lower;
  // An "essence match": https://mimesniff.spec.whatwg.org/#javascript-mime-type-essence-match
  const mimeType = MIMEType.parse(lower);
  return mimeType !== null && mimeType.essence === lower && mimeType.isJavaScript() ? 'classic' : null;
}

/** Whether the obsolete attributes `event` and `for` let a classic script run. @param {Element} element */
function isEventAndForAllowed(element) {
  const [event, target] = ['event', 'for'].map((name) => element.getAttributeNS(null, name));
  if (event === null || target === null) return true;
  const normalize = (/** @type {string} */ text) => asciiLowercase(stripLeadingAndTrailingASCIIWhitespace(text));
  return normalize(target) === 'window' && ['onload', 'onload()'].includes(normalize(event));
}

module.exports = { isEventAndForAllowed, scriptType };
