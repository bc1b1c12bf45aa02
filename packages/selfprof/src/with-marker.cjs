'use strict';

// withMarker(): marks the samples of work that a program declares to be layout, paint, style or parse.
// https://github.com/WICG/js-self-profiling/blob/main/markers.md
//
// Each marker has a file with one function, which makes the call. The addon knows these files, and finds them on the
// stacks of the samples. So there is no state to switch on and off.

const path = require('node:path');

/** @typedef {'layout' | 'paint' | 'parse' | 'style'} WorkMarker */

/** @param {WorkMarker} marker */
const scriptOf = (marker) => path.join(__dirname, 'work', `${marker}.cjs`);

/** The file of each marker, for the addon. */
const workScripts = {
  layout: scriptOf('layout'),
  paint: scriptOf('paint'),
  parse: scriptOf('parse'),
  style: scriptOf('style'),
};

/**
 * Calls a function, and marks its work in the traces of this thread's profilers.
 *
 * @template T
 * @param {WorkMarker} marker
 * @param {() => T} work
 * @returns {T} what the function returns
 */
function withMarker(marker, work) {
  if (!Object.hasOwn(workScripts, marker)) {
    throw new TypeError(
      `selfprof: '${String(marker)}' is not a marker\n\nhint: use one of ${Object.keys(workScripts).join(', ')}`,
    );
  }
  if (typeof work !== 'function') throw new TypeError('selfprof: the second argument of withMarker is not a function');
  return require(workScripts[marker])(work);
}

module.exports = { withMarker, workScripts };
