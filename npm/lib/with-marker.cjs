'use strict';

// withMarker(): who lays out, paints, resolves styles or parses says so, and samples of that work are marked with it.
// https://github.com/WICG/js-self-profiling/blob/main/markers.md
//
// There is nothing to switch on and off: the file of the function that does the calling is on the stack of each sample that is
// taken meanwhile, and the addon knows these files.

const path = require('node:path');

const MARKERS = ['layout', 'paint', 'parse', 'style'];

const fileOf = (marker) => path.join(__dirname, 'work', `${marker}.cjs`);

/** The file of each marker, for the addon. */
const workScripts = Object.fromEntries(MARKERS.map((marker) => [marker, fileOf(marker)]));

/**
 * Calls a function whose work has this marker in the traces of this thread's profilers, with what it calls in turn. Of an
 * asynchronous function, that is its work until it first waits.
 *
 * @template T
 * @param {'layout' | 'paint' | 'parse' | 'style'} marker
 * @param {() => T} work
 * @returns {T} what it returns; what it throws is thrown
 */
function withMarker(marker, work) {
  if (!MARKERS.includes(marker)) throw new TypeError(`selfprof: '${String(marker)}' is no marker\n\nhint: it is one of ${MARKERS.join(', ')}`);
  if (typeof work !== 'function') throw new TypeError('selfprof: withMarker calls a function, and this is none');
  return require(workScripts[marker])(work);
}

module.exports = { withMarker, workScripts };
