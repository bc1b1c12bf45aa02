'use strict';

// The policy-controlled feature `cross-origin-isolated`, whose default allowlist is `self`: a header of a document and
// the attribute `allow` of frames say which documents may have the fine clock.
// https://w3c.github.io/webappsec-permissions-policy/

const { getHeader } = require('./headers.cjs');
const { isOpaque } = require('./origin.cjs');
const { Token, parseDictionary } = require('./structured-fields.cjs');

/** @typedef {import('./origin.cjs').Origin} Origin */

const FEATURE = 'cross-origin-isolated';

/**
 * Origins, `self` and `*`; undefined when a policy does not name the feature.
 *
 * @typedef {string[] | undefined} Allowlist
 */

/** What a document declares. @param {import('./headers.cjs').HeaderList} headers @returns {Allowlist} */
function readIsolationHeader(headers) {
  const declared = parseDictionary(getHeader(headers, 'permissions-policy'))?.get(FEATURE);
  if (declared === undefined) return undefined;
  const values = Array.isArray(declared) ? declared : [declared];
  return values.map((value) => (value instanceof Token ? value.text : String(value)));
}

/**
 * What the attribute `allow` of a frame element says of the feature.
 * https://w3c.github.io/webappsec-permissions-policy/#algo-parse-policy-directive
 *
 * @param {string | null} attribute
 * @returns {string[] | undefined} origins, `self`, `src` and `*`; undefined when it does not name the feature. Without
 *   values, it means the origin of the frame's URL: `src`
 */
function readAllowAttribute(attribute) {
  for (const directive of (attribute ?? '').split(';')) {
    const [feature, ...values] = directive.split(/[\t\n\f\r ]+/).filter((word) => word !== '');
    if (feature !== FEATURE) continue;
    if (values.length === 0) return ['src'];
    return values
      .map((value) => /^'(.+)'$/.exec(value.toLowerCase())?.[1] ?? value)
      .filter((value) => value !== 'none');
  }
  return undefined;
}

/** Whether it allows the empty document of the frame. @param {string | null} attribute */
function isAllowedWhenEmpty(attribute) {
  const allowed = readAllowAttribute(attribute);
  return allowed === undefined || allowed.some((value) => value === '*' || value === 'self' || value === 'src');
}

/**
 * @param {Allowlist} allowlist
 * @param {Origin} origin that is to be allowed
 * @param {{ self: Origin, src?: Origin | undefined }} named by `self` and `src`
 */
function includes(allowlist, origin, { self, src }) {
  return (allowlist ?? ['self']).some((value) => {
    if (value === '*') return true;
    if (value === 'self') return origin === self;
    if (value === 'src') return origin === src;
    return !isOpaque(origin) && URL.parse(value)?.origin === origin;
  });
}

/** Whether a document may be isolated by its own header. @param {Allowlist} declared @param {Origin} origin */
function allowsItself(declared, origin) {
  return declared === undefined || includes(declared, origin, { self: origin });
}

/**
 * Whether a document in a frame may be isolated when the document around it is.
 *
 * @param {Origin} origin of the document
 * @param {{ embedder: Origin, declared: Allowlist, allow: string | null, src: Origin | undefined }} around the origin
 *   and the header of the document around it, the frame element's attribute, and the origin of the frame's URL
 */
function isAllowedInFrame(origin, { embedder, declared, allow, src }) {
  if (declared !== undefined && !includes(declared, origin, { self: embedder })) return false;
  return includes(readAllowAttribute(allow), origin, { self: embedder, src });
}

module.exports = { allowsItself, isAllowedInFrame, isAllowedWhenEmpty, readIsolationHeader };
