'use strict';

// What a reader would see of an element, as far as that can be told without layout.

const { getComputedStylePropertyValue } = require('jsdom/lib/jsdom/living/css/helpers/computed-style.js');

const ELEMENT_NODE = 1;
const TEXT_NODE = 3;
/** Displays that begin a line of their own. */
const BLOCKS = /^(block|flex|grid|list-item|table|table-row|table-caption|flow-root)/;

/** @returns {string} a computed value, empty when jsdom has none */
function styleOf(element, property) {
  return `${getComputedStylePropertyValue(element, property) ?? ''}`;
}

/** Whether an element's style lets it be seen. Its size and place are not known. */
function isDisplayed(element) {
  if (element._localName === 'input' && element.type === 'hidden') return false;
  const visibility = styleOf(element, 'visibility');
  if (visibility === 'hidden' || visibility === 'collapse') return false;
  for (let outer = element; outer !== null && outer.nodeType === ELEMENT_NODE; outer = outer.parentNode?.host ?? outer.parentNode) {
    if (styleOf(outer, 'display') === 'none') return false;
  }
  return true;
}

/** https://www.w3.org/TR/webdriver2/#get-element-text */
function visibleText(element) {
  const lines = [''];
  const add = (text) => {
    const joined = lines.at(-1) + text;
    lines[lines.length - 1] = joined;
  };
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
      if (lines.at(-1) === '' || lines.at(-1).endsWith(' ')) text = text.replace(/^ /, '');
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
    if (isBlock && lines.at(-1) !== '') lines.push('');
    const preformatted = styleOf(node, 'white-space').startsWith('pre') || node._localName === 'pre';
    const visible = styleOf(node, 'visibility') !== 'hidden';
    for (let child = node.firstChild; child !== null; child = child.nextSibling) walk(child, preformatted, visible);
    if (isBlock && lines.at(-1) !== '') lines.push('');
  };
  walk(element, false, true);
  return lines.map((line) => line.replace(/^ +| +$/g, '')).join('\n').replace(/\n+$/, '').replace(/^\n+/, '').replaceAll('\u00a0', ' ');
}

module.exports = { isDisplayed, styleOf, visibleText };
