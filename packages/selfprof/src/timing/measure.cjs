'use strict';

// The arguments of measure(), and the times that they name. https://w3c.github.io/user-timing/#measure-method

const { FIRST_NAME } = require('./timeline.cjs');

/** How the start or the end of a measure is given: the codes for `resolve` of the addon. */
const OMITTED = 0;
const NAMED = 1;
const TIME = 2;
const ATTRIBUTE = 3;
const UNKNOWN = 4;

const DICTIONARY = 'PerformanceMeasureOptions';
/** @type {import('./conversions.cjs').Member} */
const DURATION = ['duration', DICTIONARY];
/** @type {import('./conversions.cjs').Member} */
const END = ['end', DICTIONARY];
/** @type {import('./conversions.cjs').Member} */
const START = ['start', DICTIONARY];

/**
 * @typedef {object} MeasureOptions
 * @property {unknown} detail
 * @property {number | undefined} duration
 * @property {string | number | undefined} end
 * @property {string | number | undefined} start
 */

/**
 * Steps 1 to 8: everything except making and recording the entry. `present` is how many arguments there are.
 *
 * @typedef {(measureName: unknown, startOrMeasureOptions: unknown, endMark: unknown, present: number) =>
 *   { name: string, startTime: number, duration: number, detail: unknown }} ReadMeasure
 */

/**
 * @param {object} context
 * @param {import('./types.js').Realm} context.realm
 * @param {import('./conversions.cjs').Conversions} context.conversions
 * @param {import('./timeline.cjs').Timeline} context.timeline
 * @param {(detail: unknown) => unknown} context.cloneDetail
 * @param {(name: string) => number | undefined} [context.milestone] the time of a host's milestone, which can be named
 *   like a mark; undefined for other names
 * @param {() => Float64Array} [context.readAttributes] in a window, the values of PerformanceTiming now
 * @returns {ReadMeasure}
 */
function makeReadMeasure({ realm, conversions, timeline, cloneDetail, milestone, readAttributes }) {
  const { DOMException, TypeError } = realm;
  const { requireArguments, toDictionary, toDOMString, toDouble, toDOMStringOrDouble } = conversions;
  const context = "Failed to execute 'measure' on 'Performance'";
  const { fastCalls, native } = timeline;

  /**
   * `(DOMString or PerformanceMeasureOptions)`, as options in either case.
   *
   * @param {unknown} value
   * @returns {MeasureOptions}
   */
  function toOptions(value) {
    if (value !== undefined && value !== null && typeof value !== 'object' && typeof value !== 'function') {
      return { detail: undefined, duration: undefined, end: undefined, start: toDOMString(value, context) };
    }
    const options = toDictionary(value, DICTIONARY, context);
    if (options === null) return { detail: undefined, duration: undefined, end: undefined, start: undefined };
    const { detail } = options;
    const duration = optional(options.duration, (value) => toDouble(value, context, DURATION));
    const end = optional(options.end, (value) => toDOMStringOrDouble(value, context, END));
    const start = optional(options.start, (value) => toDOMStringOrDouble(value, context, START));
    return { detail, duration, end, start };
  }

  /**
   * Step 1: which options exclude each other.
   *
   * @param {MeasureOptions} options
   * @param {string | undefined} endMark
   */
  function checkOptions({ detail, duration, end, start }, endMark) {
    const [hasStart, hasDuration, hasEnd] = [start !== undefined, duration !== undefined, end !== undefined];
    if (!hasStart && !hasDuration && !hasEnd && detail === undefined) return;
    if (endMark !== undefined) throw optionsError('endMark must not be passed');
    if (!hasStart && !hasEnd) throw optionsError("at least one of its 'start' and 'end' members must be present");
    if (hasStart && hasDuration && hasEnd) {
      throw optionsError("not all of its 'start', 'duration' and 'end' members may be present");
    }
  }

  /** @param {string} reason */
  function optionsError(reason) {
    return new TypeError(`${context}: If a non-empty ${DICTIONARY} object is passed, ${reason}.`);
  }

  /**
   * The code of how a bound is given.
   *
   * @param {string | number | undefined} given
   */
  function kindOf(given) {
    if (given === undefined) return OMITTED;
    if (typeof given === 'number') return TIME;
    const id = timeline.ids.get(given);
    if (id !== undefined && id < FIRST_NAME) return ATTRIBUTE;
    // A mark has precedence over a milestone of its name.
    if (milestone?.(given) !== undefined && !timeline.hasMark(given)) return TIME;
    return id === undefined ? UNKNOWN : NAMED;
  }

  /**
   * The number of a bound: a time in milliseconds, or a name id. The name id of an attribute is its index.
   *
   * @param {string | number | undefined} given
   * @param {number} kind
   */
  function numberOf(given, kind) {
    if (typeof given === 'number') return given;
    if (given === undefined || kind === UNKNOWN) return 0;
    return (kind === TIME ? milestone?.(given) : timeline.ids.get(given)) ?? 0;
  }

  /**
   * The exception for an outcome of `resolve` other than 0. Odd outcomes concern the start, even ones the end.
   *
   * @param {number} outcome
   * @param {string} name
   * @param {string | number | undefined} start
   * @param {string | number | undefined} end
   */
  function exceptionOf(outcome, name, start, end) {
    const bound = outcome % 2 === 1 ? start : end;
    switch (outcome) {
      case 1:
      case 2:
        return new DOMException(`${context}: The mark '${bound}' does not exist.`, 'SyntaxError');
      case 3:
      case 4:
        return new DOMException(
          `${context}: '${bound}' is empty: either the event hasn't happened yet, or it would provide cross-origin timing information.`,
          'InvalidAccessError',
        );
      case 5:
      case 6:
        return new TypeError(
          `${context}: When converting a mark name ('${bound}') to a timestamp, the global object has to be a Window.`,
        );
      case 7:
      case 8:
        return new TypeError(`${context}: '${name}' cannot have a negative time stamp.`);
      default:
        return new TypeError(`${context}: '${name}' cannot have a negative duration.`);
    }
  }

  return (measureName, startOrMeasureOptions, endMark, present) => {
    requireArguments(present, 1, context);
    const name = toDOMString(measureName, context);
    const options = toOptions(startOrMeasureOptions);
    const endName = endMark === undefined ? undefined : toDOMString(endMark, context);
    // A start mark, unlike options, may come with an end mark.
    if (typeof startOrMeasureOptions === 'object' || typeof startOrMeasureOptions === 'function') {
      checkOptions(options, endName);
    }

    const { detail, duration, start } = options;
    const end = endName ?? options.end;
    const startKind = kindOf(start);
    const endKind = kindOf(end);
    if (readAttributes !== undefined && (startKind === ATTRIBUTE || endKind === ATTRIBUTE)) {
      native.setTiming(readAttributes());
    }
    const outcome = fastCalls.resolve(
      startKind,
      numberOf(start, startKind),
      endKind,
      numberOf(end, endKind),
      duration ?? NaN,
    );
    if (outcome !== 0) throw exceptionOf(outcome, name, start, end);
    const startTime = fastCalls.result[0];
    const length = fastCalls.result[1];
    return { name, startTime, duration: length, detail: cloneDetail(detail) };
  };
}

/**
 * @template T
 * @param {unknown} value
 * @param {(value: unknown) => T} convert
 */
function optional(value, convert) {
  return value === undefined ? undefined : convert(value);
}

module.exports = { NAMED, OMITTED, makeReadMeasure };
