'use strict';

// The marks and measures that a window hands over for the trace of a profiler.

/** @typedef {import('../any-realm/realm-contracts.js').CollectedEntries} CollectedEntries with the names as JSON */

/**
 * Checks what a window has collected, and leaves out what is too much: a trace as JSON has the name of each entry, however many have the same.
 *
 * @param {{ [Name in keyof CollectedEntries]: unknown }} collected
 * @param {number} room how many characters the names of all entries may have together
 * @returns {Omit<CollectedEntries, 'names'> & { names: string[] }}
 */
function readEntries({ names: text, heads: givenHeads, times: givenTimes, until, dropped, isCircular: given }, room) {
  /** @type {string[]} */
  const names = JSON.parse(String(text)).map(String);
  const heads = new Uint32Array(/** @type {Uint32Array} */ (givenHeads));
  const times = new Float64Array(/** @type {Float64Array} */ (givenTimes));
  const isCircular = given === true;
  const collected = { names, heads, times, until: Number(until), dropped: Number(dropped), isCircular };
  const lengthOf = (/** @type {number} */ at) => names[heads[at] >>> 1]?.length ?? 0;

  let kept = 0;
  let length = 0;
  // A circular buffer keeps the latest entries.
  for (; kept < heads.length; kept++) {
    length += lengthOf(isCircular ? heads.length - 1 - kept : kept);
    if (length > room) break;
  }
  const from = isCircular ? heads.length - kept : 0;
  const used = new Uint8Array(names.length);
  for (let at = from; at < from + kept; at++) used[heads[at] >>> 1] = 1;
  return {
    ...collected,
    names: names.map((name, at) => (used[at] === 1 ? name : '')),
    heads: heads.slice(from, from + kept),
    times: times.slice(2 * from, 2 * (from + kept)),
    dropped: collected.dropped + heads.length - kept,
  };
}

module.exports = { readEntries };
