'use strict';

// Clicks and key strokes. There is no layout, so they go to the element itself: nothing can lie above it.
// https://www.w3.org/TR/webdriver2/#element-interaction

const InputEvent = require('jsdom/lib/generated/idl/InputEvent.js');
const KeyboardEvent = require('jsdom/lib/generated/idl/KeyboardEvent.js');
const MouseEvent = require('jsdom/lib/generated/idl/MouseEvent.js');
const PointerEvent = require('jsdom/lib/generated/idl/PointerEvent.js');
const { fireAnEvent } = require('jsdom/lib/jsdom/living/helpers/events.js');
const { isFocusableAreaElement } = require('jsdom/lib/jsdom/living/helpers/focusing.js');
const { isDisabled } = require('jsdom/lib/jsdom/living/helpers/form-controls.js');

const { Refusal } = require('./references.cjs');
const { isDisplayed } = require('./text.cjs');

/** Keys that have a name, by the code point that stands for them. https://www.w3.org/TR/webdriver2/#keyboard-actions */
const NAMED = {
  '\uE003': 'Backspace', '\uE004': 'Tab', '\uE005': 'Clear', '\uE006': 'Enter', '\uE007': 'Enter', '\uE008': 'Shift',
  '\uE009': 'Control', '\uE00A': 'Alt', '\uE00B': 'Pause', '\uE00C': 'Escape', '\uE00D': ' ', '\uE00E': 'PageUp',
  '\uE00F': 'PageDown', '\uE010': 'End', '\uE011': 'Home', '\uE012': 'ArrowLeft', '\uE013': 'ArrowUp',
  '\uE014': 'ArrowRight', '\uE015': 'ArrowDown', '\uE016': 'Insert', '\uE017': 'Delete', '\uE03D': 'Meta',
  '\uE050': 'Shift', '\uE051': 'Control', '\uE052': 'Alt', '\uE053': 'Meta',
};
const MODIFIERS = { Shift: 'shiftKey', Control: 'ctrlKey', Alt: 'altKey', Meta: 'metaKey' };
const RELEASE_ALL = '\uE000';

/** Kinds of inputs that have no text to type into: keys give them a whole value. */
const WHOLE_VALUES = new Set(['color', 'date', 'datetime-local', 'month', 'range', 'time', 'week']);
/** Those that nothing can be typed into. */
const BUTTONS = new Set(['button', 'checkbox', 'hidden', 'image', 'radio', 'reset', 'submit']);

function assertInteractable(element) {
  if (!isDisplayed(element)) throw new Refusal('element not interactable', `the ${element._localName} is not displayed`);
}

function fireMouse(element, type, more = {}) {
  const isPointer = type === 'click';
  fireAnEvent(type, element, isPointer ? PointerEvent : MouseEvent, {
    bubbles: true,
    cancelable: true,
    composed: true,
    detail: 1,
    view: element._ownerDocument._defaultView,
    ...more,
  });
}

