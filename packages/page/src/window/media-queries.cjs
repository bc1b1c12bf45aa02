'use strict';

// matchMedia(). https://drafts.csswg.org/cssom-view/#dom-window-matchmedia
//
// The device is a screen of the window's size that never changes: light, with a mouse, one dot per pixel, without preferences. A query that
// cannot be parsed is `not all`. https://drafts.csswg.org/mediaqueries/

const { defineHandler, defineInterfaceObject, defineOperation } = require('./webidl-members.cjs');

const TOKEN = Symbol('internal');

/** Values of features that are keywords. @type {Record<string, string>} */
const KEYWORDS = {
  'any-hover': 'hover',
  'any-pointer': 'fine',
  'color-gamut': 'srgb',
  'display-mode': 'browser',
  'dynamic-range': 'standard',
  'forced-colors': 'none',
  hover: 'hover',
  'inverted-colors': 'none',
  'overflow-block': 'scroll',
  'overflow-inline': 'scroll',
  pointer: 'fine',
  'prefers-color-scheme': 'light',
  'prefers-contrast': 'no-preference',
  'prefers-reduced-data': 'no-preference',
  'prefers-reduced-motion': 'no-preference',
  'prefers-reduced-transparency': 'no-preference',
  scan: 'progressive',
  scripting: 'enabled',
  update: 'fast',
};

/** Values that count as false when a query has only the feature's name. */
const FALSE_KEYWORDS = ['none', 'no-preference'];

/** Pixels per unit of length; the font size is 16 pixels. @type {Record<string, number>} */
const LENGTHS = { px: 1, em: 16, rem: 16, cm: 96 / 2.54, mm: 96 / 25.4, in: 96, pt: 96 / 72, pc: 16 };
/** Dots per pixel in a unit of resolution. @type {Record<string, number>} */
const RESOLUTIONS = { dppx: 1, x: 1, dpi: 1 / 96, dpcm: 2.54 / 96 };

/** Features that are numbers: how the actual value is read, and how the query's value is parsed. @type {Record<string, [read: () => number, parse: (text: string) => number]>} */
const NUMBERS = {
  width: [() => innerWidth(), toLength],
  height: [() => innerHeight(), toLength],
  'device-width': [() => innerWidth(), toLength],
  'device-height': [() => innerHeight(), toLength],
  'aspect-ratio': [() => innerWidth() / innerHeight(), toRatio],
  resolution: [() => 1, (text) => toUnits(text, RESOLUTIONS)],
  color: [() => 8, toInteger],
  'color-index': [() => 0, toInteger],
  monochrome: [() => 0, toInteger],
  grid: [() => 0, toInteger],
};

const innerWidth = () => globalThis.innerWidth;
const innerHeight = () => globalThis.innerHeight;

/**
 * @param {string} text
 * @param {Record<string, number>} units
 */
function toUnits(text, units) {
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+))([a-z]+)$/.exec(text);
  return match !== null && Object.hasOwn(units, match[2]) ? Number(match[1]) * units[match[2]] : NaN;
}

/** @param {string} text */
function toLength(text) {
  return /^[+-]?0+(\.0*)?$/.test(text) ? 0 : toUnits(text, LENGTHS);
}

/** @param {string} text */
function toInteger(text) {
  return /^[+-]?\d+$/.test(text) ? Number(text) : NaN;
}

/** @param {string} text */
function toRatio(text) {
  const match = /^(\d+\.?\d*)(?:\s*\/\s*(\d+\.?\d*))?$/.exec(text);
  return match === null ? NaN : Number(match[1]) / Number(match[2] ?? 1);
}

/** @type {Record<string, (a: number, b: number) => boolean>} */
const COMPARISONS = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '=': (a, b) => a === b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};
/** @type {Record<string, string>} */
const FLIPPED = { '<': '>', '<=': '>=', '=': '=', '>': '<', '>=': '<=' };

/**
 * @param {string} name
 * @param {string} comparison
 * @param {string} text
 * @returns {boolean | undefined} undefined for an unknown feature or value
 */
function compare(name, comparison, text) {
  if (!Object.hasOwn(NUMBERS, name)) return undefined;
  const [read, convert] = NUMBERS[name];
  const value = convert(text);
  return Number.isNaN(value) ? undefined : COMPARISONS[comparison](read(), value);
}

