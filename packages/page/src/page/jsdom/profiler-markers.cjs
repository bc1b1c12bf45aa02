'use strict';

// Runs work of the host for a document under a profiler marker: see `Admission::Work` in crates/session.
// https://github.com/WICG/js-self-profiling/blob/main/markers.md

const { thread } = require('../thread/thread.cjs');

/**
 * @template T
 * @param {Jsdom.Window} window whose document it is for
 * @param {'parse' | 'style'} marker
 * @param {() => T} work
 * @returns {T}
 */
exports.runWithMarker = (window, marker, work) => {
  const code = thread.windows.find(window)?.code;
  return code === undefined ? work() : code.markerFunctions[marker](work);
};
