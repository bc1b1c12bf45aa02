'use strict';

// Selectors as Playwright writes them: CSS, XPath and texts, one within the other.
// https://playwright.dev/docs/other-locators

/** @typedef {{ using: string, value: string }} Step how to find elements in those that the step before has found; `nth` picks one of them */

/** Prefixes of selectors, and the strategies that they stand for. */
const ENGINES = new Map([
  ['css', 'css selector'],
  ['xpath', 'xpath'],
  ['text', 'text'],
  ['nth', 'nth'],
]);

/** Splits at `>>`, but not in quotes. @param {string} selector */
function partsOf(selector) {
  const parts = [''];
  let quote = '';
  for (let at = 0; at < selector.length; at++) {
    const character = selector[at];
    if (character === '\\') {
      parts[parts.length - 1] += character + (selector[++at] ?? '');
      continue;
    }
    if (quote === '' && selector.startsWith('>>', at)) {
      parts.push('');
      at += 1;
      continue;
    }
    if (character === quote) quote = '';
    else if (quote === '' && (character === '"' || character === "'")) quote = character;
    parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}

/** @param {string} part @returns {Step} */
function toStep(part) {
  const [, engine = '', value = ''] = /^(\w+)=(.*)$/s.exec(part) ?? [];
  const using = ENGINES.get(engine);
  if (using !== undefined) return { using, value: value.trim() };
  if (/^\(*\/\//.test(part) || part.startsWith('..')) return { using: 'xpath', value: part };
  if (/^(".*"|'.*')$/s.test(part)) return { using: 'text', value: part };
  return { using: 'css selector', value: part };
}

/** @param {string} selector @returns {Step[]} */
function parseSelector(selector) {
  return partsOf(selector).map(toStep);
}

module.exports = { parseSelector };