/** Evaluates the text between brackets. @param {string} text @returns {boolean | undefined} undefined for an unknown feature or value */
function matchesFeature(text) {
  const range = /^(.+?)\s*(<=|>=|<|>|=)\s*(.+?)(?:\s*(<=|>=|<|>)\s*(.+))?$/.exec(text);
  if (range !== null) {
    const [, first, comparison, second, again, third] = range;
    if (Object.hasOwn(NUMBERS, first)) return again === undefined ? compare(first, comparison, second) : undefined;
    const isLeft = compare(second, FLIPPED[comparison], first);
    const isRight = again === undefined ? true : compare(second, again, third);
    return isLeft === undefined || isRight === undefined ? undefined : isLeft && isRight;
  }
  const [name, value] = text.split(':').map((part) => part.trim());
  if (name === 'orientation') {
    const isPortrait = innerHeight() >= innerWidth();
    if (value === undefined) return true;
    if (value === 'portrait') return isPortrait;
    return value === 'landscape' ? !isPortrait : undefined;
  }
  if (Object.hasOwn(KEYWORDS, name))
    return value === undefined ? !FALSE_KEYWORDS.includes(KEYWORDS[name]) : KEYWORDS[name] === value;
  if (value === undefined) return Object.hasOwn(NUMBERS, name) ? NUMBERS[name][0]() !== 0 : undefined;
  if (name.startsWith('min-')) return compare(name.slice(4), '>=', value);
  if (name.startsWith('max-')) return compare(name.slice(4), '<=', value);
  return compare(name, '=', value);
}

/**
 * Splits at separators outside of brackets.
 *
 * @param {string} text
 * @param {string} separator
 */
function split(text, separator) {
  const parts = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '(') depth += 1;
    else if (text[at] === ')') depth -= 1;
    else if (depth === 0 && text.startsWith(separator, at)) {
      parts.push(text.slice(from, at));
      from = at + separator.length;
    }
  }
  return [...parts, text.slice(from)].map((part) => part.trim());
}

/**
 * https://drafts.csswg.org/mediaqueries/#typedef-media-condition
 *
 * @param {string} text
 * @returns {boolean | undefined} undefined for an unknown feature or value, also after `not`
 */
function matchesCondition(text) {
  const every = split(text, ' and ');
  if (every.length > 1) return combine(every, (results) => results.every(Boolean));
  const any = split(text, ' or ');
  if (any.length > 1) return combine(any, (results) => results.some(Boolean));
  if (text.startsWith('not ')) {
    const result = matchesCondition(text.slice(4).trim());
    return result === undefined ? undefined : !result;
  }
  if (!text.startsWith('(') || !text.endsWith(')')) return undefined;
  const inner = text.slice(1, -1).trim();
  return inner.startsWith('(') || inner.startsWith('not ') ? matchesCondition(inner) : matchesFeature(inner);
}

/**
 * @param {string[]} parts
 * @param {(results: boolean[]) => boolean} decide
 */
function combine(parts, decide) {
  const results = [];
  for (const part of parts) {
    const result = matchesCondition(part);
    if (result === undefined) return undefined;
    results.push(result);
  }
  return decide(results);
}

/** @param {string} text */
function matchesQuery(text) {
  const typed = /^(?:(not|only)\s+)?([a-z-]+)(?:\s+and\s+(.+))?$/.exec(text);
  if (typed === null || typed[2] === 'not') return matchesCondition(text) === true;
  const [, modifier, type, condition] = typed;
  const isType = type === 'all' || type === 'screen';
  const isCondition = condition === undefined ? true : matchesCondition(condition);
  if (isCondition === undefined) return false;
  return (isType && isCondition) !== (modifier === 'not');
}

/** How long a list of queries may be, so that its nesting cannot overflow the stack. */
const MAX_LENGTH = 10_000;

class MediaQueryList extends EventTarget {
  #media;

  /**
   * @param {symbol} token
   * @param {string} media
   */
  constructor(token, media) {
    if (token !== TOKEN) throw new TypeError("Failed to construct 'MediaQueryList': Illegal constructor");
    super();
    this.#media = media;
  }

  get media() {
    return this.#media;
  }

  get matches() {
    if (this.#media === '') return true;
    return this.#media.length <= MAX_LENGTH && split(this.#media, ',').some(matchesQuery);
  }

  /** @param {any} listener of the page */
  addListener(listener) {
    this.addEventListener('change', listener);
  }

  /** @param {any} listener of the page */
  removeListener(listener) {
    this.removeEventListener('change', listener);
  }
}

function installMediaQueries() {
  const { matchMedia } = {
    /** @param {any} query of the page */
    matchMedia(query) {
      if (arguments.length < 1)
        throw new TypeError("Failed to execute 'matchMedia' on 'Window': 1 argument required, but only 0 present.");
      return new MediaQueryList(TOKEN, `${query}`.trim().toLowerCase().replace(/\s+/g, ' '));
    },
  };
  defineOperation('matchMedia', matchMedia);
  for (const name of ['media', 'matches', 'addListener', 'removeListener']) {
    Object.defineProperty(MediaQueryList.prototype, name, { enumerable: true });
  }
  defineHandler(MediaQueryList.prototype, 'change');
  Object.defineProperty(MediaQueryList.prototype, Symbol.toStringTag, { value: 'MediaQueryList', configurable: true });
  defineInterfaceObject('MediaQueryList', MediaQueryList);
}

module.exports = { installMediaQueries };
