'use strict';

// What the host does for a document, said in a way that profilers hear: see `Admission::Work` in crates/session.

const realms = require('./realms.cjs');

/**
 * @template T
 * @param {object} window whose document it is for
 * @param {'parse' | 'style'} marker
 * @param {() => T} work
 * @returns {T}
 */
exports.during = (window, marker, work) => {
  const code = realms.realmOf(window)?.code;
  return code === undefined ? work() : code.during(marker, work);
};
