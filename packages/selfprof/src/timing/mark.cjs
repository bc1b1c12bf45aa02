'use strict';

// The arguments of mark() and of the PerformanceMark constructor.
// https://w3c.github.io/user-timing/#the-performancemark-constructor

const { FIRST_NAME } = require('./timeline.cjs');

/** @type {import('./conversions.cjs').Member} */
const START_TIME = ['startTime', 'PerformanceMarkOptions'];

/**
 * Reads the arguments of a mark. `present` is how many there are, and messages start with `context`.
 *
 * @typedef {(name: unknown, options: unknown, present: number, context: string) =>
 *   { name: string, startTime: number, detail: unknown }} ReadMark
 */

/**
 * @param {object} context
 * @param {import('./types.js').Realm} context.realm
 * @param {import('./conversions.cjs').Conversions} context.conversions
 * @param {import('./timeline.cjs').Timeline} context.timeline
 * @param {boolean} context.window whether the global object is a window
 * @param {(detail: unknown) => unknown} context.cloneDetail
 * @returns {ReadMark}
 */
function makeReadMark({ realm, conversions, timeline, window, cloneDetail }) {
  const { DOMException, TypeError } = realm;
  const { requireArguments, toDictionary, toDOMString, toDouble } = conversions;
  return (markName, markOptions, present, context) => {
    requireArguments(present, 1, context);
    const name = toDOMString(markName, context);
    const options = toDictionary(markOptions, 'PerformanceMarkOptions', context);
    const detail = options?.detail;
    const given = options?.startTime;
    const startTime = given === undefined ? undefined : toDouble(given, context, START_TIME);
    if (window && (timeline.ids.get(name) ?? FIRST_NAME) < FIRST_NAME) {
      throw new DOMException(
        `${context}: '${name}' is part of the PerformanceTiming interface, and cannot be used as a mark name.`,
        'SyntaxError',
      );
    }
    if (startTime !== undefined && startTime < 0) {
      throw new TypeError(`${context}: '${name}' cannot have a negative start time.`);
    }
    return { name, startTime: startTime ?? timeline.fastCalls.now(), detail: cloneDetail(detail) };
  };
}

module.exports = { makeReadMark };
