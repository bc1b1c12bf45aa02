'use strict';

// What the attribute `allow` of a frame element says of the feature `cross-origin-isolated`.
// https://w3c.github.io/webappsec-permissions-policy/#algo-parse-policy-directive

const FEATURE = 'cross-origin-isolated';

/**
 * @param {string | null} attribute
 * @returns {string[] | undefined} origins, `self`, `src` and `*`; undefined when it does not name the feature. Without values, it means the
 *   origin of the frame's URL: `src`
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

module.exports = { FEATURE, isAllowedWhenEmpty, readAllowAttribute };
