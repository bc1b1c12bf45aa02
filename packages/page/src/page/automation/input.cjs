'use strict';

// Clicks and keystrokes, as WebDriver has them. https://www.w3.org/TR/webdriver2/#element-interaction

const { isFocusableAreaElement } = require('jsdom/lib/jsdom/living/helpers/focusing.js');
const { isDisabled } = require('jsdom/lib/jsdom/living/helpers/form-controls.js');

const { WHOLE_VALUES, fireChange, isEditable, isField, setSelected } = require('./form-fields.cjs');
const { Keyboard, moveCaret } = require('./keyboard.cjs');
const mouse = require('./mouse.cjs');
const { Refusal } = require('./references.cjs');
const { isDisplayed } = require('./text.cjs');

/** @typedef {import('./form-fields.cjs').Element} Element */

/** @param {Element} element */
function isFileInput(element) {
  return element._localName === 'input' && element.type === 'file';
}

/** @param {Element} element */
function assertInteractable(element) {
  if (!isDisplayed(element))
    throw new Refusal('element not interactable', `the ${element._localName} is not displayed`);
}

/** https://www.w3.org/TR/webdriver2/#element-click @param {Element} element */
function click(element) {
  if (isFileInput(element)) throw new Refusal('invalid argument', 'a file input cannot be clicked');
  if (element._localName === 'option') {
    clickOption(element);
    return;
  }
  assertInteractable(element);
  if (isDisabled(element)) mouse.hover(element);
  else mouse.click(element);
}

/** @param {Element} option */
function clickOption(option) {
  let select = /** @type {Element | null} */ (option.parentNode);
  while (select !== null && select._localName !== 'select') select = /** @type {Element | null} */ (select.parentNode);
  if (select === null) throw new Refusal('element not interactable', 'the option is not in a select element');
  assertInteractable(select);
  /** @type {Element[]} */
  const others = select.hasAttributeNS(null, 'multiple') ? [...select.selectedOptions] : [];
  const chosen = others.includes(option) ? others.filter((other) => other !== option) : [...others, option];
  const mayChoose = !isDisabled(option) && !isDisabled(select);
  mouse.click(select, { whilePressed: () => mayChoose && setSelected(/** @type {Element} */ (select), chosen) });
}

/** https://www.w3.org/TR/webdriver2/#element-clear @param {Element} element */
function clear(element) {
  if (!isEditable(element)) throw new Refusal('invalid element state', `the ${element._localName} cannot be edited`);
  assertInteractable(element);
  if (isField(element) ? element.value === '' : element.firstChild === null) return;
  mouse.focus(element);
  if (isField(element)) {
    element.value = '';
    fireChange(element, { inputType: 'deleteContent' });
  } else {
    while (element.firstChild !== null) element.removeChild(element.firstChild);
  }
  element.blur();
}

/** https://www.w3.org/TR/webdriver2/#element-send-keys @param {Element} element @param {string} text */
function sendKeys(element, text) {
  if (isFileInput(element)) throw new Refusal('unsupported operation', 'files cannot be uploaded');
  assertInteractable(element);
  if (isField(element) && isDisabled(element)) throw new Refusal('element not interactable', 'the element is disabled');
  if (!isFocusableAreaElement(element))
    throw new Refusal('element not interactable', `the ${element._localName} cannot have the focus`);
  mouse.focus(element);
  if (element._localName === 'input' && WHOLE_VALUES.has(element.type)) {
    element.value = text;
    fireChange(element);
    return;
  }
  const keyboard = new Keyboard(element);
  if (isField(element) && isEditable(element)) moveCaret(element, element.value.length);
  for (const character of text) keyboard.type(character);
  keyboard.releaseModifiers();
}

module.exports = { clear, click, sendKeys };
