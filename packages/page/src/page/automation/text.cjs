'use strict';

// The visible text of elements, as far as it can be determined without layout.

const { getComputedStylePropertyValue } = require('jsdom/lib/jsdom/living/css/helpers/computed-style.js');

const ELEMENT_NODE = 1;
const TEXT_NODE = 3;
/** Values of `display` that begin a new line. */
const BLOCKS = /^(block|flex|grid|list-item|table|table-row|table-caption|flow-root)/;

/**
 * @param {Jsdom.ElementImpl} element
 * @param {string} property
 * @returns {string} a computed value, empty when jsdom has none
 */
function styleOf(element, property) {
  return `${getComputedStylePropertyValue(element, property) ?? ''}`;
}

/**
 * Whether an element's style makes it visible. Its size and position are not known.
 *
 * @param {Jsdom.ElementImpl} element
 */
function isDisplayed(element) {
  if (element._localName === 'input' && element.type === 'hidden') return false;
  const visibility = styleOf(element, 'visibility');
  if (visibility === 'hidden' || visibility === 'collapse') return false;
  /** @type {any} an element or what contains it */
  let outer = element;
  for (; outer !== null && outer.nodeType === ELEMENT_NODE; outer = outer.parentNode?.host ?? outer.parentNode) {
    if (styleOf(outer, 'display') === 'none') return false;
  }
  return true;
}

/** https://www.w3.org/TR/webdriver2/#get-element-text @param {Jsdom.ElementImpl} element */
function visibleText(element) {
  const lines = [''];
  const add = (/** @type {string} */ text) => {
    lines[lines.length - 1] += text;
  };
  const lastLine = () => lines[lines.length - 1];
  /**
   * @param {any} node
   * @param {boolean} isPreformatted
   * @param {boolean} isVisible
   */
  const walk = (node, isPreformatted, isVisible) => {
    if (node.nodeType === TEXT_NODE) {
      if (!isVisible) return;
      if (isPreformatted) {
        const [first, ...rest] = node.data.split('\n');
        add(first);
        lines.push(...rest);
        return;
      }
      let text = node.data.replace(/[ \t\n\r\f]+/g, ' ');
      if (lastLine() === '' || lastLine().endsWith(' ')) text = text.replace(/^ /, '');
      add(text);
      return;
    }
    if (node.nodeType !== ELEMENT_NODE) return;
    if (node._localName === 'br') {
      lines.push('');
      return;
    }
    const display = styleOf(node, 'display');
    if (display === 'none') return;
    const isBlock = BLOCKS.test(display);
    if (isBlock && lastLine() !== '') lines.push('');
    const preformatted = styleOf(node, 'white-space').startsWith('pre') || node._localName === 'pre';
    const visible = styleOf(node, 'visibility') !== 'hidden';
    for (let child = node.firstChild; child !== null; child = child.nextSibling) walk(child, preformatted, visible);
    if (isBlock && lastLine() !== '') lines.push('');
  };
  walk(element, false, true);
  return lines
    .map((line) => line.replace(/^ +| +$/g, ''))
    .join('\n')
    .replace(/\n+$/, '')
    .replace(/^\n+/, '')
    .replaceAll('\u00a0', ' ');
}

module.exports = { isDisplayed, styleOf, visibleText };
