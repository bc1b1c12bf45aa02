'use strict';

/**
 * The known policies; an empty text is the default. https://w3c.github.io/webappsec-referrer-policy/#referrer-policies
 */
const REFERRER_POLICIES = [
  '',
  'no-referrer',
  'no-referrer-when-downgrade',
  'same-origin',
  'origin',
  'strict-origin',
  'origin-when-cross-origin',
  'strict-origin-when-cross-origin',
  'unsafe-url',
];

module.exports = { REFERRER_POLICIES };
