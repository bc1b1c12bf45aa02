'use strict';

// The arguments of mark() and of the PerformanceMark constructor.
// https://w3c.github.io/user-timing/#the-performancemark-constructor

const { FIRST_NAME } = require('./timeline.cjs');

const START_TIME = ['startTime', 'PerformanceMarkOptions'];

/**
 * @returns {(name: unknown, options: unknown, present: number, context: string) =>
 *   { name: string, startTime: number, detail: unknown }} reads arguments, of which so many are present
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
    if (window && timeline.ids.get(name) < FIRST_NAME) {
      throw new DOMException(
        `${context}: '${name}' is part of the PerformanceTiming interface, and cannot be used as a mark name.`,
        'SyntaxError',
      );
    }
    if (startTime < 0) throw new TypeError(`${context}: '${name}' cannot have a negative start time.`);
    return { name, startTime: startTime ?? timeline.hot.now(), detail: cloneDetail(detail) };
  };
}

module.exports = { makeReadMark };
