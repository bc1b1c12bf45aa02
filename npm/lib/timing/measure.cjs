'use strict';

// The arguments of measure(), and the times they stand for. https://w3c.github.io/user-timing/#measure-method

const { FIRST_NAME } = require('./timeline.cjs');

/** What a bound of a measure is given as: the codes that `resolve` of the addon takes. */
const OMITTED = 0;
const NAMED = 1;
const TIME = 2;
const ATTRIBUTE = 3;
const UNKNOWN = 4;

const DICTIONARY = 'PerformanceMeasureOptions';
const DURATION = ['duration', DICTIONARY];
const END = ['end', DICTIONARY];
const START = ['start', DICTIONARY];

/**
 * @param {object} context
 * @param {(name: string) => number | undefined} [context.milestone] the time of a host's milestone that can be named like a
 *   mark; undefined when it has none of that name
 * @param {() => Float64Array} context.readAttributes the values of PerformanceTiming now
 */
function makeReadMeasure({ realm, conversions, timeline, window, cloneDetail, milestone, readAttributes }) {
  const { DOMException, TypeError } = realm;
  const { requireArguments, toDictionary, toDOMString, toDouble, toDOMStringOrDouble } = conversions;
  const context = "Failed to execute 'measure' on 'Performance'";
  const { hot, native } = timeline;

  /** `(DOMString or PerformanceMeasureOptions)`, as options in either case. */
  function toOptions(value) {
    if (value !== undefined && value !== null && typeof value !== 'object' && typeof value !== 'function') {
      return { detail: undefined, duration: undefined, end: undefined, start: toDOMString(value, context) };
    }
    const options = toDictionary(value, DICTIONARY, context);
    const detail = options?.detail;
    let duration = options?.duration;
    if (duration !== undefined) duration = toDouble(duration, context, DURATION);
    let end = options?.end;
    if (end !== undefined) end = toDOMStringOrDouble(end, context, END);
    let start = options?.start;
    if (start !== undefined) start = toDOMStringOrDouble(start, context, START);
    return { detail, duration, end, start };
  }

  /** Step 1: what must not come together. */
  function checkOptions({ detail, duration, end, start }, endMark) {
    const times = (start !== undefined) + (duration !== undefined) + (end !== undefined);
    if (times === 0 && detail === undefined) return;
    const reason =
      endMark !== undefined
        ? 'endMark must not be passed'
        : start === undefined && end === undefined
          ? "at least one of its 'start' and 'end' members must be present"
          : times === 3
            ? "not all of its 'start', 'duration' and 'end' members may be present"
            : undefined;
    if (reason === undefined) return;
    throw new TypeError(`${context}: If a non-empty ${DICTIONARY} object is passed, ${reason}.`);
  }

  /** What a bound is given as. */
  function kindOf(given) {
    if (given === undefined) return OMITTED;
    if (typeof given === 'number') return TIME;
    const id = timeline.ids.get(given);
    if (id < FIRST_NAME) return ATTRIBUTE;
    // A mark goes before a milestone of its name.
    if (milestone?.(given) !== undefined && !timeline.hasMark(given)) return TIME;
    return id === undefined ? UNKNOWN : NAMED;
  }

  /** Its number: a time in milliseconds, a mark's name id, or the index of an attribute, which is its name id. */
  function numberOf(given, kind) {
    if (kind === OMITTED || kind === UNKNOWN) return 0;
    if (kind !== TIME) return timeline.ids.get(given);
    return typeof given === 'number' ? given : milestone(given);
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
    const options = toOptions(startOrMeasureOptions);
    const endName = endMark === undefined ? undefined : toDOMString(endMark, context);
    // A start that was no member of options goes with an end mark.
    if (typeof startOrMeasureOptions === 'object' || typeof startOrMeasureOptions === 'function') {
      checkOptions(options, endName);
    }

    const { detail, duration, start } = options;
    const end = endName ?? options.end;
    const startKind = kindOf(start);
    const endKind = kindOf(end);
    if (window && (startKind === ATTRIBUTE || endKind === ATTRIBUTE)) native.setTiming(readAttributes());
    const outcome = hot.resolve(
      startKind,
      numberOf(start, startKind),
      endKind,
      numberOf(end, endKind),
      duration ?? NaN,
    );
    if (outcome !== 0) refuse(outcome, name, start, end);
    const startTime = hot.result[0];
    const length = hot.result[1];
    return { name, startTime, duration: length, detail: cloneDetail(detail) };
  };
}

module.exports = { NAMED, OMITTED, makeReadMeasure };