/** https://www.w3.org/TR/webdriver2/#element-click */
function click(element) {
  if (element._localName === 'input' && element.type === 'file') {
    throw new Refusal('invalid argument', 'an input of files is not clicked');
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

/** The element itself, or the nearest ancestor that can have the focus. */
function focus(element) {
  for (let target = element; target !== null && target.nodeType === 1; target = target.parentNode) {
    if (!isFocusableAreaElement(target)) continue;
    if (target._ownerDocument._lastFocusedElement !== target) target.focus();
    return;
  }
}

function selectOption(option) {
  let select = option.parentNode;
  while (select !== null && select._localName !== 'select') select = select.parentNode;
  if (select === null) throw new Refusal('element not interactable', 'the option is in no select');
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

function isEditable(element) {
  if (element._localName === 'textarea') return !isDisabled(element) && !element.hasAttributeNS(null, 'readonly');
  if (element._localName === 'input') {
    return !BUTTONS.has(element.type) && !isDisabled(element) && !element.hasAttributeNS(null, 'readonly');
  }
  return isEditingHost(element);
}

function isEditingHost(element) {
  const value = element.getAttributeNS(null, 'contenteditable');
  return value !== null && value.toLowerCase() !== 'false';
}

function isField(element) {
  return element._localName === 'input' || element._localName === 'textarea';
}

/** https://www.w3.org/TR/webdriver2/#element-clear */
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

/** https://www.w3.org/TR/webdriver2/#element-send-keys */
function sendKeys(element, text) {
  if (element._localName === 'input' && element.type === 'file') {
    throw new Refusal('unsupported operation', 'pages take no files from the disk');
  }
  assertInteractable(element);
  if (isField(element) && isDisabled(element)) throw new Refusal('element not interactable', 'the element is disabled');
  if (!isFocusableAreaElement(element)) throw new Refusal('element not interactable', `the ${element._localName} cannot have the focus`);
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

function moveCaretToEnd(element) {
  try {
    element.setSelectionRange(element.value.length, element.value.length);
  } catch {
    // Inputs of some types have no selection.
  }
}

class Keyboard {
  #element;
  #held = new Set();

  constructor(element) {
    this.#element = element;
  }

  /** The keys go to whatever has the focus: a listener may have moved it. */
  get #target() {
    const document = this.#element._ownerDocument;
    return document._lastFocusedElement ?? document.body ?? this.#element;
  }

  #fire(type, key) {
    const init = { bubbles: true, cancelable: true, composed: true, key, view: this.#element._ownerDocument._defaultView };
    for (const modifier of this.#held) init[MODIFIERS[modifier]] = true;
    return fireAnEvent(type, this.#target, KeyboardEvent, init);
  }

  type(character) {
    if (character === RELEASE_ALL) {
      this.releaseModifiers();
      return;
    }
    const key = NAMED[character] ?? (character === '\n' || character === '\r' ? 'Enter' : character);
    if (Object.hasOwn(MODIFIERS, key)) {
      if (this.#held.delete(key)) {
        this.#fire('keyup', key);
      } else {
        this.#held.add(key);
        this.#fire('keydown', key);
      }
      return;
    }
    const isText = [...key].length === 1;
    const target = this.#target;
    const goesOn = this.#fire('keydown', key) && (!(isText || key === 'Enter') || this.#fire('keypress', key));
    // With Control, Alt or Meta held a key is a command, and there is none.
    const isCommand = [...this.#held].some((modifier) => modifier !== 'Shift');
    if (goesOn && !isCommand && this.#target === target) this.#act(target, key, isText);
    this.#fire('keyup', key);
  }

  #act(target, key, isText) {
    if (key === 'Enter' && target._localName === 'input') {
      submitImplicitly(target);
    } else if (key === ' ' && (target._localName === 'button' || BUTTONS.has(target.type))) {
      fireMouse(target, 'click');
    } else if (key === 'Enter' && (target._localName === 'button' || target._localName === 'a')) {
      fireMouse(target, 'click');
    } else if (key === 'Backspace' || key === 'Delete') {
      edit(target, '', key === 'Backspace' ? 'deleteContentBackward' : 'deleteContentForward');
    } else if (key === 'Enter') {
      edit(target, '\n', 'insertLineBreak');
    } else if (isText) {
      edit(target, key, 'insertText');
    }
  }

  releaseModifiers() {
    for (const key of this.#held) {
      this.#held.delete(key);
      this.#fire('keyup', key);
    }
  }
}

/** Changes the text where the caret is. */
function edit(target, text, inputType) {
  if (!isEditable(target)) return;
  const data = inputType === 'insertText' ? text : null;
  const init = { bubbles: true, composed: true, data, inputType };
  if (!fireAnEvent('beforeinput', target, InputEvent, { ...init, cancelable: true })) return;
  if (isField(target)) {
    const { value } = target;
    let start = target._selectionStart ?? value.length;
    let end = target._selectionEnd ?? value.length;
    if (start === end && inputType === 'deleteContentBackward') start = Math.max(start - 1, 0);
    if (start === end && inputType === 'deleteContentForward') end = Math.min(end + 1, value.length);
    const limit = Number(target.getAttributeNS(null, 'maxlength') ?? Infinity);
    const next = value.slice(0, start) + text + value.slice(end);
    if (text !== '' && next.length > limit) return;
    target.value = next;
    try {
      target.setSelectionRange(start + text.length, start + text.length);
    } catch {
      // As above.
    }
  } else if (text !== '') {
    target.appendChild(target._ownerDocument.createTextNode(text));
  }
  fireAnEvent('input', target, InputEvent, init);
}

/** https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#implicit-submission */
function submitImplicitly(input) {
  fireAnEvent('change', input, undefined, { bubbles: true });
  const { form } = input;
  if (!form) return;
  const button = [...form.elements].find((element) => element.type === 'submit' || element.type === 'image');
  if (button === undefined) form._doRequestSubmit(null);
  else if (!isDisabled(button)) fireMouse(button, 'click');
}

module.exports = { clear, click, sendKeys };
