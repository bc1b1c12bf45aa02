'use strict';

// Elements that the user can change: fields with text, and options of selects.

const InputEvent = require('jsdom/lib/generated/idl/InputEvent.js');
const { fireAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');
const { isDisabled } = require('jsdom/lib/jsdom/living/helpers/form-controls.js');

/** An element with the members of its own type, such as `value`. @typedef {Jsdom.ElementImpl} Element */

/** Types of inputs that take no text. */
const BUTTONS = new Set(['button', 'checkbox', 'hidden', 'image', 'radio', 'reset', 'submit']);

/** Types of inputs whose whole value is set at once, because they have no text to type into. */
const WHOLE_VALUES = new Set(['color', 'date', 'datetime-local', 'month', 'range', 'time', 'week']);

/** @param {Element} element */
function isField(element) {
  return element._localName === 'input' || element._localName === 'textarea';
}

/** @param {Element} element */
function isEditable(element) {
  if (isField(element)) {
    const hasText = element._localName === 'textarea' || !BUTTONS.has(element.type);
    return hasText && !isDisabled(element) && !element.hasAttributeNS(null, 'readonly');
  }
  const value = element.getAttributeNS(null, 'contenteditable');
  return value !== null && value.toLowerCase() !== 'false';
}

/**
 * Tells the page that the user has changed a field.
 *
 * @param {Element} element
 * @param {object} [members] of the event `input`
 */
function fireChange(element, members = {}) {
  fireAnEvent('input', element, InputEvent, { bubbles: true, composed: true, ...members });
  fireAnEvent('change', element, undefined, { bubbles: true });
}

/** Selects some options of a select and no others. @param {Element} select @param {Element[]} chosen */
function setSelected(select, chosen) {
  /** @type {Element[]} */
  const options = [...select.options];
  const before = options.map(({ selected }) => selected);
  const [only] = chosen;
  // One of them is always selected, unless several may be.
  if (only !== undefined && !select.hasAttributeNS(null, 'multiple')) only.selected = true;
  else for (const option of options) option.selected = chosen.includes(option);
  if (options.every(({ selected }, at) => selected === before[at])) return;
  fireAnEvent('input', select, undefined, { bubbles: true, composed: true });
  fireAnEvent('change', select, undefined, { bubbles: true });
}

module.exports = { BUTTONS, WHOLE_VALUES, fireChange, isEditable, isField, setSelected };
