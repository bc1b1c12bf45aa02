'use strict';

// Elements whose text the user can edit.

const { isDisabled } = require('jsdom/lib/jsdom/living/helpers/form-controls.js');

/** An element with the members of its own type, such as `value`. @typedef {Jsdom.ElementImpl} Element */

/** Types of inputs that take no text. */
const BUTTONS = new Set(['button', 'checkbox', 'hidden', 'image', 'radio', 'reset', 'submit']);

/** @param {Element} element */
function isEditable(element) {
  if (element._localName === 'textarea') return !isDisabled(element) && !element.hasAttributeNS(null, 'readonly');
  if (element._localName === 'input') {
    return !BUTTONS.has(element.type) && !isDisabled(element) && !element.hasAttributeNS(null, 'readonly');
  }
  return isEditingHost(element);
}

/** @param {Element} element */
function isEditingHost(element) {
  const value = element.getAttributeNS(null, 'contenteditable');
  return value !== null && value.toLowerCase() !== 'false';
}

/** @param {Element} element */
function isField(element) {
  return element._localName === 'input' || element._localName === 'textarea';
}

module.exports = { BUTTONS, isEditable, isField };
