'use strict';

// The arguments of measure(), and the times they stand for. https://w3c.github.io/user-timing/#measure-method

const { asIs } = require('./conversions.cjs');
const { FIRST_NAME } = require('./timeline.cjs');

/** What a bound of a measure is given as: the codes that `resolve` of the addon takes. */
const OMITTED = 0;
const NAMED = 1;
const TIME = 2;
const ATTRIBUTE = 3;
const UNKNOWN = 4;

/** The members of PerformanceMeasureOptions, which `measure` looks for. */
const MEMBERS = ['start', 'end', 'duration', 'detail'];

/**
 * @param {object} context
 * @param {(name: string) => number | undefined} [context.milestone] the time of a host's milestone that can be named like a
 *   mark; undefined when it has none of that name
 * @param {() => Float64Array} context.readAttributes the values of PerformanceTiming now
 */
function makeReadMeasure({ realm, conversions, timeline, window, cloneDetail, milestone, readAttributes }) {
  const { DOMException, TypeError } = realm;
  const { requireArguments, toDictionary, toDOMString, toDouble, toDOMStringOrDouble } = conversions;
  const OPTIONS = [
    ['detail', asIs],
    ['duration', toDouble],
    ['end', toDOMStringOrDouble],
    ['start', toDOMStringOrDouble],
  ];
  const context = "Failed to execute 'measure' on 'Performance'";
  const { hot, native } = timeline;

  /** `(DOMString or PerformanceMeasureOptions)` */
  function toStartOrOptions(value) {
    if (value === undefined || value === null || typeof value === 'object' || typeof value === 'function') {
      return toDictionary(value, OPTIONS, 'PerformanceMeasureOptions', context);
    }
    return toDOMString(value, context);
  }

  /** Step 1: what must not come together. */
  function checkOptions(options, endMark) {
    if (!MEMBERS.some((member) => member in options)) return;
    if (endMark !== undefined) {
      throw new TypeError(
        `${context}: If a non-empty PerformanceMeasureOptions object was passed, |end_mark| must not be passed.`,
      );
    }
    const { start, duration, end } = options;
    if (start === undefined && end === undefined) {
      throw new TypeError(
        `${context}: If a non-empty PerformanceMeasureOptions object was passed, at least one of its 'start' or 'end' properties must be present.`,
      );
    }
    if (start !== undefined && duration !== undefined && end !== undefined) {
      throw new TypeError(
        `${context}: If a non-empty PerformanceMeasureOptions object was passed, it must not have all of its 'start', 'duration', and 'end' properties defined.`,
      );
    }
  }

  /** What a bound is given as, and its number: a mark's name id, a time in milliseconds, or the index of an attribute. */
  function toBound(given) {
    if (given === undefined) return [OMITTED, 0];
    if (typeof given === 'number') return [TIME, given];
    const id = timeline.ids.get(given);
    if (id < FIRST_NAME) return [ATTRIBUTE, id];
    // A mark goes before a milestone of its name.
    const time = milestone?.(given);
    if (time !== undefined && !timeline.hasMark(given)) return [TIME, time];
    return id === undefined ? [UNKNOWN, 0] : [NAMED, id];
  }

  /** Throws the exception of an outcome of `resolve` other than 0. Odd ones are about the start, even ones about the end. */
  function refuse(outcome, name, start, end) {
    const bound = outcome % 2 === 1 ? start : end;
    switch (outcome) {
      case 1:
      case 2:
        throw new DOMException(`${context}: The mark '${bound}' does not exist.`, 'SyntaxError');
      case 3:
      case 4:
        throw new DOMException(
          `${context}: '${bound}' is empty: either the event hasn't happened yet, or it would provide cross-origin timing information.`,
          'InvalidAccessError',
        );
      case 5:
      case 6:
        throw new TypeError(
          `${context}: When converting a mark name ('${bound}') to a timestamp, the global object has to be a Window.`,
        );
      case 7:
      case 8:
        throw new TypeError(`${context}: '${name}' cannot have a negative time stamp.`);
      default:
        throw new TypeError(`${context}: '${name}' cannot have a negative duration.`);
    }
  }

  /**
   * Steps 1 to 8: everything but making and recording the entry.
   *
   * @returns {{ name: string, startTime: number, duration: number, detail: unknown }}
   */
  return (measureName, startOrMeasureOptions, endMark, present) => {
    requireArguments(present, 1, context);
    const name = toDOMString(measureName, context);
    const startOrOptions = toStartOrOptions(startOrMeasureOptions);
    const endName = endMark === undefined ? undefined : toDOMString(endMark, context);

    const options = typeof startOrOptions === 'string' ? { __proto__: null, start: startOrOptions } : startOrOptions;
    if (options === startOrOptions) checkOptions(options, endName);
    const { start, duration } = options;
    const end = endName ?? options.end;

    const [startKind, startValue] = toBound(start);
    const [endKind, endValue] = toBound(end);
    if (window && (startKind === ATTRIBUTE || endKind === ATTRIBUTE)) native.setTiming(readAttributes());
    const outcome = hot.resolve(startKind, startValue, endKind, endValue, duration ?? NaN);
    if (outcome !== 0) refuse(outcome, name, start, end);
    const [startTime, length] = hot.result;
    return { name, startTime, duration: length, detail: cloneDetail(options.detail) };
  };
}

module.exports = { NAMED, OMITTED, makeReadMeasure };
