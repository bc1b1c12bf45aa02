'use strict';

// The marks and measures that a window hands over for the trace of a profiler.

const { types } = require('node:util');

const { ownValue } = require('../cloning/own-values.cjs');

/** @typedef {import('../any-realm/realm-contracts.js').CollectedEntries} CollectedEntries with the names as JSON */

const MEMBERS = /** @type {const} */ (['names', 'heads', 'times', 'until', 'dropped']);

/** How many characters an entry has in a trace as JSON, about, beside its name. */
const ENTRY = 64;

/**
 * Checks what a window has collected, and leaves out what is too much: a trace as JSON has the name of each entry, however many have the same.
 *
 * @param {unknown} collected
 * @param {number} room how many characters all entries may have together
 * @returns {{ entries: Omit<CollectedEntries, 'names'> & { names: string[] }, length: number }} with how many characters they have
 * @throws {TypeError} for what a window does not collect
 */
function readEntries(collected, room) {
  const [text, givenHeads, givenTimes, until, dropped] = MEMBERS.map((name) => ownValue(collected, name));
  // Nothing is converted: that would run code of a page.
  if (typeof text !== 'string' || typeof until !== 'number' || typeof dropped !== 'number') throw damaged();
  if (!types.isUint32Array(givenHeads) || !types.isFloat64Array(givenTimes)) throw damaged();
  /** @type {string[]} */
  const givenNames = JSON.parse(text).map(String);
  const heads = new Uint32Array(givenHeads);
  const times = new Float64Array(givenTimes);
  const isCircular = ownValue(collected, 'isCircular') === true;

  let kept = 0;
  let length = 0;
  // A circular buffer keeps the latest entries.
  for (; kept < heads.length; kept++) {
    const name = givenNames[heads[isCircular ? heads.length - 1 - kept : kept] >>> 1] ?? '';
    if (length + ENTRY + name.length > room) break;
    length += ENTRY + name.length;
  }
  const from = isCircular ? heads.length - kept : 0;
  const keptHeads = heads.slice(from, from + kept);
  return {
    entries: {
      names: renumberNames(givenNames, keptHeads),
      heads: keptHeads,
      times: times.slice(2 * from, 2 * (from + kept)),
      until,
      dropped: dropped + heads.length - kept,
      isCircular,
    },
    length,
  };
}

/**
 * @param {string[]} names
 * @param {Uint32Array} heads which get the numbers of the names that are returned
 * @returns {string[]} the names that the heads have
 */
function renumberNames(names, heads) {
  /** @type {string[]} */
  const used = [];
  /** By the number of a name: its new number, and one more. */
  const numbers = new Uint32Array(names.length);
  for (let at = 0; at < heads.length; at++) {
    const name = heads[at] >>> 1;
    // One without a name is no entry.
    if (name >= names.length) {
      heads[at] = 0xffff_ffff;
      continue;
    }
    if (numbers[name] === 0) numbers[name] = used.push(names[name]);
    heads[at] = 2 * (numbers[name] - 1) + (heads[at] & 1);
  }
  return used;
}

function damaged() {
  return new TypeError('the entries are damaged');
}

module.exports = { readEntries };
