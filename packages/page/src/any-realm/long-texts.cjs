'use strict';

/** V8 hashes no more than the length of a text of more characters, or bytes where it is serialized. It copies such a text in no time. */
const LONG_TEXT = 16_383;

/**
 * How many keys of a result's objects may be such texts. V8 looks each of them up among all that the program has from any page, of which a
 * page's thread knows nothing.
 */
const MAX_LONG_KEYS = 16;

module.exports = { LONG_TEXT, MAX_LONG_KEYS };
