'use strict';

// Sets of labels and their numbers.

const native = require('../native.cjs');
const { numberAfter } = require('./label-value.cjs');

/** The label of a request's route, as OpenTelemetry names it. */
const ROUTE = 'http.route';
/** How many numbers are known before all are forgotten. The addon remembers twice as many. */
const MAX_SETS = 10_000;
/** How many labels a set has at most; others are left out. */
const MAX_LABELS = 32;
/** How long names and values are at most; longer ones are cut. */
const MAX_LENGTH = 256;

/** @type {Map<string, number>} */
const numbers = new Map();
/**
 * The sets that have only a route, which most requests have. Their numbers are in `numbers`.
 *
 * @type {Map<string, LabelSet>}
 */
const routes = new Map();
let last = 0;

/**
 * @typedef {object} LabelSet
 * @property {number} set its number
 * @property {Record<string, string>} labels
 */

/**
 * The labels of both as strings. Those without a value are left out.
 *
 * @param {Record<string, string> | undefined} own
 * @param {Record<string, unknown>} added
 */
function merged(own, added) {
  /** @type {Record<string, string>} */
  const labels = Object.assign(Object.create(null), own);
  let count = Object.keys(labels).length;
  for (const [name, value] of Object.entries(added)) {
    const key = name.slice(0, MAX_LENGTH);
    if (value === undefined || value === null) {
      if (delete labels[key]) count = Object.keys(labels).length;
      continue;
    }
    if (!(key in labels)) {
      if (count === MAX_LABELS) continue;
      count += 1;
    }
    labels[key] = String(value).slice(0, MAX_LENGTH);
  }
  return labels;
}

/**
 * The number of a set; equal sets usually have the same.
 *
 * @param {Record<string, string>} labels
 */
function numberOf(labels) {
  const names = Object.keys(labels);
  if (names.length === 0) return 0;
  if (names.length > 1) names.sort();
  const values = names.map((name) => labels[name]);
  const key = names.length === 1 ? `${names[0]}\0${values[0]}` : JSON.stringify([names, values]);
  const known = numbers.get(key);
  if (known !== undefined) return known;
  if (numbers.size === MAX_SETS) {
    numbers.clear();
    routes.clear();
  }
  last = numberAfter(last);
  numbers.set(key, last);
  native.defineLabels(last, names, values);
  return last;
}

/**
 * The set that has this route and nothing else.
 *
 * @param {string} route
 * @returns {LabelSet}
 */
function setOfRoute(route) {
  const name = route.slice(0, MAX_LENGTH);
  const known = routes.get(name);
  if (known !== undefined) return known;
  const labels = merged(undefined, { [ROUTE]: name });
  // It may clear both maps.
  const set = { set: numberOf(labels), labels };
  routes.set(name, set);
  return set;
}

module.exports = { ROUTE, merged, numberOf, setOfRoute };
