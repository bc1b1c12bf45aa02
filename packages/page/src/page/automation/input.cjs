'use strict';

// Clicks and keystrokes. Without layout nothing can cover an element, so they go to the element itself.
// https://www.w3.org/TR/webdriver2/#element-interaction

const InputEvent = require('jsdom/lib/generated/idl/InputEvent.js');
const { fireAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');
const { isFocusableAreaElement } = require('jsdom/lib/jsdom/living/helpers/focusing.js');
const { isDisabled } = require('jsdom/lib/jsdom/living/helpers/form-controls.js');

const { isEditable, isField } = require('./form-fields.cjs');
const { Keyboard } = require('./keyboard.cjs');
const { fireMouse } = require('./mouse-events.cjs');
const { Refusal } = require('./references.cjs');
const { isDisplayed } = require('./text.cjs');

/** @typedef {import('./form-fields.cjs').Element} Element */

const ELEMENT_NODE = 1;

/** Types of inputs whose whole value is set at once, because they have no text to type into. */
const WHOLE_VALUES = new Set(['color', 'date', 'datetime-local', 'month', 'range', 'time', 'week']);

/** @param {Element} element */
function assertInteractable(element) {
  if (!isDisplayed(element))
    throw new Refusal('element not interactable', `the ${element._localName} is not displayed`);
}

/** https://www.w3.org/TR/webdriver2/#element-click @param {Element} element */
function click(element) {
  if (element._localName === 'input' && element.type === 'file') {
    throw new Refusal('invalid argument', 'a file input cannot be clicked');
  }
  if (element._localName === 'option') {
    selectOption(element);
    return;
  }
  assertInteractable(element);
  fireMouse(element, 'mouseover');
  fireMouse(element, 'mousemove');
  if (isDisabled(element)) return;
  fireMouse(element, 'mousedown', { buttons: 1 });
  focus(element);
  fireMouse(element, 'mouseup');
  fireMouse(element, 'click');
}

/** Focuses the element, or the nearest ancestor that can have the focus. @param {Element} element */
function focus(element) {
  for (let target = element; target?.nodeType === ELEMENT_NODE; target = /** @type {Element} */ (target.parentNode)) {
    if (!isFocusableAreaElement(target)) continue;
    if (target._ownerDocument._lastFocusedElement !== target) target.focus();
    return;
  }
}

/** @param {Element} option */
function selectOption(option) {
  let select = /** @type {Element | null} */ (option.parentNode);
  while (select !== null && select._localName !== 'select') select = /** @type {Element | null} */ (select.parentNode);
  if (select === null) throw new Refusal('element not interactable', 'the option is not in a select element');
  assertInteractable(select);
  fireMouse(select, 'mouseover');
  fireMouse(select, 'mousemove');
  fireMouse(select, 'mousedown', { buttons: 1 });
  focus(select);
  if (!isDisabled(option) && !isDisabled(select)) {
    const was = option.selected;
    option.selected = select.hasAttributeNS(null, 'multiple') ? !was : true;
    if (option.selected !== was) {
      fireAnEvent('input', select, undefined, { bubbles: true, composed: true });
      fireAnEvent('change', select, undefined, { bubbles: true });
    }
  }
  fireMouse(select, 'mouseup');
  fireMouse(select, 'click');
}

/** https://www.w3.org/TR/webdriver2/#element-clear @param {Element} element */
function clear(element) {
  if (!isEditable(element)) throw new Refusal('invalid element state', `the ${element._localName} cannot be edited`);
  assertInteractable(element);
  const isEmpty = isField(element) ? element.value === '' : element.firstChild === null;
  if (isEmpty) return;
  focus(element);
  if (isField(element)) {
    element.value = '';
    fireAnEvent('input', element, InputEvent, { bubbles: true, composed: true, inputType: 'deleteContent' });
    fireAnEvent('change', element, undefined, { bubbles: true });
  } else {
    while (element.firstChild !== null) element.removeChild(element.firstChild);
  }
  element.blur();
}

/**
 * https://www.w3.org/TR/webdriver2/#element-send-keys
 *
 * @param {Element} element
 * @param {string} text
 */
function sendKeys(element, text) {
  if (element._localName === 'input' && element.type === 'file') {
    throw new Refusal('unsupported operation', 'files cannot be uploaded');
  }
  assertInteractable(element);
  if (isField(element) && isDisabled(element)) throw new Refusal('element not interactable', 'the element is disabled');
  if (!isFocusableAreaElement(element))
    throw new Refusal('element not interactable', `the ${element._localName} cannot have the focus`);
  if (element._ownerDocument._lastFocusedElement !== element) element.focus();
  if (element._localName === 'input' && WHOLE_VALUES.has(element.type)) {
    element.value = text;
    fireAnEvent('input', element, undefined, { bubbles: true, composed: true });
    fireAnEvent('change', element, undefined, { bubbles: true });
    return;
  }
  if (isField(element) && isEditable(element)) moveCaretToEnd(element);
  const keyboard = new Keyboard(element);
  for (const character of text) keyboard.type(character);
  keyboard.releaseModifiers();
}

/** @param {Element} element */
function moveCaretToEnd(element) {
  try {
    element.setSelectionRange(element.value.length, element.value.length);
  } catch {
    // Inputs of some types have no selection.
  }
}

module.exports = { WHOLE_VALUES, clear, click, focus, sendKeys };
